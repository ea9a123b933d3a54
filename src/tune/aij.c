/*
  aij.c - AIJ's own kernel as a candidate of the tuner: nothing to build, and the work of MatMult_SeqAIJ()

  Where enough consecutive rows have the same columns (inodes), AIJ reads columns and x once for up to five rows, and asks for the
  next rows by prefetchnta, past the caches. Where the last cache takes only what the second one drops, behind a mesh, such lines
  never get there: each product reads memory, unless the second cache holds the matrix (Granite Rapids, ns an entry: 1.1 to 1.7
  for a million of them, 0.6 with -mat_no_inode; 1.8 for 28 million, 1.4 with it).
*/
#include "tune.h"
#include "../host/machine.h"
#include "../host/shape.h"

#define AIJ_NODE  5    /* rows of an inode, at most */
#define AIJ_NODES 0.8  /* inodes, for a row, above which AIJ does without them */
#define AIJ_SLOW  1.35 /* from memory: 19 finite element matrices of 30 M entries, two of GAMG's coarse levels, Zen 4 */

/* Where lines that are prefetched past the caches are dropped: cycles an entry of inodes; from memory instead of AIJ_SLOW */
#define AIJ_PAST      1.8
#define AIJ_PAST_SLOW 1.9

/* Cycles of Zen 4, fitted to 82 matrices, by entry and by row */
static PetscErrorCode AijWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  const SpmvMachine   *machine = SpmvMachineGet();
  const PetscLogDouble nz = (PetscLogDouble)rows->i[rows->m], m = (PetscLogDouble)rows->m;
  PetscLogDouble       nodes = 0;

  PetscFunctionBegin;
  (void)plan;
  for (PetscInt r = 0, h; r < rows->m; r += h) {
    h = SpmvSameRows(rows, r, AIJ_NODE);
    nodes++;
  }
  work->bytes += nz * (sizeof(PetscScalar) + sizeof(PetscInt)) + m * sizeof(PetscInt);
  work->slow = AIJ_SLOW;
  if (nodes > AIJ_NODES * m) work->cycles += 2.1 * nz + 0.8 * m;
  else if (machine->far > 0) {
    work->cycles += AIJ_PAST * nz + 8 * m;
    work->held = AIJ_SLOW * machine->byte[SPMV_LEVELS - 1] / machine->byte[SPMV_LEVELS - 2];
    work->slow = AIJ_PAST_SLOW;
  } else work->cycles += 0.9 * nz + 8 * m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const SpmvHostSide AijHost = {.side = {.work = AijWork}, .rather = ""}; /* nothing is built */

const SpmvFormat SpmvFormat_aij = {.name = "aij", .host = &AijHost};
