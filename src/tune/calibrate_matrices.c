/*
  calibrate_matrices.c - matrices that are made to measure the machine: stencils, with and without blocks, and random rows

  They need not resemble anybody's: between them they must be bound by each of the rates (machine.h) on some machine, in the
  second cache, in the last one and out of it. Which of them are left out hardly changes what is fitted (tried on Emerald Rapids).
*/
#include "tune.h"
#include "../sys/hash.h"

#define MATRIX_SMALL  60000    /* entries of a matrix in the second cache, about, ... */
#define MATRIX_MIDDLE 1000000  /* ... in the last one, ... */
#define MATRIX_LARGE  24000000 /* ... and out of it */
#define MATRIX_FEW    100      /* different values, if they are few */

typedef struct {
  const char *name;
  PetscInt    dim, reach;      /* a stencil on a grid: points whose coordinates differ by 1, in `reach` of them at most */
  PetscInt    block;           /* rows and columns of each point */
  PetscInt    low, high, near; /* else random rows: entries of one, and how far they are from the diagonal, 0: anywhere */
  PetscBool   symmetric, few;  /* values */
  PetscBool   large;           /* also out of cache: that takes long */
} Recipe;

static const Recipe Recipes[] = {
  {.name = "5-point", .dim = 2, .reach = 1, .block = 1, .symmetric = PETSC_TRUE},
  {.name = "9-point", .dim = 2, .reach = 2, .block = 1},
  {.name = "7-point", .dim = 3, .reach = 1, .block = 1},
  {.name = "7-point, few values", .dim = 3, .reach = 1, .block = 1, .symmetric = PETSC_TRUE, .few = PETSC_TRUE},
  {.name = "27-point", .dim = 3, .reach = 3, .block = 1, .symmetric = PETSC_TRUE, .large = PETSC_TRUE},
  {.name = "27-point of 3x3", .dim = 3, .reach = 3, .block = 3, .symmetric = PETSC_TRUE, .large = PETSC_TRUE},
  {.name = "9-point of 2x2", .dim = 2, .reach = 2, .block = 2, .symmetric = PETSC_TRUE},
  {.name = "7-point of 3x3", .dim = 3, .reach = 1, .block = 3},
  {.name = "7-point of 4x4", .dim = 3, .reach = 1, .block = 4, .symmetric = PETSC_TRUE},
  {.name = "5-point of 5x5", .dim = 2, .reach = 1, .block = 5},
  {.name = "short rows near the diagonal", .low = 2, .high = 6, .near = 100},
  {.name = "rows near the diagonal", .low = 5, .high = 25, .near = 600, .large = PETSC_TRUE},
  {.name = "rows anywhere", .low = 1, .high = 20, .large = PETSC_TRUE},
  {.name = "short rows anywhere", .low = 2, .high = 6, .large = PETSC_TRUE},
  {.name = "rows anywhere, few values", .low = 10, .high = 50, .few = PETSC_TRUE},
};

enum { MATRIX_SIZES = 3 };

/* A number in [0, 1) that depends on two others only */
static PetscReal MatrixRandom(PetscInt a, PetscInt b)
{
  return (PetscReal)(SpmvHashWord(SpmvHashWord(SpmvHashWord(1, (uint64_t)a), (uint64_t)b), 0) >> 40) / (PetscReal)(1 << 24);
}

static PetscScalar MatrixValue(const Recipe *recipe, PetscInt r, PetscInt c)
{
  const PetscReal random = recipe->symmetric ? MatrixRandom(PetscMin(r, c), PetscMax(r, c)) : MatrixRandom(r, c);

  return recipe->few ? 1 + (PetscInt)(MATRIX_FEW * random) : 2 * random - 1;
}

static PetscInt MatrixPower(PetscInt n, PetscInt exponent)
{
  PetscInt power = 1;

  while (exponent--) power *= n;
  return power;
}

/* The points of a stencil around a point of an n^dim grid, in ascending order; returns how many there are, at most 27 */
static PetscInt StencilPoints(const Recipe *recipe, PetscInt n, PetscInt point, PetscInt points[])
{
  PetscInt count = 0;

  for (PetscInt k = 0; k < MatrixPower(3, recipe->dim); k++) {
    PetscInt moved = 0, to = point, stride = 1, rest = point, digits = k;

    for (PetscInt d = 0; d < recipe->dim; d++, rest /= n, digits /= 3, stride *= n) {
      const PetscInt step = digits % 3 - 1, at = rest % n + step;

      moved += at < 0 || at >= n ? recipe->dim + 1 : PetscAbsInt(step);
      to += step * stride;
    }
    if (moved <= recipe->reach) points[count++] = to;
  }
  return count;
}

/* Columns of a random row of n, in ascending order; returns how many there are, at most recipe->high */
static PetscInt RandomColumns(const Recipe *recipe, PetscInt n, PetscInt row, PetscInt columns[])
{
  const PetscInt length = recipe->low + (PetscInt)((PetscReal)(recipe->high - recipe->low + 1) * MatrixRandom(row, -1));
  const PetscInt low    = recipe->near ? PetscMax(0, row - recipe->near) : 0;
  const PetscInt high   = recipe->near ? PetscMin(n, row + recipe->near + 1) : n;
  PetscInt       count  = 0;

  for (PetscInt k = 0; k < length; k++) {
    const PetscInt c  = low + (PetscInt)((PetscReal)(high - low) * MatrixRandom(row, k));
    PetscInt       at = count;

    while (at && columns[at - 1] > c) at--;
    if (at && columns[at - 1] == c) continue;
    for (PetscInt l = count++; l > at; l--) columns[l] = columns[l - 1];
    columns[at] = c;
  }
  return count;
}

/*
  SpmvCalibrateMatrix - makes matrix number 0, 1, ...; csr->m is 0 if there are no more

  Its sizes are divided by `part`, so that tests are short. It is to be freed by SpmvCalibrateMatrixDestroy()
*/
PetscErrorCode SpmvCalibrateMatrix(PetscInt number, PetscInt part, SpmvCSR *csr, char name[], size_t size)
{
  static const PetscInt entries[MATRIX_SIZES] = {MATRIX_SMALL, MATRIX_MIDDLE, MATRIX_LARGE};
  static const char    *sizes[MATRIX_SIZES]   = {"small", "middle", "large"};
  const Recipe         *recipe                = Recipes;
  PetscInt              which = 0, n = 1, m, most, nz = 0, row[64], *i, *j, b;
  PetscScalar          *a;

  PetscFunctionBegin;
  *csr = (SpmvCSR){.rbs = 1, .cbs = 1};
  for (; recipe < Recipes + PETSC_STATIC_ARRAY_LENGTH(Recipes); recipe++) {
    const PetscInt has = recipe->large ? MATRIX_SIZES : MATRIX_SIZES - 1;

    if (number < has) break;
    number -= has;
  }
  if (recipe == Recipes + PETSC_STATIC_ARRAY_LENGTH(Recipes)) PetscFunctionReturn(PETSC_SUCCESS);
  which = number;
  b     = recipe->dim ? recipe->block : 1;
  most  = recipe->dim ? recipe->dim == 2 ? (recipe->reach == 1 ? 5 : 9) : recipe->reach == 1 ? 7 : 27 : recipe->high;
  if (recipe->dim) {
    while (MatrixPower(n + 1, recipe->dim) * most * b * b <= entries[which] / part) n++;
    m = MatrixPower(n, recipe->dim);
  } else m = n = PetscMax(1, 2 * (entries[which] / part) / (recipe->low + recipe->high));
  PetscCall(PetscSNPrintf(name, size, "%s, %s", recipe->name, sizes[which]));
  PetscCall(PetscMalloc3(m * b + 1, &i, (size_t)(m * b) * (size_t)(most * b), &j, (size_t)(m * b) * (size_t)(most * b), &a));
  i[0] = 0;
  for (PetscInt p = 0; p < m; p++) {
    const PetscInt count = recipe->dim ? StencilPoints(recipe, n, p, row) : RandomColumns(recipe, n, p, row);

    for (PetscInt r = p * b; r < (p + 1) * b; r++) {
      for (PetscInt k = 0; k < count; k++) {
        for (PetscInt c = row[k] * b; c < (row[k] + 1) * b; c++, nz++) {
          j[nz] = c;
          a[nz] = MatrixValue(recipe, r, c);
        }
      }
      i[r + 1] = nz;
    }
  }
  *csr = (SpmvCSR){.m = m * b, .n = m * b, .rbs = b, .cbs = b, .i = i, .j = j, .a = a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvCalibrateMatrixDestroy(SpmvCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(csr->i, csr->j, csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
