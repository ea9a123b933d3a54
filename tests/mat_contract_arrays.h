/*
  mat_contract_arrays.h - matrices around arrays of the user, by options and DM, assembled in pieces
*/
#pragma once
#include "mat_contract_create.h"
#include <petscdmda.h>

static PetscErrorCode CreateMPIArrays(Case *c, Mat A)
{
  Mat      B;
  Rows     r;
  PetscInt M, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(RowsCreate(A, KIND(c), 1, &r));
  PetscCall(MatCreateMPIAIJWithArrays(c->comm, r.m, r.n, M, N, r.i, r.j, r.a, &B));
  PetscCall(MatConvert(B, c->mpi, MAT_INPLACE_MATRIX, &B));
  PetscCall(RecordMat(c, "B", B));
  PetscCall(RowsValues(A, KIND(c), 2, &r));
  PetscCall(MatUpdateMPIAIJWithArray(B, r.a));
  PetscCall(RecordMat(c, "one array", B));
  PetscCall(RowsValues(A, KIND(c), 3, &r));
  PetscCall(MatUpdateMPIAIJWithArrays(B, r.m, r.n, M, N, r.i, r.j, r.a));
  PetscCall(RecordAndDestroy(c, "arrays", 0, &B));
  PetscCall(RowsDestroy(&r));
  PetscFunctionReturn(0);
}

/* The values stay the user's own, who changes them where they are */
static PetscErrorCode CreateSeqArrays(Case *c, Mat A)
{
  Mat      B;
  Rows     r;
  PetscInt N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(RowsCreate(A, KIND(c), 1, &r));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, r.m, N, r.i, r.j, r.a, &B));
  PetscCall(MatConvert(B, c->seq, MAT_INPLACE_MATRIX, &B));
  PetscCall(RecordMat(c, "B", B));
  PetscCall(RowsValues(A, KIND(c), 2, &r));
  PetscCall(PetscObjectStateIncrease((PetscObject)B));
  PetscCall(RecordMat(c, "state", B));
  PetscCall(RowsValues(A, KIND(c), 3, &r));
  PetscCall(Assemble(B));
  PetscCall(RecordMat(c, "assembled", B));
  PetscCall(MatDestroy(&B));
  PetscCall(RowsDestroy(&r));
  PetscFunctionReturn(0);
}

/* The rows of this process split as MPIAIJ does: own columns from zero, the others by their global numbers */
static PetscErrorCode RowsSplit(Mat layout, const Rows *r, Rows *d, Rows *o)
{
  PetscInt left, right;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRangeColumn(layout, &left, &right));
  for (int part = 0; part < 2; part++) {
    Rows    *s = part ? o : d;
    PetscInt n = 0;

    *s = *r;
    PetscCall(PetscMalloc3(r->m + 1, &s->i, r->i[r->m] + 1, &s->j, r->i[r->m] + 1, &s->a));
    s->i[0] = 0;
    for (PetscInt i = 0; i < r->m; i++) {
      for (PetscInt k = r->i[i]; k < r->i[i + 1]; k++) {
        const PetscBool own = (PetscBool)(r->j[k] >= left && r->j[k] < right);

        if (own == (PetscBool)part) continue;
        s->j[n]   = part ? r->j[k] : r->j[k] - left;
        s->a[n++] = r->a[k];
      }
      s->i[i + 1] = n;
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSplitArrays(Case *c, Mat A)
{
  Mat      B;
  Rows     r, d, o;
  PetscInt M, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(RowsCreate(A, KIND(c), 1, &r));
  PetscCall(RowsSplit(A, &r, &d, &o));
  PetscCall(MatCreateMPIAIJWithSplitArrays(c->comm, r.m, r.n, M, N, d.i, d.j, d.a, o.i, o.j, o.a, &B));
  PetscCall(MatConvert(B, c->mpi, MAT_INPLACE_MATRIX, &B));
  PetscCall(RecordMat(c, "B", B));
  for (PetscInt k = 0; k < d.i[d.m]; k++) d.a[k] *= 3;
  for (PetscInt k = 0; k < o.i[o.m]; k++) o.a[k] *= 5;
  PetscCall(Assemble(B));
  PetscCall(RecordMat(c, "assembled", B));
  PetscCall(MatDestroy(&B));
  PetscCall(RowsDestroy(&r));
  PetscCall(RowsDestroy(&d));
  PetscCall(RowsDestroy(&o));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateFromOptions(Case *c, Mat A)
{
  Mat      B;
  PetscInt M, N, m, n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreate(c->comm, &B));
  PetscCall(MatSetSizes(B, m, n, M, N));
  PetscCall(MatSetOptionsPrefix(B, "contract_"));
  PetscCall(PetscOptionsSetValue(NULL, "-contract_mat_type", c->root));
  PetscCall(MatSetFromOptions(B));
  PetscCall(Preallocate(B, KIND(c), 0));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordMat(c, "B", B));
  PetscCall(MatSetFromOptions(B));
  PetscCall(RecordAndDestroy(c, "options again", 0, &B));
  PetscCall(PetscOptionsClearValue(NULL, "-contract_mat_type"));
  PetscFunctionReturn(0);
}

/* The type set once, again, and after AIJ, before and after preallocation */
static PetscErrorCode CreateTypes(Case *c, Mat A)
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatSetType(A, c->full));
  PetscCall(MakeSized(c, MATAIJ, KIND(c), &B));
  PetscCall(Preallocate(B, KIND(c), 0));
  PetscCall(MatSetType(B, c->root));
  PetscCall(MatSetType(B, c->full));
  PetscCall(Preallocate(B, KIND(c), 0));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(Preallocate(B, KIND(c), 0));
  PetscCall(MatSetType(B, MATAIJ));
  PetscCall(Preallocate(B, KIND(c), 0));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordAndDestroy(c, "aij again", 0, &B));
  PetscFunctionReturn(0);
}

/* Entries in rows of other processes, inserted or added in two assemblies */
static PetscErrorCode CreateOffProcess(Case *c, Mat A)
{
  Mat         B;
  PetscInt    first, last, M, N, bs, j[MAXROW];
  PetscScalar v[MAXROW];

  PetscFunctionBegin;
  KindSize(KIND(c), &M, &N, &bs);
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(Warm(B));
  for (int assembly = 0; assembly < 4; assembly++) {
    if (assembly == 3) PetscCall(MatSetOption(B, MAT_IGNORE_OFF_PROC_ENTRIES, PETSC_TRUE));
    for (PetscInt k = 0; k < last - first; k++) {
      const PetscInt i = (first + k + M / c->size) % M, count = RowPattern(KIND(c), 0, i, j);

      for (PetscInt l = 0; l < count; l++) v[l] = EntryValue(KIND(c), assembly, i, j[l]);
      PetscCall(MatSetValues(B, 1, &i, count, j, v, ADD_VALUES));
    }
    PetscCall(MatAssemblyBegin(B, assembly % 2 ? MAT_FINAL_ASSEMBLY : MAT_FLUSH_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, assembly % 2 ? MAT_FINAL_ASSEMBLY : MAT_FLUSH_ASSEMBLY));
    if (assembly % 2) PetscCall(RecordMat(c, "added", B));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Two unknowns on a 5 x 4 grid, the matrix made by the DM, filled by grid coordinates */
static PetscErrorCode CreateDM(Case *c, Mat A)
{
  DM          dm;
  Mat         B;
  PetscInt    x0, y0, nx, ny;
  MatStencil  row, column[4];
  PetscScalar v[16];

  PetscFunctionBegin;
  (void)A;
  PetscCall(DMDACreate2d(c->comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 5, 4, PETSC_DECIDE, PETSC_DECIDE, 2, 1,
                         NULL, NULL, &dm));
  PetscCall(DMSetMatType(dm, c->root));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &B));
  PetscCall(RecordMat(c, "zeros", B));
  PetscCall(DMDAGetCorners(dm, &x0, &y0, NULL, &nx, &ny, NULL));
  for (int round = 0; round < 2; round++) {
    for (PetscInt y = y0; y < y0 + ny; y++)
      for (PetscInt x = x0; x < x0 + nx; x++) {
        PetscInt n = 0;

        PetscCall(PetscMemzero(&row, sizeof(row)));
        row.i       = x;
        row.j       = y;
        column[n++] = row;
        if (x < 4) {
          column[n] = row;
          column[n++].i++;
        }
        if (y < 3) {
          column[n] = row;
          column[n++].j++;
        }
        for (PetscInt k = 0; k < 4 * n; k++) v[k] = EntryValue(TALL, round, x + k, y);
        PetscCall(MatSetValuesBlockedStencil(B, 1, &row, n, column, v, INSERT_VALUES));
        row.c = 1;
      }
    PetscCall(Assemble(B));
    PetscCall(RecordMat(c, "blocks", B));
    for (PetscInt y = y0; y < y0 + ny; y++)
      for (PetscInt x = x0; x < x0 + nx; x++) {
        PetscCall(PetscMemzero(&row, sizeof(row)));
        row.i     = x;
        row.j     = y;
        row.c     = 1;
        column[0] = row;
        v[0]      = 2 + round;
        PetscCall(MatSetValuesStencil(B, 1, &row, 1, column, v, ADD_VALUES));
      }
    PetscCall(Assemble(B));
    PetscCall(RecordMat(c, "points", B));
  }
  row.i = x0;
  row.j = y0;
  PetscCall(MatZeroRowsStencil(B, 1, &row, 4, NULL, NULL));
  PetscCall(RecordMat(c, "zero rows", B));
  row.c = 0;
  PetscCall(MatZeroRowsColumnsStencil(B, 1, &row, 4, NULL, NULL));
  PetscCall(RecordMat(c, "zero rows and columns", B));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

static const Operation arrays_operations[] = {
  {"create_mpi_arrays", CreateMPIArrays, ALL & ~BIT(BLOCK), NULL},
  {"create_seq_arrays", CreateSeqArrays, ALL & ~BIT(BLOCK), NULL},
  {"create_split_arrays", CreateSplitArrays, ALL & ~BIT(BLOCK), NULL},
  {"create_from_options", CreateFromOptions, ALL & ~BIT(BLOCK), NULL},
  {"create_set_types", CreateTypes, ALL, NULL},
  {"create_off_process", CreateOffProcess, ALL & ~BIT(NOROWS), NULL},
  {"create_dm", CreateDM, BIT(SQUARE), NULL},
};
