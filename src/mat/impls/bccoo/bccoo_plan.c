/*
  bccoo_plan.c - plans worth an estimate, and the work of a plan, from the blocks of some rows

  Source: as bccoo.c; section 4 tries block shapes in the order of their footprints. What blocks cost is ours.
*/
#include "bccoo_walk.h"

#define BCCOO_BUNCH_MIN   2048 /* entries below which lanes would lie idle, and 1x1 blocks run as AIJ's rows do */
#define BCCOO_SAMPLE_LONG 512  /* blocks looked at of a block row */
#define BCCOO_DECLARED    0    /* in BccooShapes: the block size that the user declared */

/* Shapes round by round: larger ones are likely to pay only if smaller ones do */
static const struct {
  PetscInt round, h, w;
} BccooShapes[] = {
  {0, 1, 1},
  {1, 2, 1},
  {1, 1, 2},
  {1, 3, 3},
  {1, BCCOO_DECLARED, BCCOO_DECLARED},
  {2, 3, 1},
  {2, 1, 3},
  {2, 3, 3},
  {2, 2, 2},
  {3, 4, 1},
  {3, 4, 2},
  {3, 4, 4},
  {3, 5, 5},
  {3, 6, 6},
  {3, 7, 7},
  {3, 8, 1},
  {3, 8, 4},
  {3, 8, 8}};

/* Shape number s, where what the user fixed stays */
static void BccooShape(const SpmvCSR *csr, const PetscInt fixed[], size_t s, PetscInt *h, PetscInt *w)
{
  const PetscBool declared = (PetscBool)(BccooShapes[s].h == BCCOO_DECLARED);

  *h = fixed[BCCOO_BLOCK_HEIGHT] ? fixed[BCCOO_BLOCK_HEIGHT] : declared ? csr->rbs
                                                                        : BccooShapes[s].h;
  *w = fixed[BCCOO_BLOCK_WIDTH] ? fixed[BCCOO_BLOCK_WIDTH] : declared ? csr->cbs
                                                                      : BccooShapes[s].w;
}

/* False if a shape is too large, or if one before comes to the same */
static PetscBool BccooShapeIsNew(const SpmvCSR *csr, const PetscInt fixed[], size_t s, PetscInt h, PetscInt w)
{
  for (size_t before = 0; before < s; before++) {
    PetscInt bh, bw;

    BccooShape(csr, fixed, before, &bh, &bw);
    if (bh == h && bw == w) return PETSC_FALSE;
  }
  return (PetscBool)(h <= BCCOO_BLOCK_MAX && w <= BCCOO_BLOCK_MAX);
}

/*
  BccooPropose - block shapes, each without a bunch and with one

  Note:
  A small matrix with no declared block size gains nothing by blocks, and as 1x1 without a bunch it gives AIJ's very bits: nothing
  is proposed. A bunch for a device is its work group.
*/
PetscErrorCode BccooPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[SPMV_PROPOSALS])
{
  const PetscInt *p     = asked->value;
  const PetscBool small = (PetscBool)(csr->i[csr->m] < BCCOO_BUNCH_MIN), open = (PetscBool)(!p[BCCOO_BLOCK_HEIGHT] && !p[BCCOO_BLOCK_WIDTH]), device = (PetscBool)(asked->backend == SPMV_BACKEND_DEVICE);

  PetscFunctionBegin;
  *n = 0;
  if (small && open && csr->rbs == 1 && csr->cbs == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (p[BCCOO_BLOCK_HEIGHT] && p[BCCOO_BLOCK_WIDTH] && (p[BCCOO_BUNCH] || device)) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(BccooShapes); s++) {
    PetscInt h, w;

    BccooShape(csr, p, s, &h, &w);
    if (BccooShapes[s].round != round || !BccooShapeIsNew(csr, p, s, h, w)) continue;
    for (PetscInt bunch = 1; bunch <= BCCOO_LANES; bunch += BCCOO_LANES - 1) {
      if (p[BCCOO_BUNCH] ? p[BCCOO_BUNCH] != bunch : bunch > 1 && (small || device)) continue;
      plans[*n]                           = *asked;
      plans[*n].value[BCCOO_BLOCK_HEIGHT] = h;
      plans[*n].value[BCCOO_BLOCK_WIDTH]  = w;
      if (!device) plans[*n].value[BCCOO_BUNCH] = bunch;
      ++*n;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if x is long, and a block reads one entry of it */
static PetscBool BccooIsFar(PetscInt n, PetscInt h, PetscInt w)
{
  return (PetscBool)(n > UINT16_MAX + 1 && h * w == 1);
}

/*
  A tile of 64 blocks in each lane, fewer if the matrix would not fill a few groups of them; long tiles without a bunch. Lanes are a tile
  apart, and so is what they read of a long x: 32 entries are 3 % faster than 64 (13 matrices of more than 65,536 columns; mdual 14 %)
*/
static PetscInt BccooTile(PetscInt bunch, size_t nblocks, PetscBool far)
{
  if (bunch == 1) return 512; /* a whole number of BCCOO_CHUNK */
  if (far && nblocks >= 4096) return 32;
  return nblocks >= 4096 ? 64 : nblocks >= 1024 ? 16
                                                : 8;
}

/* Replaces what a plan for the host leaves open; of a plan for a device, the block size only */
PetscErrorCode BccooResolve(const SpmvCSR *csr, SpmvPlan *plan)
{
  PetscInt *p = plan->value;

  PetscFunctionBegin;
  if (!p[BCCOO_BLOCK_HEIGHT]) p[BCCOO_BLOCK_HEIGHT] = 1;
  if (!p[BCCOO_BLOCK_WIDTH]) p[BCCOO_BLOCK_WIDTH] = 1;
  if (plan->backend == SPMV_BACKEND_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  if (!p[BCCOO_BUNCH]) p[BCCOO_BUNCH] = csr->i[csr->m] < BCCOO_BUNCH_MIN ? 1 : BCCOO_LANES;
  if (!p[BCCOO_TILE]) p[BCCOO_TILE] = BccooTile(p[BCCOO_BUNCH], (size_t)(csr->i[csr->m] / (p[BCCOO_BLOCK_HEIGHT] * p[BCCOO_BLOCK_WIDTH])), BccooIsFar(csr->n, p[BCCOO_BLOCK_HEIGHT], p[BCCOO_BLOCK_WIDTH]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BccooTally: what some rows have in blocks of some height and width */
typedef struct {
  PetscInt h, w;
  size_t   entries, blocks; /* entries looked at, their blocks */
  size_t   far;             /* blocks whose column is no 16-bit difference from the one before; 0 of a narrow matrix */
  size_t   rows, empty;     /* block rows with entries, and without */
  size_t   changes;         /* block rows with another number of blocks than the one before: the processor did not expect their end */
} BccooTally;

static void BccooTallyRow(BccooWalk *walk, PetscInt row, PetscBool wide, BccooTally *t)
{
  const PetscInt *i = walk->csr->i, *j = walk->csr->j;
  size_t          blocks = 0;
  PetscInt        before = 0, column;

  if (walk->h * walk->w == 1) {
    for (PetscInt k = i[row] + 1; k < i[row + 1] && wide; k++) t->far += j[k] - j[k - 1] > INT16_MAX;
    t->entries += (size_t)(i[row + 1] - i[row]);
    t->blocks += (size_t)(i[row + 1] - i[row]);
    return;
  }
  BccooWalkStart(walk, row);
  BCCOO_WALK_ROWS(
    walk, while (blocks < BCCOO_SAMPLE_LONG && (column = BccooWalkNext(walk, rows)) >= 0) {
      t->far += blocks && column - before > INT16_MAX;
      before = column;
      blocks++;
    })
  t->blocks += blocks;
  for (PetscInt r = 0; r < walk->rows; r++) t->entries += (size_t)(walk->cursor[r] - i[row + r]);
}

static BccooTally BccooTallyOf(const SpmvCSR *csr, PetscInt h, PetscInt w)
{
  const PetscBool wide   = (PetscBool)(csr->n / w > UINT16_MAX + 1);
  BccooWalk       walk   = {.csr = csr, .h = h, .w = w, .stop = PETSC_MAX_INT};
  BccooTally      tally  = {.h = h, .w = w};
  size_t          before = 0;

  for (PetscInt row = 0; row < csr->m; row += h) {
    const size_t blocks = tally.blocks;

    if (csr->i[PetscMin(csr->m, row + h)] == csr->i[row]) {
      tally.empty++;
      continue;
    }
    BccooTallyRow(&walk, row, wide, &tally);
    tally.rows++;
    tally.changes += tally.blocks - blocks != before;
    before = tally.blocks - blocks;
  }
  return tally;
}

/*
  Nanoseconds of work on blocks in cache, on one core of Zen 4 at 3.5 GHz: fitted to 24 shapes of 1x1 to 8x8 with 4 and 24 blocks a block row;
  what pairs of columns save, to 1x2, 2x2 and 3x3 on Zen 3. Only the ratios matter
*/
static double BccooTallyWork(const BccooTally *t, PetscInt bunch)
{
  const double blocks = (double)t->blocks, rows = (double)t->rows, entries = (double)(t->h * t->w);

  if (bunch > 1) return blocks * (0.02 + 0.15 * (double)(t->w % 2) + 0.2 * (double)(t->w / 2) + (t->w > 1 ? 0.09 : 0.12) * entries) + rows * (0.4 + 0.6 * (double)(t->h - 1));
  return blocks * (0.6 + 0.083 * entries) + rows * 0.9 + (double)t->changes * 4;
}

/* Bytes that a product reads of the storage of a tally's rows, padding of the last group left out: of a few rows it would be much */
static double BccooTallyBytes(const BccooTally *t, PetscInt n, const PetscInt p[])
{
  const PetscInt  nb = n / t->w + !!(n % t->w), tile = p[BCCOO_TILE] ? p[BCCOO_TILE] : BccooTile(p[BCCOO_BUNCH], t->blocks, BccooIsFar(n, t->h, t->w));
  const PetscBool differ = (PetscBool)(p[BCCOO_COLUMNS] == BCCOO_COLUMNS_DIFFERENCE || (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO && nb > UINT16_MAX + 1 && t->far <= t->blocks / BCCOO_FAR));
  const PetscBool wide   = (PetscBool)(p[BCCOO_COLUMNS] == BCCOO_COLUMNS_INT32 || (p[BCCOO_COLUMNS] == BCCOO_COLUMNS_AUTO && nb > UINT16_MAX + 1 && !differ));
  const double    blocks = (double)t->blocks, rows = (double)t->rows;

  return blocks * ((double)(t->h * t->w) * sizeof(PetscScalar) + (wide ? 4 : 2) + 1. / 8 + (differ ? 8. : 4.) / (double)tile) + (differ ? 4 * (double)t->far : 0) + rows * (p[BCCOO_BUNCH] > 1 ? 2 : 0) + rows * (t->empty ? 4 : 0);
}

#define BCCOO_CYCLES_NS      4.1   /* of a nanosecond of BccooTallyWork(), whose ratios are right; fitted to 82 matrices on Zen 4 */
#define BCCOO_CYCLES_BLOCKS  100.0 /* of an entry, to build */
#define BCCOO_CYCLES_ENTRIES 30.0

/* Plans of one shape that follow each other share a tally */
PetscErrorCode BccooWorks(const SpmvCSR *csr, PetscInt n, const SpmvPlan plans[], SpmvWork works[])
{
  const PetscLogDouble nz    = (PetscLogDouble)csr->i[csr->m];
  BccooTally           tally = {0};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt *p      = plans[k].value;
    const PetscInt  slices = p[BCCOO_SLICES];
    PetscLogDouble  part;

    if (tally.h != p[BCCOO_BLOCK_HEIGHT] || tally.w != p[BCCOO_BLOCK_WIDTH]) tally = BccooTallyOf(csr, p[BCCOO_BLOCK_HEIGHT], p[BCCOO_BLOCK_WIDTH]);
    part = tally.entries ? nz / (PetscLogDouble)tally.entries : 0;
    works[k].bytes += part * BccooTallyBytes(&tally, csr->n, p);
    if (plans[k].backend == SPMV_BACKEND_HOST) works[k].cycles += part * BCCOO_CYCLES_NS * BccooTallyWork(&tally, p[BCCOO_BUNCH]); /* a device is compared by footprint, as in section 4 */
    works[k].build += (tally.h * tally.w > 1 ? BCCOO_CYCLES_BLOCKS : BCCOO_CYCLES_ENTRIES) * nz;
    if (slices == 1) continue;
    works[k].moved += (PetscLogDouble)(slices * csr->m) * sizeof(PetscScalar);
    works[k].reach = (PetscLogDouble)csr->n / (PetscLogDouble)slices * sizeof(PetscScalar);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
