/*
  mat_contract_graph.h - what is made of the pattern as a graph: orderings, colorings, aggregates and partitions
*/
#pragma once
#include "mat_contract_factor.h"
#include <petscsnes.h>

static PetscErrorCode GraphOrderings(Case *c, Mat A)
{
  const MatOrderingType names[] = {MATORDERINGNATURAL, MATORDERINGND,        MATORDERING1WD, MATORDERINGRCM,
                                   MATORDERINGQMD,     MATORDERINGROWLENGTH, MATORDERINGAMD};
  PetscBool             ok;
  IS                    rows, columns;

  PetscFunctionBegin;
  if (c->size > 1) PetscFunctionReturn(0);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    Try(c, names[k], ok, MatGetOrdering(A, names[k], &rows, &columns));
    if (!ok) continue;
    PetscCall(RecordIS(c, names[k], rows));
    PetscCall(RecordIS(c, names[k], columns));
    if (k == 3) {
      PetscCall(MatReorderForNonzeroDiagonal(A, 0.1, rows, columns));
      PetscCall(RecordIS(c, "nonzero diagonal", rows));
      PetscCall(RecordIS(c, "nonzero diagonal", columns));
    }
    PetscCall(ISDestroy(&rows));
    PetscCall(ISDestroy(&columns));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordColoring(Case *c, const char label[], ISColoring coloring)
{
  PetscInt n;
  IS      *is;

  PetscFunctionBegin;
  PetscCall(ISColoringGetIS(coloring, PETSC_USE_POINTER, &n, &is));
  PetscCall(RecordInt(c, label, n));
  for (PetscInt k = 0; k < n; k++) PetscCall(RecordIS(c, label, is[k]));
  PetscCall(ISColoringRestoreIS(coloring, PETSC_USE_POINTER, &is));
  PetscFunctionReturn(0);
}

/* arg: the algorithm */
static PetscErrorCode GraphColoring(Case *c, Mat A)
{
  PetscFunctionBegin;
  for (PetscInt distance = 1; distance < 3; distance++) {
    MatColoring coloring;
    ISColoring  is;
    PetscBool   ok;

    PetscCall(MatColoringCreate(A, &coloring));
    PetscCall(MatColoringSetType(coloring, c->arg));
    PetscCall(MatColoringSetDistance(coloring, distance));
    PetscCall(MatColoringSetWeightType(coloring, MAT_COLORING_WEIGHT_LEXICAL));
    Try(c, "MatColoringApply", ok, MatColoringApply(coloring, &is));
    if (ok) {
      PetscCall(RecordColoring(c, "colors", is));
      PetscCall(ISColoringDestroy(&is));
    }
    PetscCall(MatColoringDestroy(&coloring));
  }
  PetscFunctionReturn(0);
}

/* f(x)_i = x_i^2 + the matrix of the context times x */
static PetscErrorCode ColoredFunction(SNES snes, Vec x, Vec f, void *ctx)
{
  Vec squares;

  PetscFunctionBegin;
  (void)snes;
  PetscCall(MatMult((Mat)ctx, x, f));
  PetscCall(VecDuplicate(x, &squares));
  PetscCall(VecPointwiseMult(squares, x, x));
  PetscCall(VecAXPY(f, 1, squares));
  PetscCall(VecDestroy(&squares));
  PetscFunctionReturn(0);
}

/* A Jacobian by differences into A, which another matrix of the type multiplies for */
static PetscErrorCode GraphFDColoring(Case *c, Mat A)
{
  SNES snes;
  Mat  B;
  Vec  x, f;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, KIND(c), 5, &B));
  PetscCall(MatCreateVecs(A, &x, &f));
  PetscCall(SNESCreate(c->comm, &snes));
  PetscCall(SNESSetFunction(snes, f, ColoredFunction, B));
  PetscCall(SNESSetJacobian(snes, A, A, SNESComputeJacobianDefaultColor, NULL));
  PetscCall(SNESSetSolution(snes, x));
  PetscCall(SNESSetUp(snes));
  c->slack = 1e5; /* differences of a function that itself is rounded */
  for (PetscInt round = 0; round < 2; round++) {
    PetscCall(VecFill(x, round));
    PetscCall(SNESComputeFunction(snes, x, f));
    PetscCall(SNESComputeJacobian(snes, x, A, A));
    PetscCall(RecordMat(c, "Jacobian", A));
  }
  c->slack = 1;
  PetscCall(SNESDestroy(&snes));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&f));
  PetscCall(MatDestroy(&B));
  PetscCall(MatZeroEntries(A));
  PetscFunctionReturn(0);
}

/* arg: the algorithm; the aggregates are seen in what GAMG makes of them, ksp_contract */
static PetscErrorCode GraphCoarsen(Case *c, Mat A)
{
  MatCoarsen crs;
  PetscBool  ok;

  PetscFunctionBegin;
  PetscCall(MatCoarsenCreate(c->comm, &crs));
  PetscCall(MatCoarsenSetType(crs, c->arg));
  PetscCall(MatCoarsenSetAdjacency(crs, A));
  PetscCall(MatCoarsenSetStrictAggs(crs, PETSC_TRUE));
  Try(c, "MatCoarsenApply", ok, MatCoarsenApply(crs));
  PetscCall(MatCoarsenDestroy(&crs));
  PetscFunctionReturn(0);
}

static PetscErrorCode GraphPartition(Case *c, Mat A)
{
  const MatPartitioningType names[] = {MATPARTITIONINGCURRENT, MATPARTITIONINGAVERAGE};
  PetscBool                 ok;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    MatPartitioning part;
    IS              is;

    PetscCall(MatPartitioningCreate(c->comm, &part));
    PetscCall(MatPartitioningSetAdjacency(part, A));
    Try(c, names[k], ok, MatPartitioningSetType(part, names[k]));
    if (ok) Try(c, names[k], ok, MatPartitioningApply(part, &is));
    if (ok) {
      PetscCall(RecordInt(c, names[k], is != NULL));
      PetscCall(ISDestroy(&is));
    }
    PetscCall(MatPartitioningDestroy(&part));
  }
  PetscFunctionReturn(0);
}

static const Operation graph_operations[] = {
  {"orderings", GraphOrderings, INVERTIBLE, NULL},
  {"coloring_natural", GraphColoring, INVERTIBLE & ~BIT(NOROWS), "natural"},
  {"coloring_sl", GraphColoring, INVERTIBLE & ~BIT(NOROWS), "sl"},
  {"coloring_lf", GraphColoring, INVERTIBLE & ~BIT(NOROWS), "lf"},
  {"coloring_id", GraphColoring, INVERTIBLE & ~BIT(NOROWS), "id"},
  {"coloring_jp", GraphColoring, INVERTIBLE & ~BIT(NOROWS), "jp"},
  {"coloring_greedy", GraphColoring, INVERTIBLE & ~BIT(NOROWS), "greedy"},
  {"fd_coloring", GraphFDColoring, BIT(SQUARE) | BIT(BLOCK) | BIT(SYM), NULL},
  {"coarsen_mis", GraphCoarsen, BIT(SYM), "mis"},
  {"coarsen_misk", GraphCoarsen, BIT(SYM), "misk"},
  {"partition", GraphPartition, BIT(SYM), NULL},
};
