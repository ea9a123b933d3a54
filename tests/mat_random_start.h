/*
  mat_random_start.h - matrices that sequences of mat_random.c begin with, and others of random pattern
*/
#pragma once
#include "mat_random_record.h"

typedef enum { SCATTERED, EMPTYROWS, DENSEROWS, BLOCKS, NODES, GRID, LINE, DIAGONAL, TALL, WIDE, STARTS } Start;
static const char *const StartNames[STARTS] = {"scattered", "empty", "dense",    "blocks", "nodes",
                                               "grid",      "line",  "diagonal", "tall",   "wide"};

#define MAXROW 256

/* What a start matrix is like, besides its size */
typedef struct {
  Start    kind;
  uint64_t salt;
  PetscInt M, N, block, row, width; /* rows of a block, entries of a row, points of a grid's line */
} Shape;

/* The rows from `unit` to `unit` of this process: at random, one process without any at times */
static PetscErrorCode Layout(Draw *d, PetscInt n, PetscInt unit, PetscInt *local)
{
  const PetscInt how = DrawBelow(d, 3), none = DrawBelow(d, ranks);
  PetscInt       cut[64] = {0}, first = 0;

  PetscFunctionBegin;
  PetscCheck(ranks < 64, PETSC_COMM_SELF, PETSC_ERR_SUP, "%d processes are too many", ranks);
  n /= unit;
  for (PetscMPIInt k = 0; k < ranks; k++) cut[k] = how == 2 ? DrawBelow(d, 100) + 1 : how == 1 && k == none && ranks > 1 ? 0 : 1;
  for (PetscMPIInt k = 1; k < ranks; k++) cut[k] += cut[k - 1];
  first  = rank ? n * cut[rank - 1] / cut[ranks - 1] : 0;
  *local = (n * cut[rank] / cut[ranks - 1] - first) * unit;
  PetscFunctionReturn(0);
}

static PetscInt Add(PetscInt c, PetscInt N, PetscInt n, PetscInt columns[])
{
  if (c < 0 || c >= N || n >= MAXROW) return n;
  for (PetscInt k = 0; k < n; k++)
    if (columns[k] == c) return n;
  columns[n] = c;
  return n + 1;
}

/* Rows of a node have the same columns. Nodes of mixed sizes have 1 to 5 */
static PetscInt NodeOf(const Shape *s, PetscInt row)
{
  static const PetscInt first[16] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10, 10, 10, 10, 15};

  return s->kind == BLOCKS ? row / s->block * s->block : row / 16 * 16 + first[row % 16];
}

static PetscInt StartRow(const Shape *s, PetscInt row, PetscInt columns[])
{
  PetscInt n = 0, count = 1 + PlaceBelow(s->salt, row, 1, s->row), node;

  switch (s->kind) {
  case GRID:
    n = Add(row - s->width, s->N, n, columns);
    n = row % s->width ? Add(row - 1, s->N, n, columns) : n;
    n = Add(row, s->N, n, columns);
    n = (row + 1) % s->width ? Add(row + 1, s->N, n, columns) : n;
    return Add(row + s->width, s->N, n, columns);
  case LINE:
    for (PetscInt k = -1; k < 2; k++) n = Add(row + k, s->N, n, columns);
    return n;
  case DIAGONAL: return Add(row, s->N, n, columns);
  case BLOCKS:
  case NODES:
    node  = NodeOf(s, row);
    count = 1 + PlaceBelow(s->salt, node, 1, 3);
    for (PetscInt k = 0; k < 5; k++)
      if (NodeOf(s, node + k) == node) n = Add(node + k, s->N, n, columns);
    for (PetscInt k = 0; k < count; k++) {
      const PetscInt other = NodeOf(s, PlaceBelow(s->salt, node, k + 2, s->N));

      for (PetscInt p = 0; p < 5; p++)
        if (NodeOf(s, other + p) == other) n = Add(other + p, s->N, n, columns);
    }
    return n;
  case EMPTYROWS:
    if (PlaceBelow(s->salt, row, 2, 3) == 0) return 0;
    break;
  case DENSEROWS:
    if (PlaceBelow(s->salt, row, 2, 20) == 0) count = s->N;
    break;
  default: break;
  }
  if (s->kind != EMPTYROWS && s->kind != TALL && s->kind != WIDE) n = Add(row, s->N, n, columns);
  for (PetscInt k = 0; k < count; k++) n = Add(PlaceBelow(s->salt, row, k + 2, s->N), s->N, n, columns);
  return n;
}

static PetscErrorCode MatNew(const char type[], PetscInt m, PetscInt n, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, type));
  PetscFunctionReturn(0);
}

static PetscErrorCode Preallocate(Mat A, PetscInt n)
{
  PetscFunctionBegin;
  PetscCall(MatSeqAIJSetPreallocation(A, n, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, n, NULL, n, NULL));
  PetscCall(Open(A));
  PetscFunctionReturn(0);
}

/* A random pattern of some `row` entries a row */
static PetscErrorCode MatScattered(Side *s, const char type[], PetscInt m, PetscInt n, PetscInt row, uint64_t salt, Mat *A)
{
  PetscInt first, last, N;

  PetscFunctionBegin;
  PetscCall(MatNew(type, m, n, A));
  PetscCall(Hold(s, *A));
  PetscCall(Preallocate(*A, row));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  PetscCall(MatGetSize(*A, NULL, &N));
  for (PetscInt r = first; r < last && N; r++) {
    for (PetscInt k = PlaceBelow(salt, r, 0, row); k >= 0; k--) {
      const PetscInt c = PlaceBelow(salt, r, k + 1, N);

      PetscCall(MatSetValue(*A, r, c, Place(salt, r, c), INSERT_VALUES));
    }
  }
  PetscCall(Assemble(*A));
  PetscFunctionReturn(0);
}

static PetscErrorCode StartShape(Start kind, PetscInt n, Draw *d, Shape *shape)
{
  const PetscInt other = 1 + DrawBelow(d, n);

  PetscFunctionBegin;
  shape->kind  = kind;
  shape->salt  = DrawBits(d);
  shape->block = 2 + DrawBelow(d, 4);
  shape->row   = 1 + DrawBelow(d, 8);
  shape->width = 1 + DrawBelow(d, PetscMin(n, 20));
  if (kind == BLOCKS) n = (n + shape->block - 1) / shape->block * shape->block;
  shape->M = kind == WIDE ? other : n;
  shape->N = kind == TALL ? other : n;
  PetscFunctionReturn(0);
}

/* The matrix that a sequence begins with, with n rows or so */
static PetscErrorCode MatStart(Side *s, Start kind, PetscInt n, Draw *d)
{
  Shape           shape;
  PetscInt        m, first, last, unit, columns[MAXROW];
  const PetscReal diagonal = DrawChance(d, 70) ? 2 : 0;

  PetscFunctionBegin;
  PetscCall(StartShape(kind, n, d, &shape));
  unit = kind == BLOCKS ? shape.block : 1;
  PetscCall(Layout(d, shape.M, unit, &m));
  n = m;
  if (shape.M != shape.N) PetscCall(Layout(d, shape.N, 1, &n));
  PetscCall(MatNew(s->type, m, n, &s->A));
  if (kind == BLOCKS && DrawChance(d, 50)) PetscCall(MatSetBlockSize(s->A, shape.block));
  PetscCall(MatSetFromOptions(s->A));
  PetscCall(Preallocate(s->A, DrawChance(d, 50) ? 5 : 40));
  PetscCall(MatGetOwnershipRange(s->A, &first, &last));
  for (PetscInt r = first; r < last; r++) {
    const PetscInt count = StartRow(&shape, r, columns);

    for (PetscInt k = 0; k < count; k++) {
      const PetscScalar v =
        columns[k] == r ? diagonal + Place(shape.salt, r, r) : Place(shape.salt, r, columns[k]) / (PetscReal)count;

      PetscCall(MatSetValue(s->A, r, columns[k], v, INSERT_VALUES));
    }
  }
  PetscCall(Assemble(s->A));
  PetscFunctionReturn(0);
}
