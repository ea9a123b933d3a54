/*
  bccoo_coded.c - the values of 1x1 blocks where they are few or short (host/values.h): how they are stored, and what that costs

  A product decodes the values of a tile, or of a bunch of tiles, before it multiplies, as it does with columns, so that its loops
  are those of plain values. Values that are all equal are decoded once.
*/
#include "bccoo_host.h"

#define BCCOO_CYCLES_DECODE 1.5 /* of Zen 4, to store and load a vector that was decoded */

/* The codes of all blocks, tile by tile; those of the padding are the first one's */
static inline __attribute__((always_inline)) void BccooSetCodes(const BccooBlocks *b, const char *a, size_t size)
{
  const size_t tile = (size_t)b->tile, bunch = (size_t)b->bunch, group = tile * bunch, first = b->nblocks / group * group;
  char        *data = (char *)b->coded->data;

  if (b->nstored > first) memset(data + first * size, 0, (b->nstored - first) * size);
  for (size_t q = 0; q < b->nblocks; q += tile) {
    const size_t n = PetscMin(tile, b->nblocks - q), place = BccooPlace(b, q, 1);

    for (size_t k = 0; k < n; k++) memcpy(data + (place + k * bunch) * size, a + (q + k) * size, size);
  }
}

/* The values of a matrix with the same pattern; what is coded of them is found anew */
PetscErrorCode BccooSetCoded(const SpmvCSR *csr, BccooStorage *s)
{
  SPMV_DESTROY_BY(SpmvCodesDestroy)
  SpmvCodes codes = {.own = NULL};

  PetscFunctionBegin;
  PetscCall(SpmvCodesCreate(csr, (SpmvValuesWanted)s->wanted, &codes));
  PetscCall(SpmvValuesTake(s->b.coded, s->b.nstored, s->nparts, &codes));
  if (codes.size == sizeof(PetscScalar)) BccooSetCodes(&s->b, codes.data, sizeof(PetscScalar));
  else if (codes.size == sizeof(uint8_t)) BccooSetCodes(&s->b, codes.data, sizeof(uint8_t));
  else if (codes.size) BccooSetCodes(&s->b, codes.data, sizeof(float));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What so many blocks of some rows, whose values were counted as plain ones, cost less and more under a plan */
void BccooCodedWork(const SpmvCSR *rows, const SpmvPlan *plan, double blocks, SpmvWork *work)
{
  SpmvValues values = {.coding = SPMV_CODING_PLAIN};

  if (BccooCodes(plan->value)) values.coding = SpmvValuesLook(rows, (SpmvValuesWanted)plan->value[BCCOO_VALUES]);
  if (values.coding == SPMV_CODING_PLAIN) return;
  work->bytes -= blocks * (double)(sizeof(PetscScalar) - SpmvCodingSize(values.coding));
  if (values.coding != SPMV_CODING_ONE) work->cycles += BCCOO_CYCLES_DECODE * blocks / BCCOO_LANES;
  SpmvValuesWork(&values, blocks / BCCOO_LANES, work);
}
