/*
  aij.c - AIJ's own kernel as a candidate of the tuner: nothing to build, and the work of MatMult_SeqAIJ()

  Where enough consecutive rows have the same columns (inodes), AIJ reads columns and x once for up to five rows.
*/
#include "tune.h"
#include "../host/shape.h"

#define AIJ_NODE  5    /* rows of an inode, at most */
#define AIJ_NODES 0.8  /* inodes, for a row, above which AIJ does without them */
#define AIJ_SLOW  1.35 /* from memory: 19 finite element matrices of 30 M entries, two of GAMG's coarse levels, Zen 4 */

/* Cycles of Zen 4, fitted to 82 matrices, by entry and by row */
static PetscErrorCode AijWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  const PetscLogDouble nz = (PetscLogDouble)rows->i[rows->m], m = (PetscLogDouble)rows->m;
  PetscLogDouble       nodes = 0;

  PetscFunctionBegin;
  (void)plan;
  for (PetscInt r = 0, h; r < rows->m; r += h) {
    h = SpmvSameRows(rows, r, AIJ_NODE);
    nodes++;
  }
  work->bytes += nz * (sizeof(PetscScalar) + sizeof(PetscInt)) + m * sizeof(PetscInt);
  if (nodes <= AIJ_NODES * m) work->cycles += 0.9 * nz + 8 * m;
  else work->cycles += 2.1 * nz + 0.8 * m;
  work->slow = AIJ_SLOW;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const SpmvHostSide AijHost = {.side = {.work = AijWork}, .rather = {{"", SPMV_TUNE_NEAR}}}; /* nothing is built */

const SpmvFormat SpmvFormat_aij = {.name = "aij", .host = &AijHost};
