static const char help[] = "Rows times several vectors: columns side by side and back, windows of B that move either way, jump, "
                           "or are too wide, rows whose columns are shifted.\n\n";

#include "spmvtest.h"
#include "host/dense/dense.h"

static PetscInt failures;

/* Number k of a fixed sequence, from -1 to 1 */
static PetscScalar Value(PetscInt k)
{
  return (PetscReal)((k * (PetscInt64)7919 + 13) % 1009 - 504) / 504;
}

/* Some rows of columns side by side, and back again, added or not; what lies beside them is left alone */
static PetscErrorCode TestSides(const SpmvDenseKernels *kernels, const char isa[])
{
  enum { ROWS = 29, LD = 31, WIDE = 16 };
  const PetscInt widths[] = {4, 8, 16};
  PetscScalar    columns[WIDE * LD], side[ROWS * WIDE + 8], back[WIDE * LD];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < WIDE * LD; k++) columns[k] = Value(k);
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(widths); w++) {
    for (PetscInt count = 1; count <= widths[w]; count++) {
      for (PetscInt rows = 0; rows <= ROWS; rows++) {
        PetscInt wrong = 0;

        for (PetscInt k = 0; k < ROWS * WIDE + 8; k++) side[k] = NAN;
        kernels->interleave(columns, LD, count, widths[w], rows, side);
        for (PetscInt r = 0; r < rows; r++) {
          for (PetscInt c = 0; c < widths[w]; c++) wrong += side[r * widths[w] + c] != (c < count ? columns[c * LD + r] : 0);
        }
        for (PetscInt k = rows * widths[w]; k < ROWS * WIDE + 8; k++) wrong += side[k] == side[k];
        for (int add = 0; add < 2; add++) {
          for (PetscInt k = 0; k < WIDE * LD; k++) back[k] = 2;
          kernels->separate(side, count, widths[w], rows, add ? SPMV_DENSE_ADD : SPMV_DENSE_SET, back, LD);
          for (PetscInt c = 0; c < WIDE; c++) {
            for (PetscInt r = 0; r < LD; r++)
              wrong += back[c * LD + r] != (c >= count || r >= rows ? 2 : columns[c * LD + r] + 2 * add);
          }
        }
        if (wrong)
          PetscCall(PetscPrintf(PETSC_COMM_SELF,
                                "%s: %" PetscInt_FMT " rows of %" PetscInt_FMT " columns, %" PetscInt_FMT " wide: %" PetscInt_FMT
                                " entries wrong\n",
                                isa, rows, count, widths[w], wrong));
        failures += wrong;
      }
    }
  }
  PetscFunctionReturn(0);
}

#define ROWS  30000
#define TWINS 5

/* Entry k of row r: a band; a band that runs backwards; one that jumps; one that widens at the end, so that windows no longer do;
   wide everywhere; TWINS: see Leader() */
static PetscInt Column(int kind, PetscInt r, PetscInt k)
{
  const PetscInt band = (r + k * k * 17 - 300 + ROWS) % ROWS, near = PetscMax(0, PetscMin(ROWS - 1, r + k * k * 17 - 300));

  if (kind == 1) return ROWS - 1 - near;
  if (kind == 2) return r / 10000 % 2 ? near - 3000 : near;
  if (kind == 3 && r > 21000) return (band * 7919) % ROWS;
  if (kind == 4) return (band * 7919) % ROWS;
  return near;
}

/* The first of one to five rows that have the same columns, or all but the second one in one of them */
static PetscInt Leader(PetscInt r)
{
  static const PetscInt first[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10, 10, 10, 10};

  return r - r % 15 + first[r % 15];
}

static PetscErrorCode Create(int kind, SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  t->m = t->n = ROWS;
  PetscCall(PetscMalloc1(ROWS + 1, &t->i));
  PetscCall(PetscMalloc1(8 * ROWS, &t->j));
  PetscCall(PetscMalloc1(8 * ROWS, &t->a));
  for (PetscInt r = 0; r < ROWS; r++) {
    t->i[r] = nz;
    for (PetscInt k = 0; k < (kind == TWINS ? Leader(r) : r) % 8; k++, nz++) {
      t->j[nz] = kind == TWINS ? Column(0, Leader(r), k) + (k == 1 && r % 45 == 12) : Column(kind, r, k);
      t->a[nz] = Value(nz);
    }
  }
  t->i[ROWS] = nz;
  PetscFunctionReturn(0);
}

/* C = A B by windows, what they leave by B side by side; each entry against its sum. Whether windows served to the end is as
   expected */
static PetscErrorCode TestWindows(const SpmvTestCSR *t, int kind, SpmvIsa isa, PetscInt ntasks, PetscInt count, PetscInt capacity,
                                  PetscBool expected)
{
  const PetscInt   width = count > 8 ? 16 : count > 4 ? 8 : 4;
  SpmvCSR          csr   = SpmvTestCSRView(t);
  SpmvDenseProduct d;
  PetscScalar     *b, *c, *side, *window;
  PetscInt         from[SPMV_THREADS_MAX], wrong = 0;
  PetscBool        done;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(count * ROWS, &b, count * ROWS, &c, width * ROWS, &side, ntasks * capacity * width, &window));
  for (PetscInt k = 0; k < count * ROWS; k++) {
    b[k] = Value(3 * k);
    c[k] = NAN;
  }
  SpmvDenseProductSet(&csr, isa, ntasks, &d);
  done = SpmvDenseApplyWindows(&d, width, count, b, ROWS, window, capacity, c, ROWS, from);
  SpmvDenseSideBySide(&d, width, count, b, ROWS, side);
  SpmvDenseApply(&d, from, width, count, side, c, ROWS, PETSC_FALSE);
  for (PetscInt k = 0; k < count; k++) {
    for (PetscInt r = 0; r < ROWS; r++) {
      PetscScalar sum  = 0;
      PetscReal   size = 0;

      for (PetscInt e = t->i[r]; e < t->i[r + 1]; e++) {
        sum += t->a[e] * b[k * ROWS + t->j[e]];
        size += PetscAbsScalar(t->a[e] * b[k * ROWS + t->j[e]]);
      }
      wrong += !(PetscAbsScalar(c[k * ROWS + r] - sum) <= 32 * PETSC_MACHINE_EPSILON * size);
    }
  }
  if (wrong || done != expected)
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "kind %d, %s, %d tasks, %" PetscInt_FMT " columns, windows of %" PetscInt_FMT ": %" PetscInt_FMT
                          " entries wrong, windows %s\n",
                          kind, SpmvIsaName(isa), (int)ntasks, count, capacity, wrong, done ? "served" : "gave up"));
  failures += wrong + (done != expected);
  PetscCall(PetscFree4(b, c, side, window));
  PetscFunctionReturn(0);
}

#define GRID   1009 /* rows */
#define BESIDE 3    /* entries before and after each column of B and C, which are not to be touched */

/* Row r of a grid with lines of `line` points: `most` entries or so, fewer at either end of a line, none in some lines, and other
   columns in row 500 */
static PetscErrorCode CreateGrid(PetscInt line, PetscInt most, SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  t->m = GRID;
  t->n = GRID + 40 * most;
  PetscCall(PetscMalloc3(GRID + 1, &t->i, GRID * most, &t->j, GRID * most, &t->a));
  for (PetscInt r = 0; r < GRID; r++) {
    const PetscInt at = r % line, n = r / line % 7 == 3 ? 0 : most - 2 * (at == 0) - (at == line - 1);

    t->i[r] = nz;
    for (PetscInt k = 0; k < n; k++, nz++) {
      t->j[nz] = r + 40 * k + (r == 500 && k == n - 1);
      t->a[nz] = Value(nz);
    }
  }
  t->i[GRID] = nz;
  PetscFunctionReturn(0);
}

/* C = A B with columns as they are */
static PetscErrorCode TestShifted(PetscInt line, PetscInt most, SpmvIsa isa, PetscInt ntasks, PetscInt count)
{
  SpmvTestCSR      t;
  SpmvCSR          csr;
  SpmvDenseProduct d;
  PetscScalar     *b, *c;
  PetscInt         wrong    = 0;
  const PetscBool  expected = (PetscBool)(line > 20 && most <= 64);

  PetscFunctionBegin;
  PetscCall(CreateGrid(line, most, &t));
  PetscCall(PetscMalloc2(count * (t.n + BESIDE), &b, count * (GRID + BESIDE), &c));
  for (PetscInt k = 0; k < count * (t.n + BESIDE); k++) b[k] = k % (t.n + BESIDE) < t.n ? Value(3 * k) : NAN;
  csr = SpmvTestCSRView(&t);
  SpmvDenseProductSet(&csr, isa, ntasks, &d);
  if (SpmvDenseIsShifted(&d) != expected) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "%s, lines of %" PetscInt_FMT ", %" PetscInt_FMT " entries: rows are said to be%s shifted\n",
                          SpmvIsaName(isa), line, most, expected ? " not" : ""));
    failures++;
  }
  for (int shifted = 0; shifted < 2; shifted++) {
    for (PetscInt k = 0; k < count * (GRID + BESIDE); k++) c[k] = 7;
    SpmvDenseApplyColumns(&d, (PetscBool)shifted, count, b, t.n + BESIDE, c, GRID + BESIDE);
    for (PetscInt k = 0; k < count * (GRID + BESIDE); k++) {
      const PetscInt column = k / (GRID + BESIDE), r = k % (GRID + BESIDE);
      PetscScalar    sum  = r < GRID ? 0 : 7;
      PetscReal      size = 0;

      for (PetscInt e = r < GRID ? t.i[r] : 0; r < GRID && e < t.i[r + 1]; e++) {
        sum += t.a[e] * b[column * (t.n + BESIDE) + t.j[e]];
        size += PetscAbsScalar(t.a[e] * b[column * (t.n + BESIDE) + t.j[e]]);
      }
      wrong += !(PetscAbsScalar(c[k] - sum) <= 64 * PETSC_MACHINE_EPSILON * size);
    }
    if (wrong)
      PetscCall(PetscPrintf(PETSC_COMM_SELF,
                            "%s, lines of %" PetscInt_FMT ", %" PetscInt_FMT " entries, %d tasks, %" PetscInt_FMT
                            " columns, shifted %d: %" PetscInt_FMT " entries wrong\n",
                            SpmvIsaName(isa), line, most, (int)ntasks, count, shifted, wrong));
    failures += wrong;
  }
  PetscCall(PetscFree3(t.i, t.j, t.a));
  PetscCall(PetscFree2(b, c));
  PetscFunctionReturn(0);
}

/* A C that is written past the caches, from each place of a cache line on; what lies beside it is left alone */
static PetscErrorCode TestLong(SpmvIsa isa, PetscInt ntasks)
{
  enum { M = 400003, LD = 400016, WIDTH = 8 };
  SpmvTestCSR      t = {.m = M, .n = M};
  SpmvCSR          csr;
  SpmvDenseProduct d;
  PetscScalar     *b, *side, *c;
  PetscInt         nz = 0, wrong = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(M + 1, &t.i, 2 * M, &t.j, 2 * M, &t.a));
  PetscCall(PetscMalloc3(WIDTH * M, &b, WIDTH * M, &side, WIDTH * LD + 16, &c));
  for (PetscInt r = 0; r < M; r++) {
    t.i[r] = nz;
    for (PetscInt k = 0; k < (r / 20 + !(r % 20)) % 3; k++, nz++) {
      t.j[nz] = PetscMin(r + k, M - 1);
      t.a[nz] = Value(nz);
    }
  }
  t.i[M] = nz;
  for (PetscInt k = 0; k < WIDTH * M; k++) b[k] = Value(3 * k);
  csr = SpmvTestCSRView(&t);
  SpmvDenseProductSet(&csr, isa, ntasks, &d);
  SpmvDenseSideBySide(&d, WIDTH, WIDTH, b, M, side);
  for (PetscInt at = 0, shifted = 0; at < 8; at += 3 * shifted, shifted = !shifted) {
    for (PetscInt k = 0; k < WIDTH * LD + 16; k++) c[k] = 7;
    if (shifted) SpmvDenseApplyColumns(&d, PETSC_TRUE, WIDTH, b, M, c + 8 + at, LD);
    else SpmvDenseApply(&d, NULL, WIDTH, WIDTH, side, c + 8 + at, LD, PETSC_FALSE);
    for (PetscInt k = 0; k < WIDTH * LD + 16; k++) {
      const PetscInt r = (k - 8 - at + LD) % LD, column = (k - 8 - at) / LD;
      PetscScalar    sum = 7;

      if (k >= 8 + at && column < WIDTH && r < M) {
        sum = 0;
        for (PetscInt e = t.i[r]; e < t.i[r + 1]; e++) sum += t.a[e] * b[column * M + t.j[e]];
      }
      wrong += !(PetscAbsScalar(c[k] - sum) <= 8 * PETSC_MACHINE_EPSILON);
    }
  }
  if (wrong)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "long columns, %s, %d tasks: %" PetscInt_FMT " entries wrong\n", SpmvIsaName(isa),
                          (int)ntasks, wrong));
  failures += wrong;
  PetscCall(PetscFree3(t.i, t.j, t.a));
  PetscCall(PetscFree3(b, side, c));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  SpmvIsa best;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestUncached());
  PetscCall(SpmvIsaGet(SPMV_ISA_COUNT, &best));
  for (PetscInt isa = 0; isa <= (PetscInt)best; isa++) {
    SpmvDenseProduct d;
    SpmvCSR          none = {.i = (const PetscInt[]){0}};

    SpmvDenseProductSet(&none, (SpmvIsa)isa, 1, &d);
    if (!d.kernels->interleave) continue;
    PetscCall(TestSides(d.kernels, SpmvIsaName(isa)));
    PetscCall(TestLong((SpmvIsa)isa, 1 + isa));
    for (PetscInt line = 2; line < 60; line += 19) {
      for (PetscInt count = 1; count <= 17; count++) PetscCall(TestShifted(line, 3 + count, (SpmvIsa)isa, 1 + count % 3, count));
      PetscCall(TestShifted(line, 64, (SpmvIsa)isa, 1, 5));
      PetscCall(TestShifted(line, 70, (SpmvIsa)isa, 1, 9));
    }
  }
  for (int kind = 0; kind <= TWINS; kind++) {
    SpmvTestCSR t;

    PetscCall(Create(kind, &t));
    for (PetscInt ntasks = 1; ntasks <= 3; ntasks += 2) {
      for (PetscInt count = 3; count <= 13; count += 5)
        PetscCall(TestWindows(&t, kind, best, ntasks, count, 12000, kind < 3 || kind == TWINS ? PETSC_TRUE : PETSC_FALSE));
      PetscCall(TestWindows(&t, kind, SPMV_SCALAR, ntasks, 8, 9000, kind < 3 || kind == TWINS ? PETSC_TRUE : PETSC_FALSE));
      PetscCall(TestWindows(&t, kind, best, ntasks, 8, 1000, PETSC_FALSE));
    }
    PetscCall(PetscFree(t.i));
    PetscCall(PetscFree(t.j));
    PetscCall(PetscFree(t.a));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT " failures\n", failures));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

/*TEST

  test:

  test:
    suffix: uncached
    output_file: output/unit_dense.out
    args: -uncached

TEST*/
