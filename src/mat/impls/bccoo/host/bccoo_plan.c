/*
  bccoo_plan.c - plans worth an estimate, and the work of a plan, from the blocks of some rows

  Source: as bccoo.c. What blocks cost is ours.
*/
#include "bccoo_host.h"
#include "../bccoo_shapes.h"
#include "../../../../host/machine.h"
#include "../../../../host/shape.h"

#define BCCOO_MASKS_ROW   12 /* entries of a row in the mean from which on blocks of rows and columns may be well filled */
#define BCCOO_MASKS_DENSE 4  /* entries of the full blocks that a matrix consists of: of larger ones masks would gain nothing */

/* True if blocks with masks are worth an estimate: out of cache, where they save bytes, if nothing is asked for that they lack */
static PetscBool BccooMayMask(const SpmvCSR *csr, const PetscInt p[])
{
  const PetscInt nz = csr->i[csr->m];
  PetscInt       h, w;

  if (p[BCCOO_FILL] || p[BCCOO_BLOCK_HEIGHT] || p[BCCOO_BLOCK_WIDTH] || p[BCCOO_SLICES] > 1 || p[BCCOO_COLUMNS] ||
      p[BCCOO_VALUES] > SPMV_VALUES_PLAIN)
    return PETSC_FALSE;
  if ((PetscLogDouble)nz < SpmvMachineGet()->cached || nz / BCCOO_MASKS_ROW < csr->m || csr->rbs * csr->cbs > BCCOO_MASKS_DENSE ||
      !BccooMaskedFits(csr))
    return PETSC_FALSE;
  SpmvShapeFind(csr, BCCOO_BLOCK_MAX, &h, &w);
  return (PetscBool)(h * w <= BCCOO_MASKS_DENSE);
}

/* Block shapes, each with a bunch and without one; a small matrix would leave most lanes of a bunch idle */
PetscErrorCode BccooPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[])
{
  const PetscInt *p = asked->value, bunch = p[BCCOO_BUNCH], copies = csr->i[csr->m] < BCCOO_SMALL ? 1 : 2;

  PetscFunctionBegin;
  *n = 0;
  if (round && p[BCCOO_VALUES] > SPMV_VALUES_PLAIN) PetscFunctionReturn(PETSC_SUCCESS); /* 1x1 blocks only */
  if (p[BCCOO_FILL] == BCCOO_FILL_MASKS || (p[BCCOO_BLOCK_HEIGHT] && p[BCCOO_BLOCK_WIDTH] && bunch))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BccooProposeShapes(csr, asked, round, n, plans));
  if (*n && BccooCodes(plans[0].value)) SpmvValuesPropose(csr, BCCOO_VALUES, n, plans);
  if (bunch) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = *n * copies; k-- > 0;) {
    plans[k]                    = plans[k / copies];
    plans[k].value[BCCOO_BUNCH] = k % copies ? BCCOO_LANES : 1;
  }
  *n *= copies;
  if (!round && BccooMayMask(csr, p)) {
    plans[*n]                       = *asked;
    plans[(*n)++].value[BCCOO_FILL] = BCCOO_FILL_MASKS; /* BccooResolve() sets what comes with them */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define BCCOO_LARGE 9   /* entries of a large block, to BccooTile() */
#define BCCOO_SUMS  256 /* rows of a lane's tile, at most */

/*
  A tile of 64 blocks in each lane, fewer if the matrix would not fill a few groups of them; long tiles without a bunch. Lanes are
  a tile apart, and so is what they read of x: of a long one, 32 blocks are 3 % faster than 64 (13 matrices of more than 65,536
  columns; mdual 14 %). Large blocks read more of it: 40 of 3x3 to 5x5 are 5 % faster (29 matrices, Zen 5; 2x2: 1 % slower). High
  ones have as many sums after each step, which the first cache has to hold beside all else: 24 or 32 of 8x1 take 0.61 times as
  long as 64 (Granite Rapids)
*/
static PetscInt BccooTile(const SpmvCSR *csr, PetscInt h, PetscInt w, PetscInt bunch, size_t nblocks)
{
  const PetscInt many = h * w >= BCCOO_LARGE ? 40 : h * w == 1 && csr->n > UINT16_MAX + 1 ? 32 : 64;

  if (bunch == 1) return 512;                                                      /* a whole number of BCCOO_CHUNK */
  if (nblocks >= 4096) return PetscMin(many, BCCOO_SUMS / PetscMax(1, h) / 8 * 8); /* of BccooTiles[] */
  return nblocks >= 1024 ? 16 : 8;
}

/* Replaces what a plan leaves open, but for the kind of columns, which the build finds */
PetscErrorCode BccooResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  const PetscInt nz = csr->i[csr->m];
  PetscInt      *p  = plan->value, entries;

  PetscFunctionBegin;
  if (!p[BCCOO_FILL]) p[BCCOO_FILL] = BCCOO_FILL_ZEROS;
  if (p[BCCOO_FILL] == BCCOO_FILL_MASKS) {
    if (!p[BCCOO_BLOCK_HEIGHT]) p[BCCOO_BLOCK_HEIGHT] = BCCOO_MASKED_HEIGHT;
    if (!p[BCCOO_BLOCK_WIDTH]) p[BCCOO_BLOCK_WIDTH] = BCCOO_MASKED_WIDTH;
    if (!p[BCCOO_BUNCH]) p[BCCOO_BUNCH] = 1;
    if (!p[BCCOO_COLUMNS]) p[BCCOO_COLUMNS] = BCCOO_COLUMNS_INT32;
  }
  if (!p[BCCOO_BLOCK_HEIGHT]) p[BCCOO_BLOCK_HEIGHT] = 1;
  if (!p[BCCOO_BLOCK_WIDTH]) p[BCCOO_BLOCK_WIDTH] = 1;
  entries = p[BCCOO_BLOCK_HEIGHT] * p[BCCOO_BLOCK_WIDTH];
  if (p[BCCOO_VALUES] == SPMV_VALUES_AUTO && !BccooCodes(p)) p[BCCOO_VALUES] = SPMV_VALUES_PLAIN;
  SpmvValuesResolve(csr, &p[BCCOO_VALUES]);
  if (!p[BCCOO_BUNCH]) p[BCCOO_BUNCH] = nz < BCCOO_SMALL ? 1 : BCCOO_LANES;
  if (!p[BCCOO_TILE]) {
    p[BCCOO_TILE] = BccooTile(csr, p[BCCOO_BLOCK_HEIGHT], p[BCCOO_BLOCK_WIDTH], p[BCCOO_BUNCH], (size_t)(nz / entries));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define BCCOO_SLOW      1.15 /* from memory, where lanes read x in as many places: 1.25 on Zen 5, 1.1 on Zen 4 (7 each) */
#define BCCOO_HELD      1.15 /* from the last cache: with it 65 matrices take 1.1 times their estimate, not 1.14 (Zen 4) */
#define BCCOO_PAIR      2    /* entries of a block that is no faster where vectors are whole (4 matrices, Emerald Rapids) */
#define BCCOO_WAITS     0.8  /* of the lines of x that a row after the other waits for (17 matrices, Emerald Rapids) */
#define BCCOO_REST      1.68 /* cycles in loops over blocks that take as long as one on Zen 4; less elsewhere (Granite Rapids) */
#define BCCOO_CYCLES_NS 4.1  /* of a nanosecond of BccooTallyWork(), whose ratios are right; fitted to 82 matrices on Zen 4 */

/*
  Nanoseconds of work on blocks in cache, on one core of Zen 4 at 3.5 GHz: fitted to 24 shapes of 1x1 to 8x8 with 4 and 24 blocks
  a block row; what pairs of columns save, to 1x2, 2x2 and 3x3 on Zen 3; that columns of eight need no mask, to nodes of eight
  unknowns. Only the ratios matter. Returns what columns, x and the ends of rows take; *dense: what vectors of values take, which
  is less where they are whole
*/
static double BccooTallyWork(const BccooTally *t, PetscInt bunch, double *dense)
{
  const double   blocks = (double)t->blocks, rows = (double)t->rows, entries = (double)(t->h * t->w);
  const PetscInt height = t->h <= 2 ? t->h : t->h <= 4 ? 4 : 8; /* of the vectors that hold a column of a block */

  *dense = blocks * (bunch == 1 ? (t->h == 8 ? 0.058 : 0.083) * (double)(height * t->w) : entries * (t->w > 1 ? 0.09 : 0.12));
  if (bunch == 1) return blocks * 0.6 + rows * 0.9 + (double)t->changes * 4;
  return blocks * (0.02 + 0.15 * (double)(t->w % 2) + 0.2 * (double)(t->w / 2)) + rows * (0.4 + 0.6 * (double)(t->h - 1));
}

/* Plans of one shape that follow each other share a tally */
PetscErrorCode BccooWorks(const SpmvCSR *csr, PetscInt n, const SpmvPlan plans[], SpmvWork works[])
{
  BccooTally t = {0};
  double     dense, rest;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt *p = plans[k].value, h = p[BCCOO_BLOCK_HEIGHT], w = p[BCCOO_BLOCK_WIDTH], bunch = p[BCCOO_BUNCH];

    if (p[BCCOO_FILL] == BCCOO_FILL_MASKS) {
      PetscCall(BccooMaskedWork(csr, &works[k]));
      continue;
    }
    if (t.h != h || t.w != w) t = BccooTallyOf(csr, p, NULL);
    BccooTallyAdd(csr, &t, p, p[BCCOO_TILE] ? p[BCCOO_TILE] : BccooTile(csr, h, w, bunch, t.blocks), &works[k]);
    BccooCodedWork(csr, &plans[k], t.part * (double)t.blocks, &works[k]);
    if (bunch > 1) {
      works[k].bytes += t.part * (double)t.rows * sizeof(uint16_t);
      works[k].slow = BCCOO_SLOW;
    }
    works[k].held  = BCCOO_HELD;
    works[k].waits = BCCOO_WAITS;
    rest           = BCCOO_CYCLES_NS * BccooTallyWork(&t, bunch, &dense);
    if (h * w > BCCOO_PAIR) works[k].blocked += t.part * (BCCOO_CYCLES_NS * dense + BCCOO_REST * rest);
    else works[k].cycles += t.part * (BCCOO_CYCLES_NS * dense + rest);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
