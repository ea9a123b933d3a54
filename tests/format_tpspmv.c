static const char help[] = "tpSpMV: the paper's matrix digit by digit, tiles, fill, segments of long rows, removed columns.\n\n";

#include "spmvtest.h"
#include "mat/impls/tpspmv/host/tpspmv_host.h"

#define SIDE (&SpmvFormat_tpspmv.host->side)

/* Knobs in the order of tpspmv_host.h */
#define PLAN(cache, tile, slice, cut, remove, stream, t) \
  (SpmvPlan) \
  { \
    .value = {cache, tile, slice, cut, remove, stream, SPMV_VALUES_PLAIN}, .threads = t \
  }

static PetscErrorCode Build(const SpmvTestCSR *t, SpmvPlan plan, TpspmvStorage **b)
{
  SpmvCSR csr = SpmvTestCSRView(t);
  void   *storage;

  PetscFunctionBegin;
  *b = NULL;
  PetscCall(SpmvPlanChoose(&csr, SPMV_ISA_COUNT, NULL, SPMV_NUMBER_tpspmv, &plan, NULL));
  PetscCall(SpmvBuild(SIDE, &csr, NULL, &plan, &storage));
  *b = (TpspmvStorage *)storage;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(TpspmvStorage **b)
{
  void *storage = *b;

  PetscFunctionBegin;
  PetscCall(SpmvStorageDestroy(SIDE, &storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckProducts(const SpmvTestCSR *t, const TpspmvStorage *b)
{
  const SpmvCSR csr   = SpmvTestCSRView(t);
  PetscInt      wrong = 0;

  PetscFunctionBegin;
  PetscCall(SpmvTestProducts(&SpmvFormat_tpspmv, &csr, b, &wrong));
  PetscCheck(!wrong, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries of products are wrong", wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* `length` entries in random columns of each of m rows; several entries of a column are possible */
static PetscErrorCode Random(PetscInt m, PetscInt n, PetscInt length, SpmvTestCSR *t)
{
  uint32_t state = 1;

  PetscFunctionBegin;
  t->m = m;
  t->n = n;
  PetscCall(PetscMalloc1(m + 1, &t->i));
  PetscCall(PetscMalloc1(m * length, &t->j));
  PetscCall(PetscMalloc1(m * length, &t->a));
  for (PetscInt k = 0; k < m * length; k++) {
    state   = state * 1664525 + 1013904223;
    t->j[k] = (PetscInt)((uint64_t)state * (uint64_t)n >> 32);
    t->a[k] = (PetscScalar)(1 + k % 7);
  }
  for (PetscInt r = 0; r <= m; r++) t->i[r] = r * length;
  for (PetscInt r = 0; r < m; r++) PetscCall(PetscSortInt(length, t->j + r * length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of figure 1, a to r as 1 to 18, in three tiles of two columns: chunks, pairs, and the partial sums for x = (1, ...,
   1) */
static PetscErrorCode Figure1(void)
{
  const PetscScalar A[] = {1,  2, 0, 3,  4,  0,  0, 0, 0, 0,  0,  0, 5,  0, 6,  7,  8, 9,
                           10, 0, 0, 11, 12, 13, 0, 0, 0, 14, 15, 0, 16, 0, 17, 18, 0, 0},
                    x[] = {1, 1, 1, 1, 1, 1};
  PetscScalar    y[6];
  SpmvTestCSR    t;
  TpspmvStorage *b;

  PetscFunctionBegin;
  PetscCall(SpmvTestCSRFromDense(6, 6, A, &t));
  PetscCall(Build(&t, PLAN(0, 2, 8, 128, TPSPMV_NO, TPSPMV_NO, 1), &b));
  SpmvFormat_tpspmv.host->kernels[SPMV_SCALAR]->apply(b, x, y, PETSC_FALSE);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "Figure 1\n"));
  for (PetscInt c = 0; c < b->cut.ntiles; c++) {
    const TpspmvChunk *chunk = &b->chunk[c];

    PetscCall(PetscPrintf(PETSC_COMM_SELF, "tile from column %d\n  rows", (int)b->cut.tile[c]));
    for (int64_t p = 0; p < chunk->pairs; p++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", b->row[chunk->pair + p]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, ", lengths"));
    for (int32_t p = chunk->ragged; p < chunk[1].ragged; p++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", b->ragged[p]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  columns"));
    for (int64_t e = chunk->column; e < chunk[1].column; e++)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", chunk->base + ((uint16_t *)b->index)[e]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  values"));
    for (int64_t e = chunk->entry; e < chunk[1].entry; e++)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)PetscRealPart(((PetscScalar *)b->value.data)[e])));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n  partial sums"));
    for (int64_t p = 0; p < chunk->pairs; p++)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)PetscRealPart(b->partial[chunk->pair + p])));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "y"));
  for (int r = 0; r < 6; r++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)PetscRealPart(y[r])));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscCall(Destroy(&b));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Twenty full columns, then eighty with one entry: tiles are as few as 32 columns allow, the first no larger than its share of
   entries */
static PetscErrorCode EqualNonzeros(void)
{
  PetscScalar    dense[60 * 100];
  SpmvTestCSR    t;
  TpspmvStorage *b;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < 60; r++) {
    for (PetscInt c = 0; c < 100; c++) dense[r * 100 + c] = c < 20 || r == c % 60;
  }
  PetscCall(SpmvTestCSRFromDense(60, 100, dense, &t));
  PetscCall(Build(&t, PLAN(0, 32, 8, 128, TPSPMV_NO, TPSPMV_NO, 1), &b));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "tiles of at most 32 of 100 columns begin at"));
  for (PetscInt c = 0; c <= b->cut.ntiles; c++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %d", (int)b->cut.tile[c]));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  PetscCall(Destroy(&b));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  What the default makes of a matrix whose x is 32 MiB (complex: 64), for two caches that second ones may be; the same without its
  empty columns; and one whose x fits the cache
*/
static PetscErrorCode Tiles(void)
{
  const PetscInt columns[] = {1 << 22, 1 << 22, 1 << 22, 1 << 17}, doubles[] = {1 << 17, 1 << 18, 1 << 17, 1 << 17},
                 remove[] = {TPSPMV_NO, TPSPMV_NO, TPSPMV_AUTO, TPSPMV_NO};
  TpspmvStorage *b;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(columns); k++) {
    const PetscInt cache = doubles[k] * (PetscInt)sizeof(PetscScalar) / 1024; /* KiB */
    SpmvTestCSR    t;
    PetscInt       widest = 0;
    char           line[256];

    PetscCall(Random(40000, columns[k], 8, &t));
    PetscCall(Build(&t, PLAN(cache, 0, 0, 128, remove[k], TPSPMV_AUTO, 1), &b));
    for (PetscInt c = 0; c < b->cut.ntiles; c++) widest = PetscMax(widest, b->cut.tile[c + 1] - b->cut.tile[c]);
    PetscCheck(b->cut.ntiles == 1 || widest <= doubles[k] / 2, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "a tile of %" PetscInt_FMT " columns is wider than half the cache", widest);
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "%" PetscInt_FMT " columns, a cache of %" PetscInt_FMT "\n  %" PetscInt_FMT " tiles, %" PetscInt_FMT
                          " columns removed\n",
                          columns[k], doubles[k], b->cut.ntiles, b->cut.n - b->cut.nused));
    PetscCall(SIDE->describe(b, 1, line, sizeof(line)));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s\n", line));
    PetscCall(SIDE->describe(b, 3, line, sizeof(line)));
    PetscCheck(!line[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "a line too many: %s", line);
    PetscCall(Destroy(&b));
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chunks begin where they should, and fill is at most 2 %, whatever the chunks: large ones are aligned, small ones less */
static PetscErrorCode Fill(void)
{
  const PetscInt slices[] = {8, 64, 1024}, lengths[] = {3, 20};
  PetscInt       aligned[9] = {0};
  TpspmvStorage *b;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lengths); k++) {
    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(slices); s++) {
      SpmvTestCSR t;

      PetscCall(Random(3000, 3000, lengths[k], &t));
      PetscCall(Build(&t, PLAN(0, 1024, slices[s], 128, TPSPMV_NO, TPSPMV_NO, 1), &b));
      aligned[b->align]++;
      PetscCheck(b->nentries == (size_t)(3000 * lengths[k]) + b->nfill && 50 * b->nfill <= b->nentries, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB, "fill of %zu in %zu entries", b->nfill, b->nentries);
      for (PetscInt c = 0; c < b->cut.ntiles * b->cut.nslices; c++)
        PetscCheck(b->chunk[c].entry % b->align == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "chunk %" PetscInt_FMT " is not aligned",
                   c);
      PetscCall(Destroy(&b));
      PetscCall(SpmvTestCSRDestroy(&t));
    }
  }
  PetscCheck(aligned[8] && aligned[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " aligned to 8, %" PetscInt_FMT " to 1",
             aligned[8], aligned[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of 100,000 entries among short ones: each of four threads has about a quarter of it, and of its tiles */
static PetscErrorCode LongRow(PetscInt tile)
{
  enum { n = 100000, threads = 4 };
  SpmvTestCSR    t     = {.m = 3, .n = n};
  PetscInt       dense = 0;
  TpspmvStorage *b;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(4, &t.i));
  PetscCall(PetscMalloc1(n + 2, &t.j));
  PetscCall(PetscMalloc1(n + 2, &t.a));
  t.i[0] = 0;
  t.i[1] = 1;
  t.i[2] = n + 1;
  t.i[3] = n + 2;
  for (PetscInt k = 0; k < n + 2; k++) {
    t.j[k] = k == 0 || k > n ? 7 : k - 1;
    t.a[k] = (PetscScalar)(k % 5 - 2);
  }
  PetscCall(Build(&t, PLAN(0, tile, 0, 128, TPSPMV_NO, TPSPMV_NO, threads), &b));
  for (PetscInt p = 0; p < threads; p++) {
    const int64_t entries = b->segment[b->segments[p + 1]].entry - b->segment[b->segments[p]].entry;

    PetscCheck(PetscAbs(entries - n / threads) <= 2048, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "thread %" PetscInt_FMT " has %d entries of the long row", p, (int)entries);
  }
  for (size_t p = 0; p < b->nsegments; p++) dense += b->segment[p].consecutive;
  PetscCheck(b->nsegments >= n / 2048 && dense == (PetscInt)b->nsegments, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%zu segments, %" PetscInt_FMT " consecutive", b->nsegments, dense);
  PetscCall(CheckProducts(&t, b));
  PetscCall(Destroy(&b));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A long row, then seven that go on, each one column further, where its last segment ends: these eight are no group */
static PetscErrorCode AfterLongRow(void)
{
  enum { m = 8, n = 150, length = 130 };
  PetscScalar    dense[m * n] = {0};
  SpmvTestCSR    t;
  TpspmvStorage *b;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < length; c++) dense[c] = (PetscScalar)(1 + c % 7);
  for (PetscInt r = 1; r < m; r++) dense[r * n + length - 2 + r] = dense[r * n + length - 1 + r] = (PetscScalar)r;
  PetscCall(SpmvTestCSRFromDense(m, n, dense, &t));
  PetscCall(Build(&t, PLAN(0, TPSPMV_ALL, 0, 8, TPSPMV_NO, TPSPMV_NO, 1), &b));
  PetscCheck(b->nsegments == 2 && b->nlong == length, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%zu segments of %zu entries",
             b->nsegments, b->nlong);
  PetscCall(CheckProducts(&t, b));
  PetscCall(Destroy(&b));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chunks without entries have no partial sums, and what was left in their padding is not added; an Inf stays with the rows that
   have its column */
static PetscErrorCode NothingSpreads(void)
{
  enum { n = 300, hot = 57 };
  PetscScalar    x[n], y[n];
  SpmvTestCSR    t;
  TpspmvStorage *b;

  PetscFunctionBegin;
  PetscCall(Random(n, n, 5, &t));
  for (PetscInt k = 0; k < n * 5; k++)
    t.j[k] = t.j[k] / 4 + (k / 5 < n / 2 ? 0 : 200); /* the upper rows have the left columns, the lower the right */
  for (PetscInt k = 0; k < n; k++) x[k] = k == hot ? (PetscScalar)INFINITY : 1;
  for (PetscInt stream = TPSPMV_NO; stream <= TPSPMV_YES; stream++) {
    PetscInt empty = 0;

    PetscCall(Build(&t, PLAN(0, 16, 8, 128, TPSPMV_NO, stream, 1), &b));
    for (PetscInt c = 0; c < b->cut.ntiles * b->cut.nslices; c++) empty += b->chunk[c].pairs == 0;
    PetscCheck(empty > b->cut.ntiles * b->cut.nslices / 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " chunks are empty",
               empty);
    for (size_t p = 0; p < b->npairs; p++) b->partial[p] = (PetscScalar)NAN;
    SpmvFormat_tpspmv.host->kernels[SPMV_SCALAR]->apply(b, x, y, PETSC_FALSE);
    for (PetscInt r = 0; r < n; r++) {
      PetscBool has = PETSC_FALSE;

      for (PetscInt k = t.i[r]; k < t.i[r + 1]; k++) has = (PetscBool)(has || t.j[k] == hot);
      PetscCheck(has ? PetscIsInfOrNanScalar(y[r]) : !PetscIsInfOrNanScalar(y[r]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "row %" PetscInt_FMT " is %g", r, (double)PetscRealPart(y[r]));
    }
    PetscCall(Destroy(&b));
  }
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A band, all of whose rows but the first and last have the same length: eight rows at a time have consecutive columns in every
   step, also where columns are removed */
static PetscErrorCode Consecutive(void)
{
  enum { n = 1000 };
  PetscScalar *dense;
  SpmvTestCSR  t;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(2 * n * n, &dense));
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt c = PetscMax(0, r - 2); c <= PetscMin(n - 1, r + 2); c++) dense[r * 2 * n + c] = (PetscScalar)(1 + (r + c) % 9);
  }
  PetscCall(SpmvTestCSRFromDense(n, 2 * n, dense, &t));
  for (PetscInt remove = TPSPMV_NO; remove <= TPSPMV_YES; remove++) {
    TpspmvStorage *b;
    PetscInt       groups = 0;

    PetscCall(Build(&t, PLAN(0, TPSPMV_ALL, 0, 128, remove, TPSPMV_NO, 1), &b));
    for (size_t r = 0; r < b->nruns; r++) groups += b->run[r].consecutive ? b->run[r].groups : 0;
    PetscCheck(groups == (n - 4) / 8 && b->cut.nused == (remove == TPSPMV_YES ? n : 2 * n), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%" PetscInt_FMT " groups are consecutive, %" PetscInt_FMT " columns used", groups, b->cut.nused);
    PetscCall(CheckProducts(&t, b));
    PetscCall(Destroy(&b));
  }
  PetscCall(PetscFree(dense));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Figure1());
  PetscCall(EqualNonzeros());
  PetscCall(Tiles());
  PetscCall(Fill());
  PetscCall(LongRow(TPSPMV_ALL));
  PetscCall(LongRow(16384));
  PetscCall(AfterLongRow());
  PetscCall(NothingSpreads());
  PetscCall(Consecutive());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test: # numbers are compared as they are: by itself PETSc ignores those with decimals
    diff_args: -j

TEST*/
