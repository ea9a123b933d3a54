/*
  bccoo_shapes.c - block sizes that are worth an estimate, and what storing some rows in blocks of a size costs

  Source: as bccoo.c; section 4 tries block shapes in the order of their footprints.
*/
#include "bccoo_shapes.h"
#include "bccoo_walk.h"
#include "../../../host/shape.h"

#define BCCOO_SAMPLE_LONG   512  /* blocks looked at of a block row, where they are looked at one by one */
#define BCCOO_PLACES        8192 /* block columns up to which blocks are counted by a mark for each column */
#define BCCOO_DECLARED      0    /* in BccooRounds: the block size that the user declared */
#define BCCOO_FOUND         (-1) /* the one that rows with the same columns tell */
#define BCCOO_BUILD_BLOCKS  12.0 /* cycles of an entry, to build, ... */
#define BCCOO_BUILD_ENTRIES 5.5  /* ... the same of 1x1 blocks, ... */
#define BCCOO_BUILD_ROW     60.0 /* ... and of a row */

/* Round, height and width: larger blocks are likely to pay only if smaller ones do, or if most entries are in such blocks */
static const PetscInt BccooRounds[][3] = {{0, 1, 1},
                                          {1, 2, 1},
                                          {1, 1, 2},
                                          {1, 3, 3},
                                          {1, BCCOO_DECLARED, BCCOO_DECLARED},
                                          {1, BCCOO_FOUND, BCCOO_FOUND},
                                          {2, 3, 1},
                                          {2, 1, 3},
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

/*
  The plans with the block sizes of a round, of the height and width that were asked for, which no earlier round had. None of a
  small matrix without a declared block size: as 1x1 it has AIJ's very bits
*/
PetscErrorCode BccooProposeShapes(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[])
{
  const PetscInt h = asked->value[BCCOO_BLOCK_HEIGHT], w                  = asked->value[BCCOO_BLOCK_WIDTH];
  PetscInt       all[PETSC_STATIC_ARRAY_LENGTH(BccooRounds)][2], found[2] = {1, 1};

  PetscFunctionBegin;
  *n = 0;
  if (csr->i[csr->m] < BCCOO_SMALL && !h && !w && csr->rbs == 1 && csr->cbs == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (round) SpmvShapeFind(csr, BCCOO_BLOCK_MAX, &found[0], &found[1]);
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(BccooRounds); s++) {
    const PetscInt *r     = BccooRounds[s];
    PetscBool       known = PETSC_FALSE;

    all[s][0] = h ? h : r[1] == BCCOO_DECLARED ? csr->rbs : r[1] == BCCOO_FOUND ? found[0] : r[1];
    all[s][1] = w ? w : r[2] == BCCOO_DECLARED ? csr->cbs : r[2] == BCCOO_FOUND ? found[1] : r[2];
    for (size_t before = 0; before < s; before++) known = (PetscBool)(known || !memcmp(all[before], all[s], sizeof(all[s])));
    if (known || r[0] != round || all[s][0] > BCCOO_BLOCK_MAX || all[s][1] > BCCOO_BLOCK_MAX) continue;
    plans[*n]                              = *asked;
    plans[*n].value[BCCOO_BLOCK_HEIGHT]    = all[s][0];
    plans[(*n)++].value[BCCOO_BLOCK_WIDTH] = all[s][1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* True if columns of a plan's blocks do not fit 16 bits as they are */
PetscBool BccooIsWide(const SpmvCSR *csr, const PetscInt p[])
{
  return (PetscBool)(BccooCeil(csr->n, p[BCCOO_BLOCK_WIDTH]) > UINT16_MAX + 1);
}

/* The blocks of a block row; column: where their columns go, or NULL */
static void BccooTallyRow(BccooWalk *walk, PetscInt row, PetscBool wide, int32_t column[], BccooTally *t)
{
  const PetscInt *i = walk->csr->i, *j = walk->csr->j;
  size_t          blocks = 0;
  PetscInt        before = 0, next;

  if (walk->h * walk->w == 1) {
    for (PetscInt k = i[row] + 1; k < i[row + 1] && wide; k++) t->far += j[k] - j[k - 1] > INT16_MAX;
    for (PetscInt k = i[row]; k < i[row + 1] && column; k++) *column++ = (int32_t)j[k];
    t->entries += (size_t)(i[row + 1] - i[row]);
    t->blocks += (size_t)(i[row + 1] - i[row]);
    return;
  }
  BccooWalkStart(walk, row);
  BCCOO_SIZED(
    rows, walk->rows, while (blocks < BCCOO_SAMPLE_LONG && (next = BccooWalkNext(walk, rows)) >= 0) {
      t->far += blocks && next - before > INT16_MAX;
      if (column) column[blocks] = (int32_t)next;
      before = next;
      blocks++;
    })
  t->blocks += blocks;
  for (PetscInt r = 0; r < walk->rows; r++) t->entries += (size_t)(walk->cursor[r] - i[row + r]);
}

/*
  The blocks of a block row that are only counted: entries one after the other, the first of a block marks its column, which is
  j inverse / 2^32. A branch for each block, as the merge of rows has, would be missed at every other one
*/
static void BccooTallyMarks(const SpmvCSR *csr, PetscInt row, uint64_t inverse, uint16_t mark[], BccooTally *t)
{
  const PetscInt *i = csr->i, end = PetscMin(csr->m, row + t->h);
  const uint16_t  own    = (uint16_t)(1 + t->rows % UINT16_MAX);
  size_t          blocks = 0;

  if (own == 1) memset(mark, 0, (size_t)(csr->n / t->w + 1) * sizeof(*mark));
  for (PetscInt r = row; r < end; r++) {
    if (r > row && SpmvSameColumns(csr, r, r - 1)) continue; /* it is the same node's */
    for (PetscInt k = i[r]; k < i[r + 1]; k++) {
      const size_t column = (size_t)((uint64_t)csr->j[k] * inverse >> 32);

      blocks += mark[column] != own;
      mark[column] = own;
    }
  }
  t->blocks += blocks;
  t->entries += (size_t)(i[end] - i[row]);
}

/*
  Counts the blocks of some rows, of the size that a plan says

  column: [entries] of those blocks that were looked at, in row order; or NULL. 16-bit columns are the host's: differences from
  the block before, of which few are too large
*/
BccooTally BccooTallyOf(const SpmvCSR *csr, const PetscInt p[], int32_t column[])
{
  const PetscInt  h = p[BCCOO_BLOCK_HEIGHT], w = p[BCCOO_BLOCK_WIDTH];
  const PetscBool wide    = BccooIsWide(csr, p);
  const PetscBool marks   = (PetscBool)(h * w > 1 && !column && csr->n <= BCCOO_PLACES * w);
  const uint64_t  inverse = (UINT64_C(1) << 32) / (uint64_t)w + 1; /* exact for columns below 2^29 */
  uint16_t        mark[BCCOO_PLACES + 1];
  BccooWalk       walk   = {.csr = csr, .h = h, .w = w, .stop = PETSC_MAX_INT};
  BccooTally      t      = {.h = h, .w = w};
  size_t          before = 0;

  for (PetscInt row = 0; row < csr->m; row += h) {
    const size_t blocks = t.blocks;

    if (csr->i[PetscMin(csr->m, row + h)] == csr->i[row]) {
      t.empty++;
      continue;
    }
    if (marks) BccooTallyMarks(csr, row, inverse, mark, &t);
    else BccooTallyRow(&walk, row, wide, column ? column + blocks : NULL, &t);
    t.rows++;
    t.changes += t.blocks - blocks != before;
    before = t.blocks - blocks;
  }
  t.part   = t.entries ? (double)csr->i[csr->m] / (double)t.entries : 0;
  t.differ = (PetscBool)(t.far <= t.blocks / BCCOO_FAR);
  return t;
}

/* Adds what both sides store of a tally's rows, but for padding, which would be much of a few rows, and the work of the build */
void BccooTallyAdd(const SpmvCSR *csr, const BccooTally *t, const PetscInt p[], PetscInt tile, SpmvWork *work)
{
  const PetscInt  columns = p[BCCOO_COLUMNS], slices = p[BCCOO_SLICES];
  const PetscBool open   = (PetscBool)(columns == BCCOO_COLUMNS_AUTO && BccooIsWide(csr, p));
  const PetscBool differ = (PetscBool)(columns == BCCOO_COLUMNS_DIFFERENCE || (open && t->differ));
  const PetscBool wide   = (PetscBool)(columns == BCCOO_COLUMNS_INT32 || (open && !differ));
  const double    base   = differ ? 4. / (double)(t->reach ? t->reach : tile) : 0;
  const double    block  = (double)(t->h * t->w) * sizeof(PetscScalar) + (wide ? 4 : 2) + 1. / 8 + 4. / (double)tile + base;

  work->bytes += t->part * ((double)t->blocks * block + (differ ? 4 * (double)t->far : 0) + (t->empty ? 4 * (double)t->rows : 0));
  work->build += (t->h * t->w > 1 ? BCCOO_BUILD_BLOCKS : BCCOO_BUILD_ENTRIES) * (PetscLogDouble)csr->i[csr->m];
  work->build += BCCOO_BUILD_ROW * (PetscLogDouble)csr->m;
  if (slices == 1) return;
  work->moved += (PetscLogDouble)slices * csr->m * sizeof(PetscScalar);
  work->reach = (PetscLogDouble)csr->n / (PetscLogDouble)slices * sizeof(PetscScalar);
}
