/*
  bccoo_plan.c - what a plan may leave open: block height and width, bunch, tile

  Source: as bccoo.c; section 4 takes the footprint of the candidates, on a sample of the rows, as the first criterion. A
  matrix in cache is not bound by its footprint, so here a candidate costs the larger of the time to load it from
  memory and the time to work on it in cache.
*/
#include "bccoo_walk.h"

#define BCCOO_BUNCH_MIN   2048 /* entries below which lanes would lie idle, and 1x1 blocks run as AIJ's rows do */
#define BCCOO_SAMPLE      64   /* one entry of so many is looked at ... */
#define BCCOO_SAMPLE_MIN  2048 /* ... but so many at least */
#define BCCOO_SAMPLE_ROWS 64   /* rows looked at together, at most */
#define BCCOO_SAMPLE_LONG 512  /* blocks looked at of a block row */
#define BCCOO_GAIN        1.15 /* what blocks must gain: with fill, their values take longer to set */
#define BCCOO_PAYS_FOUR   0.4  /* 2x2 blocks, for an entry, above which there are no blocks larger than 3x3: full 5x5 ones have 0.36 */
#define BCCOO_PAYS        0.8  /* blocks of two entries, for an entry, above which too few entries have a neighbour */

/* BccooSample: evenly spread windows of consecutive rows */
typedef struct {
  PetscInt windows, rows; /* how many, of how many rows each */
} BccooSample;

/* BccooTally: what a sample has in blocks of some height and width */
typedef struct {
  size_t entries, blocks;
  size_t rows;    /* non-empty block rows */
  size_t changes; /* block rows with another number of blocks than the one before: the processor did not expect their end */
} BccooTally;

static BccooSample BccooSampleOf(const SpmvCSR *csr)
{
  const double nz = csr->i[csr->m], length = PetscMax(1, nz / PetscMax(1, csr->m)), wanted = PetscMax(nz / BCCOO_SAMPLE, BCCOO_SAMPLE_MIN);
  BccooSample  s;

  s.rows    = (PetscInt)PetscMin(BCCOO_SAMPLE_ROWS, PetscMax(1, wanted / 8 / length / BCCOO_BLOCK_MAX) * BCCOO_BLOCK_MAX);
  s.windows = (PetscInt)PetscMin(wanted / length / s.rows, csr->m / s.rows);
  s.windows = PetscMax(1, s.windows);
  return s;
}

static BccooTally BccooTallyOf(const SpmvCSR *csr, BccooSample s, PetscInt h, PetscInt w)
{
  const PetscInt windows = csr->m / s.rows; /* in all */
  BccooWalk      walk    = {.csr = csr, .h = h, .w = w, .stop = PETSC_MAX_INT};
  BccooTally     tally   = {0, 0, 0, 0};
  size_t         before  = 0;

  for (PetscInt k = 0; k < s.windows; k++) {
    const PetscInt first = (PetscInt)((PetscInt64)k * windows / s.windows) * s.rows / h * h, end = PetscMin(csr->m, first + s.rows / h * h);

    for (PetscInt row = first; row < end; row += h) {
      const size_t entries = (size_t)(csr->i[PetscMin(end, row + h)] - csr->i[row]);
      size_t       blocks = 0, seen = entries;

      if (!entries) continue;
      if (h * w == 1) blocks = entries;
      else {
        BccooWalkStart(&walk, row);
        BCCOO_WALK_ROWS(&walk, while (blocks < BCCOO_SAMPLE_LONG && BccooWalkNext(&walk, rows) >= 0) blocks++)
        seen = 0;
        for (PetscInt i = 0; i < walk.rows; i++) seen += (size_t)(walk.cursor[i] - csr->i[row + i]);
      }
      tally.entries += seen;
      tally.blocks += blocks;
      tally.rows++;
      tally.changes += blocks != before;
      before = blocks;
    }
  }
  return tally;
}

/* Work on blocks in cache, in ns on one core of Zen 4 at 3.5 GHz: fitted to 24 shapes of 1x1 to 8x8 with 4 and 24 blocks a block row. Only the ratios matter */
static double BccooTallyWork(const BccooTally *t, PetscInt h, PetscInt w, PetscInt bunch)
{
  const double blocks = (double)t->blocks, rows = (double)t->rows, entries = (double)(h * w);

  if (bunch > 1) return blocks * (0.02 + 0.15 * (double)w + (w > 1 ? 0.13 : 0) + 0.12 * entries) + rows * (0.4 + 0.6 * (double)(h - 1));
  return blocks * (0.6 + 0.083 * entries) + rows * 0.9 + (double)t->changes * 4;
}

/* The same for all rows of a matrix */
double BccooArithmetic(const SpmvCSR *csr, PetscInt h, PetscInt w, PetscInt bunch)
{
  const BccooTally tally = BccooTallyOf(csr, (BccooSample){1, PetscMax(1, csr->m)}, h, w);

  return tally.entries ? BccooTallyWork(&tally, h, w, bunch) * (double)csr->i[csr->m] / (double)tally.entries : 0;
}

/* Cost of an entry: that work, or loading the bytes, from memory at 22 GB/s */
static double BccooCost(const BccooTally *t, PetscInt h, PetscInt w, PetscInt bunch, PetscBool cached)
{
  const double blocks = (double)t->blocks, rows = (double)t->rows, entries = (double)(h * w);
  const double bytes = blocks * (entries * sizeof(PetscScalar) + sizeof(int16_t) + 1.0 / 8) + rows * (bunch > 1 ? 2 : 0);

  return PetscMax((cached ? 0.02 : 0.045) * bytes, BccooTallyWork(t, h, w, bunch)) / (double)PetscMax(1, t->entries);
}

/*
  BccooChoose - block height, block width and bunch of least cost, on a sample of the rows

  Input/Output Parameters:
+ h     - block height; 0 on entry: to be chosen
. w     - block width; 0 on entry: to be chosen
- bunch - 1 or BCCOO_LANES; 0 on entry: to be chosen

  Notes:
  A block size that the user declared is looked at besides. Where neither two entries of a row nor two of a column are
  often neighbours, no block pays and the others are not looked at; nor are large ones where 2x2 are far from full. A
  small matrix with no declared block size gains nothing by blocks, and as 1x1 without a bunch it gives AIJ's very bits.
*/
PetscErrorCode BccooChoose(const SpmvCSR *csr, PetscInt *h, PetscInt *w, PetscInt *bunch)
{
  const PetscInt shapes[][2] = {
    {1, 1}, {2, 1}, {1, 2}, {csr->rbs, csr->cbs}, {3, 1}, {1, 3}, {3, 3}, {2, 2}, {4, 1}, {4, 2}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 1}, {8, 4}, {8, 8}};
  const PetscBool   small = (PetscBool)(csr->i[csr->m] < BCCOO_BUNCH_MIN), open = (PetscBool)(!*h && !*w && csr->rbs == 1 && csr->cbs == 1);
  const BccooSample sample  = BccooSampleOf(csr);
  PetscInt          best[3] = {*h ? *h : 1, *w ? *w : 1, *bunch ? *bunch : 1};
  double            least = PETSC_MAX_REAL, pairs = 1, fours = 0;

  PetscFunctionBegin;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    const PetscInt sh = *h ? *h : shapes[s][0], sw = *w ? *w : shapes[s][1]; /* what the user fixed stays */
    BccooTally     tally;

    if (sh > BCCOO_BLOCK_MAX || sw > BCCOO_BLOCK_MAX) continue;
    if (open && (small || (s > 2 && pairs > BCCOO_PAYS))) break;
    if (fours > BCCOO_PAYS_FOUR) break;
    tally = BccooTallyOf(csr, sample, sh, sw);
    if (s <= 2 && tally.entries) pairs = PetscMin(pairs, (double)tally.blocks / (double)tally.entries);
    if (sh == 2 && sw == 2 && tally.entries) fours = (double)tally.blocks / (double)tally.entries;
    for (PetscInt lanes = 1; lanes <= BCCOO_LANES; lanes += BCCOO_LANES - 1) {
      const double cost = BccooCost(&tally, sh, sw, lanes, (PetscBool)(csr->i[csr->m] < SPMV_CACHE)) * (sh * sw > 1 ? BCCOO_GAIN : 1);

      if ((*bunch && *bunch != lanes) || (small && !*bunch && lanes > 1) || cost >= least) continue;
      least   = cost;
      best[0] = sh;
      best[1] = sw;
      best[2] = lanes;
    }
    if (*h && *w) break;
  }
  *h     = best[0];
  *w     = best[1];
  *bunch = best[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A tile of 64 blocks in each lane, fewer if the matrix would not fill a few groups of them; long tiles without a bunch */
PetscInt BccooChooseTile(PetscInt bunch, size_t nblocks)
{
  if (bunch == 1) return 512; /* a whole number of BCCOO_CHUNK */
  return nblocks >= 4096 ? 64 : nblocks >= 1024 ? 16
                                                : 8;
}
