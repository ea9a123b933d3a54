/*
  bccoo_plan.c - what a plan may leave open: block height and width, bunch, tile

  Source: as bccoo.c; section 4: the footprint of the candidates, on a sample of the rows.
*/
#include "bccoo_walk.h"

#define BCCOO_BUNCH_MIN   2048 /* blocks below which lanes would lie idle, and 1x1 blocks run as AIJ's rows do */
#define BCCOO_SAMPLE      64   /* one entry of so many is looked at ... */
#define BCCOO_SAMPLE_MIN  2048 /* ... but so many at least */
#define BCCOO_SAMPLE_ROWS 64   /* rows looked at together, at most */
#define BCCOO_PAYS        0.8  /* blocks of two entries, for an entry, above which too few entries have a neighbour */

/* Blocks of the rows [row, end) under blocks of h x w; row is a multiple of h */
static size_t BccooCount(const SpmvCSR *csr, PetscInt h, PetscInt w, PetscInt row, PetscInt end)
{
  BccooWalk walk = {.csr = csr, .h = h, .w = w, .stop = PETSC_MAX_INT};
  size_t    n    = 0;

  if (h == 1 && w == 1) return (size_t)(csr->i[end] - csr->i[row]);
  for (; row < end; row += h) {
    BccooWalkStart(&walk, row);
    while (BccooWalkNext(&walk) >= 0) n++;
  }
  return n;
}

/* BccooSample: evenly spread windows of consecutive rows */
typedef struct {
  PetscInt windows, rows; /* how many, of how many rows each */
} BccooSample;

static BccooSample BccooSampleOf(const SpmvCSR *csr)
{
  const double nz = csr->i[csr->m], length = PetscMax(1, nz / PetscMax(1, csr->m)), wanted = PetscMax(nz / BCCOO_SAMPLE, BCCOO_SAMPLE_MIN);
  BccooSample  s;

  s.rows    = (PetscInt)PetscMin(BCCOO_SAMPLE_ROWS, PetscMax(1, wanted / 8 / length / BCCOO_BLOCK_MAX) * BCCOO_BLOCK_MAX);
  s.windows = (PetscInt)PetscMin(wanted / length / s.rows, csr->m / s.rows);
  s.windows = PetscMax(1, s.windows);
  return s;
}

/* Blocks of h x w for an entry, in windows of whole block rows */
static double BccooSampleBlocks(const SpmvCSR *csr, BccooSample s, PetscInt h, PetscInt w)
{
  const PetscInt windows = csr->m / s.rows; /* in all */
  size_t         blocks = 0, entries = 0;

  for (PetscInt k = 0; k < s.windows; k++) {
    const PetscInt row = (PetscInt)((PetscInt64)k * windows / s.windows) * s.rows / h * h, end = PetscMin(csr->m, row + s.rows / h * h);

    blocks += BccooCount(csr, h, w, row, end);
    entries += (size_t)(csr->i[end] - csr->i[row]);
  }
  return entries ? (double)blocks / (double)entries : 1;
}

/*
  BccooChooseBlock - the block height and width of least footprint, on a sample of the rows

  Input/Output Parameters:
+ h - block height; 0 on entry: to be chosen
- w - block width; 0 on entry: to be chosen

  Notes:
  A block size that the user declared is looked at besides. Where neither two entries of a row nor two of a column are
  often neighbours, no block pays and the others are not looked at. A small matrix with no declared block size
  gains nothing by blocks, and as 1x1 it gives AIJ's very bits.
*/
PetscErrorCode BccooChooseBlock(const SpmvCSR *csr, PetscInt *h, PetscInt *w)
{
  const PetscInt shapes[][2] = {
    {1, 1}, {2, 1}, {1, 2}, {csr->rbs, csr->cbs}, {2, 2}, {3, 1}, {1, 3}, {3, 3}, {4, 1}, {4, 2}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 1}, {8, 4}, {8, 8}};
  const PetscBool   open   = (PetscBool)(!*h && !*w && csr->rbs == 1 && csr->cbs == 1);
  const BccooSample sample = BccooSampleOf(csr);
  PetscInt          best[2] = {*h ? *h : 1, *w ? *w : 1};
  double            least = PETSC_MAX_REAL, pairs = 1;

  PetscFunctionBegin;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    const PetscInt sh = *h ? *h : shapes[s][0], sw = *w ? *w : shapes[s][1]; /* what the user fixed stays */
    double         blocks, footprint;

    if (sh > BCCOO_BLOCK_MAX || sw > BCCOO_BLOCK_MAX) continue;
    if (open && (csr->i[csr->m] < BCCOO_BUNCH_MIN || (s > 2 && pairs > BCCOO_PAYS))) break;
    blocks = BccooSampleBlocks(csr, sample, sh, sw);
    if (s <= 2) pairs = PetscMin(pairs, blocks);
    footprint = blocks * ((double)(sh * sw) * sizeof(PetscScalar) + sizeof(int16_t) + 1.0 / 8);
    if (footprint < least) {
      least   = footprint;
      best[0] = sh;
      best[1] = sw;
    }
  }
  *h = best[0];
  *w = best[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eight tiles side by side for 1x1 blocks, if there are enough of them */
PetscInt BccooChooseBunch(PetscInt h, PetscInt w, size_t nblocks)
{
  return h * w == 1 && nblocks >= BCCOO_BUNCH_MIN ? BCCOO_LANES : 1;
}

/* A tile of 64 blocks in each lane, fewer if the matrix would not fill a few groups of them; long tiles without a bunch */
PetscInt BccooChooseTile(PetscInt bunch, size_t nblocks)
{
  if (bunch == 1) return BCCOO_CHUNK;
  return nblocks >= 4096 ? 64 : nblocks >= 1024 ? 16
                                                : 8;
}
