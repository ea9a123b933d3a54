/*
  mat_sor_matrices.h - for mat_sor: matrices of a fixed sequence of numbers, with PETSc's inodes of one or several sizes, or
  without
*/
#pragma once
#include <petscmat.h>

typedef enum { SCATTERED, MIXED, BLOCKS2, BLOCKS3, BLOCKS5, GRID, LINE, KINDS } Kind;

static const char *const KindNames[KINDS] = {"scattered",   "mixed nodes", "blocks of 2", "blocks of 3",
                                             "blocks of 5", "grid",        "line"};

/* Number k of a fixed sequence, from 0 to below `below` */
static PetscInt Number(PetscInt k, PetscInt below)
{
  uint64_t h = (uint64_t)k * 0x9e3779b97f4a7c15u + 0x123456789u;

  h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9u;
  return (PetscInt)((h ^ h >> 29) % (uint64_t)below);
}

static PetscScalar Value(PetscInt row, PetscInt column, PetscInt salt)
{
  const PetscReal re = (PetscReal)(Number(7919 * row + 31 * column + 3 * salt, 2001) - 1000) / 1000;

#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(re, (PetscReal)(Number(row + 17 * column + salt, 2001) - 1000) / 1000);
#else
  return re;
#endif
}

/* The first row of the node that a row is in */
static PetscInt Node(Kind kind, PetscInt row)
{
  static const PetscInt first[20] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10, 10, 10, 10, 15, 15, 17, 18, 18}; /* sizes 1 to 5 */

  switch (kind) {
  case MIXED: return row / 20 * 20 + first[row % 20];
  case BLOCKS2: return row - row % 2;
  case BLOCKS3: return row - row % 3;
  case BLOCKS5: return row - row % 5;
  default: return row;
  }
}

/* How many columns row `row` may have, and column k of them, which may come twice or be outside of [0, n) */
static PetscInt Columns(Kind kind)
{
  return kind == GRID ? 7 : kind == LINE ? 3 : kind == SCATTERED ? 12 : 30;
}
static PetscInt Column(Kind kind, PetscInt n, PetscInt row, PetscInt k)
{
  static const PetscInt step[7] = {-77, -11, -1, 0, 1, 11, 77};
  const PetscInt        block   = kind == BLOCKS2 ? 2 : kind == BLOCKS3 ? 3 : 5;

  if (kind == LINE) return row + k - 1;
  if (kind == GRID) return row + step[k];
  if (kind == SCATTERED && k > 2 && row % 8 < 4) return -1; /* short rows */
  if (kind == SCATTERED) return k == 0 ? row : Number(100 * row + k, n);
  row = Node(kind, row);
  if (kind == MIXED) return k < 5 ? row + k : Number(100 * row + k, n); /* at least what the node has, and some after it */
  return (k < block ? row : Number(100 * row + k / block, n) / block * block) + k % block;
}

/* The entries of the matrix, with `salt` for other values; a diagonal that dominates but in rows [0, weak) */
static PetscErrorCode Fill(Mat A, Kind kind, PetscInt salt)
{
  PetscInt first, last, n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    for (PetscInt k = 0; k < Columns(kind); k++) {
      const PetscInt    c = Column(kind, n, r, k);
      const PetscScalar v = c == r ? (PetscScalar)(Columns(kind) + 1 + salt) : Value(r, c, salt) * (PetscReal)0.5;

      if (c >= 0 && c < n) PetscCall(MatSetValue(A, r, c, v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Create(const char mattype[], PetscInt n, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetBlockSizes(*A, 1, 1));
  PetscCall(MatSetType(*A, mattype));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 40, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 40, NULL, 40, NULL));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(0);
}
