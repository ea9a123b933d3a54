/*
  shape.c - blocks that a matrix consists of, whatever block size was declared: found where rows have the same columns, as those
  of a node's or an element's unknowns have
*/
#include "shape.h"

#define SHAPE_MOST   8    /* largest height and width */
#define SHAPE_PLACES 32   /* where such rows are looked for */
#define SHAPE_ROWS   64   /* of them at most */
#define SHAPE_LONG   1024 /* entries of a row that are looked at */
#define SHAPE_PART   0.9  /* of the rows and entries there that must be in whole blocks */
#define SHAPE_SHARED 0.2  /* of the rows there, which share their columns: some of the matrix may be in blocks */

/* Votes for each size that whole blocks could have of what begins at `first` */
static void ShapeVote(PetscInt first, PetscInt length, PetscInt64 votes[])
{
  for (PetscInt size = 1; size <= PetscMin(length, SHAPE_MOST); size++) votes[size] += first % size || length % size ? 0 : length;
}

/* The largest size, `most` at most, that nearly all are for */
static PetscInt ShapeElected(const PetscInt64 votes[], PetscInt most)
{
  PetscInt size = votes[1] ? most : 1;

  while (size > 1 && (double)votes[size] < SHAPE_PART * (double)votes[1]) size--;
  return size;
}

/* Height and width, at most `most`, of the blocks that rows with the same columns consist of in some places; or 1 x 1 */
void SpmvShapeFind(const SpmvCSR *csr, PetscInt most, PetscInt *h, PetscInt *w)
{
  PetscInt64 rows[SHAPE_MOST + 1] = {0}, columns[SHAPE_MOST + 1] = {0};

  for (PetscInt place = 0; place < SHAPE_PLACES; place++) {
    PetscInt row = (PetscInt)SpmvShare((size_t)csr->m, place, SHAPE_PLACES), last;

    if (row && row < csr->m) row += SpmvSameRows(csr, row, SHAPE_ROWS); /* to where others begin */
    if (row >= csr->m || csr->i[row] == csr->i[row + 1]) continue;
    ShapeVote(row, SpmvSameRows(csr, row, SHAPE_ROWS), rows);
    last = PetscMin(csr->i[row + 1], csr->i[row] + SHAPE_LONG);
    for (PetscInt first = csr->i[row], k = first + 1; k <= last; k++) {
      if (k < last && csr->j[k] == csr->j[k - 1] + 1) continue;
      ShapeVote(csr->j[first], k - first, columns);
      first = k;
    }
  }
  *h = ShapeElected(rows, most);
  *w = ShapeElected(columns, most);
}

/*
  Whether b rows from one on consist of whole blocks b x b: they have the same columns, and these, which increase, come in aligned
  groups of b. `times`: j is a multiple of b if j times 2^64 / b, rounded up, is less than that, both modulo 2^64

  Source: D. Lemire, O. Kaser, N. Kurz, "Faster remainder by direct computation", Software: Practice and Experience 49 (2019),
  section 3.2, for 32-bit columns
*/
PetscBool SpmvShapeIsWhole(const SpmvCSR *csr, PetscInt row, PetscInt b)
{
  const PetscInt *j = csr->j + csr->i[row], n = csr->i[row + 1] - csr->i[row];
  const uint64_t  times = UINT64_MAX / (uint64_t)b + 1;
  int             other = 0;

  if (n % b || SpmvSameRows(csr, row, b) < b) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; k += b) other |= (j[k + b - 1] - j[k] != b - 1) | ((uint64_t)j[k] * times > times - 1);
  return (PetscBool)!other;
}

/* Whether some rows have the columns of a neighbour: else there are hardly any blocks */
PetscBool SpmvShapeShared(const SpmvCSR *csr)
{
  PetscInt all = 0, shared = 0;

  for (PetscInt place = 0; place < SHAPE_PLACES; place++) {
    const PetscInt row  = (PetscInt)SpmvShare((size_t)csr->m, place, SHAPE_PLACES);
    const PetscInt rows = row < csr->m ? SpmvSameRows(csr, row, SHAPE_ROWS) : 0;

    all += rows;
    if (rows > 1 || (rows && row + 1 < csr->m && SpmvSameRows(csr, row + 1, SHAPE_ROWS) > 1)) shared += rows;
  }
  return (PetscBool)((double)shared >= SHAPE_SHARED * (double)all);
}
