/*
  generate.c - matrices that no file is needed for, the same on every machine and in every run

  dense:N        N x N, all entries stored
  laplace7:N     7 points on an N x N x N grid, 6 and -1
  laplace7var:N  the same with a coefficient of its own for each face, from 0.1 to 10
  laplace27:N    27 points, 26 and -1
  elasticity:N   see elasticity.c
  p2:N           see p2.c
  qcd:L          lattice QCD on L^4 sites, 12 rows a site in 3 x 3 blocks, 39 entries a row: real instead of complex numbers
  powerlaw:N     as a web graph: a quarter of the rows empty, others up to N / 20 long, hubs among the columns
  permutation:N  one entry, 1, in each row and column
  lpwide:N       a linear program's constraints: 400 rows, N columns of 2 to 14 small integers
  uniform:N      8 entries in each of N rows, in columns at random: no product finds the x that it needs nearby
  longrow:N      one row of N entries, in the middle of N / 50 rows of 5
*/
#include "spmvbench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows, one after the other ---- */

/* Begins a matrix of m x n with room for `entries`, which may be too many but not too few */
PetscErrorCode BenchMatrixStart(BenchMatrix *M, double m, double n, double entries)
{
  PetscFunctionBegin;
  PetscCheck(PetscMax(PetscMax(m, n), entries) <= (double)PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%.0f x %.0f with %.0f entries is too large for this PETSc's indices; choose a smaller number", m, n, entries);
  M->m = (PetscInt)m;
  M->n = (PetscInt)n;
  PetscCall(PetscMalloc1(M->m + 2, &M->i));
  PetscCall(PetscMalloc1((size_t)entries, &M->j));
  PetscCall(PetscMalloc1((size_t)entries, &M->a));
  M->i[0] = M->i[1] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row r has all its entries: sorts them, and sums those of one column */
PetscErrorCode BenchMatrixRowEnd(BenchMatrix *M, PetscInt r)
{
  const PetscInt first = M->i[r], end = M->i[r + 1];
  PetscInt       kept = first;

  PetscFunctionBegin;
  PetscCall(PetscSortIntWithScalarArray(end - first, M->j + first, M->a + first));
  for (PetscInt k = first; k < end; k++) {
    if (k > first && M->j[k] == M->j[kept - 1]) M->a[kept - 1] += M->a[k];
    else {
      M->j[kept]   = M->j[k];
      M->a[kept++] = M->a[k];
    }
  }
  M->i[r + 1] = M->i[r + 2] = kept;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A random sequence that belongs to one thing, say a row: begun anew it is the same */
static uint64_t BenchSeed(uint64_t kind, uint64_t number)
{
  uint64_t state = kind << 48 ^ number;

  return BenchRandom(&state);
}

/* ---- the kinds ---- */

static PetscErrorCode GenerateDense(PetscInt N, BenchMatrix *M)
{
  PetscFunctionBegin;
  PetscCall(BenchMatrixStart(M, N, N, (double)N * N));
  for (PetscInt r = 0; r < N; r++) {
    uint64_t state = BenchSeed(1, (uint64_t)r);

    for (PetscInt c = 0; c < N; c++) BenchPush(M, r, c, BenchSigned(&state));
    PetscCall(BenchMatrixRowEnd(M, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficient of the face above cell p in one of three directions; of the face below the first cell with `outer` set */
static double FaceCoefficient(PetscInt p, int direction, PetscBool outer)
{
  uint64_t state = BenchSeed(2, 8 * (uint64_t)p + (uint64_t)direction + (outer ? 4 : 0));

  return pow(10, 2 * BenchUniform(&state) - 1);
}

static PetscErrorCode GenerateLaplace7(PetscInt N, PetscBool variable, BenchMatrix *M)
{
  const PetscInt stride[] = {1, N, N * N};
  PetscInt       r        = 0;

  PetscFunctionBegin;
  for (PetscInt z = 0; z < N; z++) {
    for (PetscInt y = 0; y < N; y++) {
      for (PetscInt x = 0; x < N; x++, r++) {
        const PetscInt at[]     = {x, y, z};
        double         diagonal = 0;

        for (int d = 0; d < 3; d++) {
          PetscBool first = (PetscBool)(at[d] == 0), last = (PetscBool)(at[d] == N - 1);
          double    below = variable ? FaceCoefficient(first ? r : r - stride[d], d, first) : 1,
                 above    = variable ? FaceCoefficient(r, d, PETSC_FALSE) : 1;

          diagonal += below + above;
          if (!first) BenchPush(M, r, r - stride[d], -below);
          if (!last) BenchPush(M, r, r + stride[d], -above);
        }
        BenchPush(M, r, r, diagonal);
        PetscCall(BenchMatrixRowEnd(M, r));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GenerateLaplace7Constant(PetscInt N, BenchMatrix *M)
{
  PetscFunctionBegin;
  PetscCall(BenchMatrixStart(M, pow(N, 3), pow(N, 3), 7 * pow(N, 3) - 6 * pow(N, 2)));
  PetscCall(GenerateLaplace7(N, PETSC_FALSE, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GenerateLaplace7Variable(PetscInt N, BenchMatrix *M)
{
  PetscFunctionBegin;
  PetscCall(BenchMatrixStart(M, pow(N, 3), pow(N, 3), 7 * pow(N, 3) - 6 * pow(N, 2)));
  PetscCall(GenerateLaplace7(N, PETSC_TRUE, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GenerateLaplace27(PetscInt N, BenchMatrix *M)
{
  PetscInt r = 0;

  PetscFunctionBegin;
  PetscCall(BenchMatrixStart(M, pow(N, 3), pow(N, 3), pow(3. * N - 2, 3)));
  for (PetscInt z = 0; z < N; z++) {
    for (PetscInt y = 0; y < N; y++) {
      for (PetscInt x = 0; x < N; x++, r++) {
        for (PetscInt c = PetscMax(z - 1, 0); c <= PetscMin(z + 1, N - 1); c++) {
          for (PetscInt b = PetscMax(y - 1, 0); b <= PetscMin(y + 1, N - 1); b++) {
            for (PetscInt a = PetscMax(x - 1, 0); a <= PetscMin(x + 1, N - 1); a++)
              BenchPush(M, r, (c * N + b) * N + a, a == x && b == y && c == z ? 26 : -1);
          }
        }
        PetscCall(BenchMatrixRowEnd(M, r));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One 3 x 3 block: rows of `site` and `spin`, columns of `other` and `partner`; the link between the sites, or its transpose */
static void QcdBlock(BenchMatrix *M, PetscInt row, PetscInt column, uint64_t link, PetscBool transpose, double factor)
{
  double u[3][3];

  for (int p = 0; p < 3; p++) {
    for (int q = 0; q < 3; q++) u[p][q] = factor * BenchSigned(&link);
  }
  for (int p = 0; p < 3; p++) {
    for (int q = 0; q < 3; q++) BenchPush(M, row + p, column + q, transpose ? u[q][p] : u[p][q]);
  }
}

/*
  The hopping part of Wilson's operator with 4 spins and 3 colours, spins in Dirac's basis, where 1 -+ gamma_mu couples a
  spin to itself and one more in the three directions of space, and to itself alone in time: forwards for the upper two
  spins, backwards for the lower two. 6 x 2 + 1 blocks in each block row, as in the matrices conf5 and conf6 of QCD
*/
static PetscErrorCode GenerateQcd(PetscInt L, BenchMatrix *M)
{
  const PetscInt stride[] = {1, L, L * L, L * L * L};
  const double   sites    = pow(L, 4);
  PetscInt       width    = 39;

  PetscFunctionBegin;
  PetscCheck(L >= 3, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "on a lattice of %" PetscInt_FMT "^4 sites the neighbours of a site coincide; choose 3 or more", L);
  PetscCall(BenchMatrixStart(M, 12 * sites, 12 * sites, 12 * sites * width));
  M->bs = 3;
  for (PetscInt row = 0; row < M->m; row += 3) {
    const PetscInt site = row / 12, spin = row / 3 % 4;

    /* the pushes of a block go to three rows at once, so the cursors of all three stand where they will begin */
    for (int p = 0; p < 3; p++) M->i[row + p + 1] = (row + p) * width;
    for (int mu = 0; mu < 4; mu++) {
      const PetscInt at = site / stride[mu] % L, partner = mu == 2 ? (spin + 2) % 4 : 3 - spin;

      for (int sign = -1; sign <= 1; sign += 2) {
        PetscInt neighbour = site + ((at + sign + L) % L - at) * stride[mu];
        uint64_t link      = BenchSeed(3, 4 * (uint64_t)(sign > 0 ? site : neighbour) + (uint64_t)mu);

        if (mu == 3 && (sign > 0) != (spin < 2)) continue;
        QcdBlock(M, row, 12 * neighbour + 3 * spin, link, (PetscBool)(sign < 0), mu == 3 ? 2 : 1);
        if (mu < 3) QcdBlock(M, row, 12 * neighbour + 3 * partner, link, (PetscBool)(sign < 0), spin < 2 ? -sign : sign);
      }
    }
    for (int p = 0; p < 3; p++) PetscCall(PetscSortIntWithScalarArray(width, M->j + (row + p) * width, M->a + (row + p) * width));
  }
  M->i[M->m] = M->m * width;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a row before those of one column are united; the state goes on to the columns */
static PetscInt PowerlawLength(PetscInt N, uint64_t *state)
{
  double u = BenchUniform(state);

  if (u < 0.25) return 0;
  return (PetscInt)PetscMin(2 * pow((u - 0.25) / 0.75 + 1e-12, -1 / 1.4), PetscMax(N / 20, 2));
}

static PetscErrorCode GeneratePowerlaw(PetscInt N, BenchMatrix *M)
{
  double entries = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < N; r++) {
    uint64_t state = BenchSeed(4, (uint64_t)r);

    entries += (double)PowerlawLength(N, &state);
  }
  PetscCall(BenchMatrixStart(M, N, N, entries));
  for (PetscInt r = 0; r < N; r++) {
    uint64_t state  = BenchSeed(4, (uint64_t)r);
    PetscInt length = PowerlawLength(N, &state);

    for (PetscInt k = 0; k < length; k++) {
      double   near = BenchUniform(&state), u = BenchUniform(&state);
      int64_t  step = 1 + (int64_t)(8 * pow(u + 1e-12, -0.8)); /* pages of one site stand together */
      PetscInt hub  = (PetscInt)((uint64_t)(N * pow(u, 4)) * 2654435761u % (uint64_t)N);

      if (near < 0.3) step = -step;
      BenchPush(M, r, near < 0.6 ? (PetscInt)(((int64_t)r + step % N + N) % N) : hub, BenchSigned(&state));
    }
    PetscCall(BenchMatrixRowEnd(M, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What one row costs that is longer than all others together */
static PetscErrorCode GenerateLongrow(PetscInt N, BenchMatrix *M)
{
  const PetscInt rows = N / 50 + 1;

  PetscFunctionBegin;
  PetscCall(BenchMatrixStart(M, rows, N, N + 5. * (rows - 1)));
  for (PetscInt r = 0; r < rows; r++) {
    const PetscInt first = r == rows / 2 ? 0 : 10 * r, end = r == rows / 2 ? N : 10 * r + 5;
    uint64_t       state = BenchSeed(11, (uint64_t)r);

    for (PetscInt c = first; c < end; c++) BenchPush(M, r, c, BenchSigned(&state));
    PetscCall(BenchMatrixRowEnd(M, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GeneratePermutation(PetscInt N, BenchMatrix *M)
{
  uint64_t  state = BenchSeed(5, 0);
  PetscInt *column;

  PetscFunctionBegin;
  PetscCall(BenchMatrixStart(M, N, N, N));
  PetscCall(PetscMalloc1(N, &column));
  for (PetscInt k = 0; k < N; k++) column[k] = k;
  for (PetscInt k = N - 1; k > 0; k--) {
    PetscInt other = (PetscInt)(BenchRandom(&state) % (uint64_t)(k + 1)), keep = column[k];

    column[k]     = column[other];
    column[other] = keep;
  }
  for (PetscInt r = 0; r < N; r++) {
    BenchPush(M, r, column[r], 1);
    PetscCall(BenchMatrixRowEnd(M, r));
  }
  PetscCall(PetscFree(column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define LP_ROWS 400
#define LP_MOST 14 /* entries of a column, at most */

/* The rows of column c, without repetition, and how many there are; the state goes on to the values */
static PetscInt LpColumn(PetscInt c, PetscInt rows[], uint64_t *state)
{
  PetscInt count = 0, wanted;

  *state = BenchSeed(6, (uint64_t)c);
  wanted = 2 + (PetscInt)(BenchRandom(state) % (LP_MOST - 1));
  while (count < wanted) {
    double   u    = BenchUniform(state);
    PetscInt row  = (PetscInt)(LP_ROWS * u * u); /* some rows have many times the entries of others */
    PetscInt seen = 0;

    while (seen < count && rows[seen] != row) seen++;
    if (seen == count) rows[count++] = row;
  }
  return count;
}

static PetscErrorCode GenerateLpwide(PetscInt N, BenchMatrix *M)
{
  PetscInt rows[LP_MOST], count[LP_ROWS] = {0};
  uint64_t state;
  double   entries = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < N; c++) {
    PetscInt length = LpColumn(c, rows, &state);

    entries += (double)length;
    for (PetscInt k = 0; k < length; k++) count[rows[k]]++;
  }
  PetscCall(BenchMatrixStart(M, LP_ROWS, N, entries));
  /* i[r + 1] is where the next entry of row r goes: where the row begins now, and where it ends at last */
  for (PetscInt r = 1; r < LP_ROWS; r++) M->i[r + 1] = M->i[r] + count[r - 1];
  for (PetscInt c = 0; c < N; c++) {
    PetscInt length = LpColumn(c, rows, &state);

    for (PetscInt k = 0; k < length; k++) {
      double value = (double)(1 + BenchRandom(&state) % 9);

      BenchPush(M, rows[k], c, BenchRandom(&state) % 2 ? value : -value);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define UNIFORM_LENGTH 8

/* Entries of one column are united, so that a row may have fewer, above all in a small matrix */
static PetscErrorCode GenerateUniform(PetscInt N, BenchMatrix *M)
{
  PetscFunctionBegin;
  PetscCall(BenchMatrixStart(M, N, N, UNIFORM_LENGTH * (double)N));
  for (PetscInt r = 0; r < N; r++) {
    uint64_t state = BenchSeed(7, (uint64_t)r);

    for (int k = 0; k < UNIFORM_LENGTH; k++) {
      PetscInt column = (PetscInt)(BenchRandom(&state) % (uint64_t)N);

      BenchPush(M, r, column, BenchSigned(&state));
    }
    PetscCall(BenchMatrixRowEnd(M, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- all of them ---- */

static const struct {
  const char *name;
  PetscErrorCode (*generate)(PetscInt, BenchMatrix *);
} BenchKinds[] = {
  {"dense", GenerateDense},
  {"laplace7", GenerateLaplace7Constant},
  {"laplace7var", GenerateLaplace7Variable},
  {"laplace27", GenerateLaplace27},
  {"elasticity", BenchGenerateElasticity},
  {"p2", BenchGenerateP2},
  {"qcd", GenerateQcd},
  {"powerlaw", GeneratePowerlaw},
  {"permutation", GeneratePermutation},
  {"lpwide", GenerateLpwide},
  {"uniform", GenerateUniform},
  {"longrow", GenerateLongrow},
};

/*
  A matrix from its description, kind:number. PETSC_ERR_USER_INPUT if there is no such kind or the number is not one from 1
  on, PETSC_ERR_ARG_OUTOFRANGE if the matrix would be too large for PetscInt or too small to exist
*/
PetscErrorCode BenchMatrixGenerate(const char description[], BenchMatrix *M)
{
  char        known[256] = "", *end = NULL;
  const char *colon  = strchr(description, ':');
  long        number = colon ? strtol(colon + 1, &end, 10) : 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(M, sizeof(*M)));
  PetscCall(PetscStrncpy(M->name, description, sizeof(M->name)));
  M->bs = 1;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(BenchKinds); k++) {
    const char *name = BenchKinds[k].name;

    PetscCall(PetscStrlcat(known, k ? ", " : "", sizeof(known)));
    PetscCall(PetscStrlcat(known, name, sizeof(known)));
    if (!colon || (size_t)(colon - description) != strlen(name) || strncmp(description, name, strlen(name))) continue;
    PetscCheck(end > colon + 1 && !*end && number > 0 && number < 1000000000, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
               "'%s' is not a number from 1 to 999999999; write %s:100, say", colon + 1, name);
    PetscCall(BenchKinds[k].generate((PetscInt)number, M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "'%s' is none of %s, each with :N behind it", description, known);
}
