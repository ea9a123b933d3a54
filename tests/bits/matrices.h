/*
  matrices.h - the matrices of bits.c, by name: kind:number:number...

  random:m:n:length:empty    rows of up to 2 length entries, some of each hundred rows empty, one row long
  fem:nodes:b:declared       blocks of b x b between near nodes and a few far ones; declared: MatSetBlockSize()
  grid5:N grid7:N grid27:N   points of a square or a cube of edge N and their neighbours
  power:m:n:length           few long rows and many short ones, few columns of many entries
  arrow:n                    the diagonal, a full first column, a full last row
  dense:m:n
  unsorted:m:n:length        as random, columns of a row not in order
  mirror:nodes:b:far         blocks of b x b between near nodes. Of ten pairs of entries three are equal, the others 1 to 60
                             units in the last place apart, of a hundred so many far apart. Some rows have the diagonal only
  declared:nodes:b           the same, none far apart, and declared symmetric for ever (MatSetOption())
  file:name                  the pattern of <-matrices>/name.mtx.gz, a Matrix Market file

  Values are numbers of either sign by row and column, the same on every machine; of mirror and declared the same number for both
  of a pair but for that.
*/
#pragma once
#include <petscmat.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  PetscInt     m, n, bs;
  PetscInt     capacity;
  PetscInt    *i, *j; /* the whole pattern */
  PetscInt    *mine;  /* row pointers of this process's rows */
  PetscScalar *a;     /* their values */
  PetscBool    mirrored;
} Pattern;

/* splitmix64 */
static inline uint64_t Random(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline PetscInt Below(uint64_t *state, PetscInt n)
{
  return n > 0 ? (PetscInt)(Random(state) % (uint64_t)n) : 0;
}

/* From -1 to 1, in full precision */
static inline PetscScalar NumberOf(PetscInt seed, PetscInt i, PetscInt j)
{
  uint64_t state     = (uint64_t)seed * UINT64_C(0x632be59bd9b4e019) + (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)j;
  const PetscReal re = (PetscReal)((double)(int64_t)Random(&state) * 0x1p-63);
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(re, (PetscReal)((double)(int64_t)Random(&state) * 0x1p-63));
#else
  return re;
#endif
}

/* The same for both of a pair, but that the one below the diagonal may be some units in the last place away, or -1 times as
   much */
static inline PetscScalar MirroredOf(PetscInt i, PetscInt j, PetscInt far)
{
  const PetscInt    low = PetscMin(i, j), high = PetscMax(i, j);
  const PetscScalar a     = NumberOf(99, low, high);
  uint64_t          state = (uint64_t)low * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)high;
  const PetscInt    units = Below(&state, 10) < 3 ? 0 : 1 + Below(&state, 30);

  if (i <= j) return i < j ? a : a + 2;
  if (Below(&state, 100) < far) return -a;
  return a * (1 + (PetscReal)units * PETSC_MACHINE_EPSILON); /* the factor is exact; it is up to twice as many units */
}

static int CompareColumns(const void *a, const void *b)
{
  const PetscInt p = *(const PetscInt *)a, q = *(const PetscInt *)b;

  return (p > q) - (p < q);
}

/* Adds an entry to the row that is being made */
static PetscErrorCode Push(Pattern *p, PetscInt row, PetscInt column)
{
  PetscFunctionBegin;
  if (column < 0 || column >= p->n) PetscFunctionReturn(0);
  if (p->i[row + 1] == p->capacity) {
    p->capacity = 2 * p->capacity + 1000;
    p->j        = (PetscInt *)realloc(p->j, (size_t)p->capacity * sizeof(PetscInt));
    PetscCheck(p->j, PETSC_COMM_SELF, PETSC_ERR_MEM, "no memory for %" PetscInt_FMT " columns", p->capacity);
  }
  p->j[p->i[row + 1]++] = column;
  PetscFunctionReturn(0);
}

/* Sorts a row and takes out what it has twice */
static void RowEnd(Pattern *p, PetscInt row)
{
  PetscInt *j = p->j + p->i[row], count = p->i[row + 1] - p->i[row], kept = 0;

  if (count > 1) qsort(j, (size_t)count, sizeof(PetscInt), CompareColumns);
  for (PetscInt k = 0; k < count; k++) {
    if (!kept || j[k] != j[kept - 1]) j[kept++] = j[k];
  }
  p->i[row + 1] = p->i[row] + kept;
}

static PetscErrorCode RowRandom(Pattern *p, const PetscInt number[], PetscInt row, uint64_t *state)
{
  PetscInt length = Below(state, 2 * number[2] + 1);

  PetscFunctionBegin;
  if (Below(state, 100) < number[3]) length = 0;
  if (row == p->m / 2 && number[2]) length = p->n / 3;
  for (PetscInt k = 0; k < length; k++) PetscCall(Push(p, row, Below(state, p->n)));
  PetscFunctionReturn(0);
}

static PetscErrorCode RowFem(Pattern *p, const PetscInt number[], PetscInt row, uint64_t *state)
{
  const PetscInt b = number[1], node = row / b;
  uint64_t       own    = (uint64_t)node;
  const PetscInt near[] = {node - 23, node - 5, node - 1,  node,
                           node + 1,  node + 5, node + 23, node % 4 ? -1 : Below(&own, number[0])};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(near); k++) {
    for (PetscInt c = 0; c < b && near[k] >= 0; c++) PetscCall(Push(p, row, near[k] * b + c));
  }
  (void)state;
  PetscFunctionReturn(0);
}

static PetscErrorCode RowMirror(Pattern *p, const PetscInt number[], PetscInt row)
{
  static const PetscInt away[] = {-23, -5, -1, 0, 1, 5, 23};
  const PetscInt        b = number[1], node = row / b;

  PetscFunctionBegin;
  if (node % 29 == 7) PetscCall(Push(p, row, row));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(away) && node % 29 != 7; k++) {
    for (PetscInt c = 0; c < b && node + away[k] >= 0; c++) PetscCall(Push(p, row, (node + away[k]) * b + c));
  }
  PetscFunctionReturn(0);
}

/* The points are so many of the cube's 27, or of the square's */
static PetscErrorCode RowGrid(Pattern *p, PetscInt points, PetscInt N, PetscInt row)
{
  const PetscInt x = row % N, y = row / N % N, z = row / N / N;

  PetscFunctionBegin;
  for (PetscInt k = -1; k <= 1; k++) {
    for (PetscInt l = -1; l <= 1; l++) {
      for (PetscInt o = -1; o <= 1; o++) {
        if (x + o < 0 || x + o >= N || y + l < 0 || y + l >= N || z + k < 0 || z + k >= (points == 5 ? 1 : N)) continue;
        if (points == 27 || !o + !l + !k >= 2) PetscCall(Push(p, row, row + o + N * (l + N * k)));
      }
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RowPower(Pattern *p, const PetscInt number[], PetscInt row, uint64_t *state)
{
  const PetscInt length = 1 + PetscMin(p->n / 2, number[2] * p->m / (4 * (1 + Below(state, p->m))));

  PetscFunctionBegin;
  for (PetscInt k = 0; k < length; k++) {
    const double u = (double)(Random(state) >> 11) * 0x1p-53;

    PetscCall(Push(p, row, (PetscInt)((double)p->n * u * u * u)));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode PatternGenerate(const char kind[], const PetscInt number[], Pattern *p)
{
  const PetscBool grid = (PetscBool)!strncmp(kind, "grid", 4), fem = (PetscBool)!strcmp(kind, "fem");
  const PetscInt  points = grid ? (PetscInt)strtol(kind + 4, NULL, 10) : 0;
  uint64_t        state  = 271828;

  PetscFunctionBegin;
  p->m = p->n = number[0];
  p->bs       = 1;
  p->mirrored = (PetscBool)(!strcmp(kind, "mirror") || !strcmp(kind, "declared"));
  if (grid) p->m = p->n = number[0] * number[0] * (points == 5 ? 1 : number[0]);
  else if (fem || p->mirrored) p->m = p->n = number[0] * number[1];
  else if (strcmp(kind, "arrow")) p->n = number[1];
  if ((fem && number[2]) || p->mirrored) p->bs = number[1];
  PetscCall(PetscCalloc1(p->m + 1, &p->i));
  for (PetscInt row = 0; row < p->m; row++) {
    p->i[row + 1] = p->i[row];
    if (grid) PetscCall(RowGrid(p, points, number[0], row));
    else if (fem) PetscCall(RowFem(p, number, row, &state));
    else if (p->mirrored) PetscCall(RowMirror(p, number, row));
    else if (!strcmp(kind, "power")) PetscCall(RowPower(p, number, row, &state));
    else if (!strcmp(kind, "random") || !strcmp(kind, "unsorted")) PetscCall(RowRandom(p, number, row, &state));
    else if (!strcmp(kind, "arrow") || !strcmp(kind, "dense")) {
      for (PetscInt c = 0; c < p->n; c++) {
        if (kind[0] == 'd' || !c || c == row || row == p->m - 1) PetscCall(Push(p, row, c));
      }
    } else SETERRQ(PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s is no kind of matrix", kind);
    RowEnd(p, row);
    for (PetscInt k = 0; !strcmp(kind, "unsorted") && k < (p->i[row + 1] - p->i[row]) / 2; k++) {
      const PetscInt first = p->j[p->i[row] + k];

      p->j[p->i[row] + k]         = p->j[p->i[row + 1] - 1 - k];
      p->j[p->i[row + 1] - 1 - k] = first;
    }
  }
  PetscFunctionReturn(0);
}

/* Entries of a file, both of each pair if it is symmetric, counted by row and then put there */
static PetscErrorCode PatternRead(const char name[], Pattern *p)
{
  char      folder[PETSC_MAX_PATH_LEN] = ".", command[PETSC_MAX_PATH_LEN + 128], line[1024] = "";
  long long m, n, entries, r, c;
  PetscInt *pair, count = 0;
  PetscBool mirrored;
  FILE     *f;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrices", folder, sizeof(folder), NULL));
  (void)snprintf(command, sizeof(command), "gzip -dc '%s/%s.mtx.gz'", folder, name);
  f = popen(command, "r");
  PetscCheck(f && fgets(line, sizeof(line), f), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s says nothing", command);
  mirrored = (PetscBool)(strstr(line, "general") == NULL);
  while (line[0] == '%' && fgets(line, sizeof(line), f)) continue;
  PetscCheck(sscanf(line, "%lld %lld %lld", &m, &n, &entries) == 3, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s: no sizes: %s", command, line);
  *p = (Pattern){.m = (PetscInt)m, .n = (PetscInt)n, .bs = 1};
  PetscCall(PetscMalloc1(4 * entries, &pair));
  PetscCall(PetscCalloc1(m + 2, &p->i));
  while (fgets(line, sizeof(line), f)) {
    if (sscanf(line, "%lld %lld", &r, &c) != 2) continue;
    for (int twice = 0; twice < (mirrored && r != c ? 2 : 1); twice++) {
      pair[2 * count]       = (PetscInt)(twice ? c : r) - 1;
      pair[2 * count++ + 1] = (PetscInt)(twice ? r : c) - 1;
    }
  }
  PetscCheck(!pclose(f), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s failed", command);
  p->j = (PetscInt *)malloc((size_t)(count + 1) * sizeof(PetscInt));
  for (PetscInt k = 0; k < count; k++) p->i[pair[2 * k] + 2]++;
  for (PetscInt k = 0; k < p->m; k++) p->i[k + 2] += p->i[k + 1];
  for (PetscInt k = 0; k < count; k++) p->j[p->i[pair[2 * k] + 1]++] = pair[2 * k + 1];
  for (PetscInt k = 0; k < p->m; k++) qsort(p->j + p->i[k], (size_t)(p->i[k + 1] - p->i[k]), sizeof(PetscInt), CompareColumns);
  PetscCall(PetscFree(pair));
  PetscFunctionReturn(0);
}

/* The matrix of a name, of PETSc's type; it refers to the pattern */
static PetscErrorCode MatrixCreate(const char name[], Pattern *p, Mat *A)
{
  char        kind[32]  = "";
  PetscInt    number[4] = {0}, m = PETSC_DECIDE, n = PETSC_DECIDE, M, N, first = 0, count = 0;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  (void)sscanf(name, "%31[^:]", kind);
  for (const char *at = strchr(name, ':'); at && count < 4; at = strchr(at + 1, ':'))
    number[count++] = (PetscInt)strtol(at + 1, NULL, 10);
  if (!strcmp(kind, "file")) PetscCall(PatternRead(name + strlen("file:"), p));
  else PetscCall(PatternGenerate(kind, number, p));
  M = p->m / p->bs;
  N = p->n / p->bs;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &m, &M));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &n, &N));
  m *= p->bs;
  n *= p->bs;
  PetscCallMPI(MPI_Exscan(&m, &first, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscMalloc1(m + 1, &p->mine));
  for (PetscInt r = 0; r <= m; r++) p->mine[r] = p->i[first + r] - p->i[first];
  PetscCall(PetscMalloc1(p->mine[m], &p->a));
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = p->mine[r]; k < p->mine[r + 1]; k++) {
      const PetscInt column = p->j[p->i[first] + k];

      p->a[k] = p->mirrored ? MirroredOf(first + r, column, number[2]) : NumberOf(99, first + r, column);
    }
  }
  if (size == 1) PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, n, p->mine, p->j, p->a, A));
  else
    PetscCall(
      MatCreateMPIAIJWithArrays(PETSC_COMM_WORLD, m, n, PETSC_DETERMINE, PETSC_DETERMINE, p->mine, p->j + p->i[first], p->a, A));
  if (p->bs > 1) PetscCall(MatSetBlockSize(*A, p->bs));
  PetscFunctionReturn(0);
}

static PetscErrorCode MatrixDestroy(Pattern *p, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(A));
  PetscCall(PetscFree(p->i));
  free(p->j);
  PetscCall(PetscFree(p->mine));
  PetscCall(PetscFree(p->a));
  *p = (Pattern){0};
  PetscFunctionReturn(0);
}

/* What a user says of a matrix, after each conversion of it */
static PetscErrorCode MatrixDeclare(const char name[], Mat A)
{
  PetscFunctionBegin;
  if (strncmp(name, "declared:", 9)) PetscFunctionReturn(0);
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscFunctionReturn(0);
}

/* What MatrixRenew() changes of a matrix: columns[row], or -1; and whether MatSetValues() can, which needs sorted rows */
static PetscErrorCode RowsLook(Mat A, PetscInt first, PetscInt end, PetscInt columns[], PetscBool *sorted)
{
  PetscBool set = PETSC_FALSE, symmetric = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
  *sorted = PETSC_TRUE;
  for (PetscInt row = first; row < end; row++) {
    const PetscInt *j;
    PetscInt        n;

    PetscCall(MatGetRow(A, row, &n, &j, NULL));
    for (PetscInt k = 1; k < n; k++) *sorted = (PetscBool)(*sorted && j[k - 1] < j[k]);
    columns[row - first] = n && row % 7 == 3 ? set && symmetric ? row : j[n / 2] : -1; /* it is to stay symmetric */
    PetscCall(MatRestoreRow(A, row, &n, &j, NULL));
  }
  PetscFunctionReturn(0);
}

/* New values: all are scaled, and an entry of every seventh row is another */
static PetscErrorCode MatrixRenew(Mat A)
{
  PetscInt     first, end, *columns;
  PetscBool    sorted = PETSC_TRUE;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatScale(A, (PetscScalar)1.7));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  PetscCall(PetscMalloc1(end - first, &columns));
  PetscCall(RowsLook(A, first, end, columns, &sorted));
  for (PetscInt row = first; row < end && sorted; row++) {
    if (columns[row - first] >= 0)
      PetscCall(MatSetValue(A, row, columns[row - first], NumberOf(98, row, columns[row - first]), INSERT_VALUES));
  }
  PetscCall(PetscFree(columns));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (sorted) PetscFunctionReturn(0);
  PetscCall(MatSeqAIJGetArray(A, &a)); /* no parallel matrix is made unsorted */
  a[0] = NumberOf(98, 0, 0);
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscFunctionReturn(0);
}
