/*
  mat_contract_create.h - ways to make a matrix: preallocation of each kind, arrays of the user, assembly in pieces
*/
#pragma once
#include "mat_contract_matrices.h"
#include <petscdmda.h>

#define KIND(c) ((Kind)(c)->kind)

/* The rows of this process as CSR with global columns */
typedef struct {
  PetscInt     m, n, *i, *j; /* [m + 1], [i[m]] */
  PetscScalar *a;            /* [i[m]] */
} Rows;

static PetscErrorCode RowsCreate(Mat layout, Kind kind, PetscInt seed, Rows *r)
{
  PetscInt first, last, M, N, bs;

  PetscFunctionBegin;
  KindSize(kind, &M, &N, &bs);
  PetscCall(MatGetOwnershipRange(layout, &first, &last));
  PetscCall(MatGetLocalSize(layout, &r->m, &r->n));
  PetscCall(PetscMalloc3(r->m + 1, &r->i, r->m * N + MAXROW, &r->j, r->m * N + MAXROW, &r->a));
  r->i[0] = 0;
  for (PetscInt i = first; i < last; i++) {
    PetscInt *j = r->j + r->i[i - first];

    r->i[i - first + 1] = r->i[i - first] + RowPattern(kind, 0, i, j);
    for (PetscInt k = r->i[i - first]; k < r->i[i - first + 1]; k++) r->a[k] = EntryValue(kind, seed, i, r->j[k]);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RowsValues(Mat layout, Kind kind, PetscInt seed, Rows *r)
{
  PetscInt first;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(layout, &first, NULL));
  for (PetscInt i = 0; i < r->m; i++)
    for (PetscInt k = r->i[i]; k < r->i[i + 1]; k++) r->a[k] = EntryValue(kind, seed, first + i, r->j[k]);
  PetscFunctionReturn(0);
}

static PetscErrorCode RowsDestroy(Rows *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(r->i, r->j, r->a));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePlain(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(RecordMat(c, "A", A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateNz(Case *c, Mat A)
{
  Mat      B;
  PetscInt N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatSeqAIJSetPreallocation(B, N, NULL));
  PetscCall(MatMPIAIJSetPreallocation(B, N, NULL, N, NULL));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSetUp(Case *c, Mat A)
{
  Mat B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatSetUp(B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscFunctionReturn(0);
}

/* Twice, so that the second meets a matrix in use */
static PetscErrorCode CreateCSR(Case *c, Mat A)
{
  Mat  B;
  Rows r;

  PetscFunctionBegin;
  PetscCall(RowsCreate(A, KIND(c), 1, &r));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatSeqAIJSetPreallocationCSR(B, r.i, r.j, r.a));
  PetscCall(MatMPIAIJSetPreallocationCSR(B, r.i, r.j, r.a));
  PetscCall(RecordMat(c, "CSR", B));
  PetscCall(RowsValues(A, KIND(c), 2, &r));
  PetscCall(MatSeqAIJSetPreallocationCSR(B, r.i, r.j, r.a));
  PetscCall(MatMPIAIJSetPreallocationCSR(B, r.i, r.j, r.a));
  PetscCall(RecordAndDestroy(c, "CSR again", 0, &B));
  PetscCall(RowsDestroy(&r));
  PetscFunctionReturn(0);
}

/* Every entry twice, some with a negative index, and a few in rows of the next process */
static PetscErrorCode CoordinatesSet(Case *c, Mat B, int variant, PetscInt seed, PetscBool pattern)
{
  PetscInt     first, last, M, N, bs, *i, *j, n = 0, row[MAXROW];
  PetscScalar *v;
  PetscLayout  rows;

  PetscFunctionBegin;
  KindSize(KIND(c), &M, &N, &bs);
  PetscCall(MatGetLayouts(B, &rows, NULL));
  PetscCall(PetscLayoutSetUp(rows));
  PetscCall(PetscLayoutGetRange(rows, &first, &last));
  PetscCall(PetscMalloc3(3 * (last - first) * N + 9, &i, 3 * (last - first) * N + 9, &j, 3 * (last - first) * N + 9, &v));
  for (PetscInt r = first; r < last; r++) {
    const PetscInt count = RowPattern(KIND(c), variant, r, row);

    for (PetscInt k = 0; k < count; k++) {
      for (int copy = 0; copy < 2; copy++) {
        i[n]   = copy && k == 1 ? -1 : r;
        j[n]   = copy && k == 2 ? -1 : row[k];
        v[n++] = EntryValue(KIND(c), seed + copy, r, row[k]);
      }
    }
  }
  for (PetscInt r = last % M; r < PetscMin(last % M + 3, M); r++) {
    const PetscInt count = RowPattern(KIND(c), variant, r, row);

    if (count) {
      i[n]   = r;
      j[n]   = row[count - 1];
      v[n++] = (PetscReal)0.5;
    }
  }
  if (pattern) PetscCall(MatSetPreallocationCOO(B, (PetscCount)n, i, j));
  PetscCall(MatSetValuesCOO(B, v, INSERT_VALUES));
  PetscCall(RecordMat(c, "COO insert", B));
  PetscCall(MatSetValuesCOO(B, v, ADD_VALUES));
  PetscCall(RecordMat(c, "COO add", B));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCOO(Case *c, Mat A)
{
  Mat B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(CoordinatesSet(c, B, 0, 1, PETSC_TRUE));
  PetscCall(CoordinatesSet(c, B, 0, 2, PETSC_FALSE));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* Another pattern, smaller and larger, in the same matrix; then duplicates, which share the coordinates */
static PetscErrorCode CreateCOOAgain(Case *c, Mat A)
{
  Mat B, D;

  PetscFunctionBegin;
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  for (int variant = 0; variant < 3; variant++) PetscCall(CoordinatesSet(c, B, variant, 1, PETSC_TRUE));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &D));
  PetscCall(MatScale(B, 3));
  PetscCall(RecordMat(c, "B", B));
  PetscCall(RecordMat(c, "D", D));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&B));
  PetscCall(CoordinatesSet(c, A, 2, 3, PETSC_TRUE)); /* a matrix that was filled otherwise before */
  c->forget = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* All rows and columns of the matrix in the order of the global numbers; every process has the whole map */
static PetscErrorCode MappingsSet(Case *c, Mat B)
{
  PetscInt               M, N, bs;
  IS                     rows, columns;
  ISLocalToGlobalMapping rmap, cmap;

  PetscFunctionBegin;
  KindSize(KIND(c), &M, &N, &bs);
  PetscCall(ISCreateStride(c->comm, M, 0, 1, &rows));
  PetscCall(ISCreateStride(c->comm, N, 0, 1, &columns));
  PetscCall(ISSetBlockSize(rows, bs));
  PetscCall(ISSetBlockSize(columns, bs));
  PetscCall(ISLocalToGlobalMappingCreateIS(rows, &rmap));
  PetscCall(ISLocalToGlobalMappingCreateIS(columns, &cmap));
  PetscCall(MatSetLocalToGlobalMapping(B, rmap, cmap));
  PetscCall(ISLocalToGlobalMappingDestroy(&rmap));
  PetscCall(ISLocalToGlobalMappingDestroy(&cmap));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateCOOLocal(Case *c, Mat A)
{
  Mat  B;
  Rows r;

  PetscFunctionBegin;
  PetscCall(RowsCreate(A, KIND(c), 1, &r));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MappingsSet(c, B));
  for (int again = 0; again < 2; again++) {
    PetscInt *i, *j, n = r.i[r.m], first;

    PetscCall(MatGetOwnershipRange(A, &first, NULL));
    PetscCall(PetscMalloc2(n + 1, &i, n + 1, &j));
    for (PetscInt row = 0; row < r.m; row++)
      for (PetscInt k = r.i[row]; k < r.i[row + 1]; k++) {
        i[k] = first + row;
        j[k] = r.j[k];
      }
    PetscCall(MatSetPreallocationCOOLocal(B, (PetscCount)n, i, j));
    PetscCall(MatSetValuesCOO(B, r.a, INSERT_VALUES));
    PetscCall(RecordMat(c, "B", B));
    PetscCall(PetscFree2(i, j));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(RowsDestroy(&r));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateXAIJ(Case *c, Mat A)
{
  Mat      B;
  PetscInt M, N, bs, m, n, *dnnz, *onnz;

  PetscFunctionBegin;
  KindSize(KIND(c), &M, &N, &bs);
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(PetscMalloc2(m + 1, &dnnz, m + 1, &onnz));
  for (PetscInt i = 0; i < m / bs; i++) {
    dnnz[i] = n / bs;
    onnz[i] = (N - n) / bs;
  }
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatXAIJSetPreallocation(B, bs, dnnz, onnz, dnnz, onnz));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscCall(PetscFree2(dnnz, onnz));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreatePreallocator(Case *c, Mat A)
{
  Mat P, B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(MakeSized(c, MATPREALLOCATOR, KIND(c), &P));
  PetscCall(MatSetUp(P));
  PetscCall(Fill(P, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(MatPreallocatorPreallocate(P, PETSC_TRUE, B));
  PetscCall(RecordMat(c, "zeros", B));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(MatDestroy(&P));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscFunctionReturn(0);
}

/* A matrix in use is preallocated anew for another pattern */
static PetscErrorCode CreateAgain(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(Preallocate(A, KIND(c), 2));
  PetscCall(Fill(A, KIND(c), 2, 1, INSERT_VALUES));
  PetscCall(RecordMat(c, "other pattern", A));
  PetscCall(Preallocate(A, KIND(c), 0));
  PetscCall(Fill(A, KIND(c), 0, 1, INSERT_VALUES));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateReset(Case *c, Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatResetPreallocation(A));
  PetscCall(Fill(A, KIND(c), 0, 1, INSERT_VALUES));
  PetscFunctionReturn(0);
}

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
  PetscCall(DMDACreate2d(c->comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 5, 4, PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, &dm));
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

static const Operation create_operations[] = {
  {"create", CreatePlain, ALL, NULL},
  {"preallocate_nz", CreateNz, ALL, NULL},
  {"preallocate_none", CreateSetUp, ALL, NULL},
  {"preallocate_csr", CreateCSR, ALL, NULL},
  {"preallocate_coo", CreateCOO, ALL, NULL},
  {"preallocate_coo_again", CreateCOOAgain, ALL, NULL},
  {"preallocate_coo_local", CreateCOOLocal, ALL, NULL},
  {"preallocate_xaij", CreateXAIJ, ALL, NULL},
  {"preallocate_preallocator", CreatePreallocator, ALL, NULL},
  {"preallocate_again", CreateAgain, ALL, NULL},
  {"preallocate_reset", CreateReset, BIT(SQUARE) | BIT(BLOCK) | BIT(TALL), NULL}, /* AIJ refuses or hangs where a block is empty */
  {"create_mpi_arrays", CreateMPIArrays, ALL & ~BIT(BLOCK), NULL},
  {"create_seq_arrays", CreateSeqArrays, ALL & ~BIT(BLOCK), NULL},
  {"create_split_arrays", CreateSplitArrays, ALL & ~BIT(BLOCK), NULL},
  {"create_from_options", CreateFromOptions, ALL & ~BIT(BLOCK), NULL},
  {"create_set_types", CreateTypes, ALL, NULL},
  {"create_off_process", CreateOffProcess, ALL & ~BIT(NOROWS), NULL},
  {"create_dm", CreateDM, BIT(SQUARE), NULL},
};
