/*
  matrices.c - the matrices that the traffic of formats is compared on, small enough to be multiplied by the emulated driver

  p2:N       quadratic finite elements on N x N x N cubes of six tetrahedra: 11 to 65 entries a row
  unit:N     the unit matrix
  longrow:N  one row of N entries, in the midst of N / 50 rows of 5
  and those of examples/spmvbench/generate.c
*/
#include "traffic.h"

const char *const TrafficMatrices[] = {"elasticity:16",  "laplace7:40",  "laplace27:24",    "p2:8",
                                       "powerlaw:60000", "lpwide:50000", "longrow:1000000", NULL};

/* The ten nodes of tetrahedron t of a cube: corners on a path along the axes in one of six orders, midpoints. Places are doubled */
static void TetrahedronNodes(int t, PetscInt node[10][3])
{
  static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int              n           = 4;

  for (int d = 0; d < 3; d++) node[0][d] = 0;
  for (int c = 1; c < 4; c++) {
    for (int d = 0; d < 3; d++) node[c][d] = node[c - 1][d];
    node[c][order[t][c - 1]] += 2;
  }
  for (int c = 0; c < 4; c++) {
    for (int b = 0; b < c; b++, n++) {
      for (int d = 0; d < 3; d++) node[n][d] = (node[c][d] + node[b][d]) / 2;
    }
  }
}

/* Which nodes of the eight cubes around a node, at (2, 2, 2) of 5 x 5 x 5 places, are of a tetrahedron that has it, too */
static void P2Neighbours(PetscInt N, const PetscInt at[3], PetscBool neighbour[125])
{
  PetscCallAbort(PETSC_COMM_SELF, PetscArrayzero(neighbour, 125));
  for (int cube = 0; cube < 8; cube++) {
    PetscInt  first[3]; /* corner of a cube that has the node */
    PetscBool inside = PETSC_TRUE;

    for (int d = 0; d < 3; d++) {
      first[d] = at[d] / 2 * 2 - (cube >> d & 1 ? 2 : 0);
      if (first[d] < 0 || first[d] + 2 > 2 * N || at[d] > first[d] + 2) inside = PETSC_FALSE;
    }
    for (int t = 0; inside && t < 6; t++) {
      PetscInt  node[10][3];
      PetscBool has = PETSC_FALSE;

      TetrahedronNodes(t, node);
      for (int k = 0; k < 10; k++)
        has = (PetscBool)(has ||
                          (first[0] + node[k][0] == at[0] && first[1] + node[k][1] == at[1] && first[2] + node[k][2] == at[2]));
      for (int k = 0; has && k < 10; k++) {
        PetscInt place = 0;

        for (int d = 2; d >= 0; d--) place = 5 * place + first[d] + node[k][d] - at[d] + 2;
        neighbour[place] = PETSC_TRUE;
      }
    }
  }
}

static PetscErrorCode MatrixP2(PetscInt N, BenchMatrix *M)
{
  const PetscInt L = 2 * N + 1, rows = L * L * L;

  PetscFunctionBegin;
  M->m = M->n = rows;
  PetscCall(PetscMalloc3(rows + 1, &M->i, 65 * rows, &M->j, 65 * rows, &M->a));
  M->i[0] = 0;
  for (PetscInt r = 0; r < rows; r++) {
    const PetscInt at[] = {r % L, r / L % L, r / L / L};
    PetscBool      neighbour[125];

    P2Neighbours(N, at, neighbour);
    M->i[r + 1] = M->i[r];
    for (PetscInt k = 0; k < 125; k++) {
      if (neighbour[k]) M->j[M->i[r + 1]++] = ((at[2] + k / 25 - 2) * L + at[1] + k / 5 % 5 - 2) * L + at[0] + k % 5 - 2;
    }
  }
  PetscCall(SpmvTestVector(M->i[rows], M->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatrixLongRow(PetscInt N, BenchMatrix *M)
{
  const PetscInt rows = N / 50 + 1, entries = N + 5 * (rows - 1);
  PetscInt       n = 0;

  PetscFunctionBegin;
  M->m = rows;
  M->n = N;
  PetscCall(PetscMalloc3(rows + 1, &M->i, entries, &M->j, entries, &M->a));
  M->i[0] = 0;
  for (PetscInt r = 0; r < rows; r++) {
    if (r == rows / 2) {
      for (PetscInt c = 0; c < N; c++) M->j[n++] = c;
    } else {
      for (PetscInt c = 0; c < 5; c++) M->j[n++] = 10 * r + c;
    }
    M->i[r + 1] = n;
  }
  PetscCall(SpmvTestVector(n, M->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatrixUnit(PetscInt N, BenchMatrix *M)
{
  PetscFunctionBegin;
  M->m = M->n = N;
  PetscCall(PetscMalloc3(N + 1, &M->i, N, &M->j, N, &M->a));
  for (PetscInt r = 0; r <= N; r++) M->i[r] = r;
  for (PetscInt r = 0; r < N; r++) {
    M->j[r] = r;
    M->a[r] = 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its arrays stay until the program ends */
PetscErrorCode TrafficMatrix(const char description[], BenchMatrix *M)
{
  const char *colon  = strchr(description, ':');
  PetscInt    number = colon ? (PetscInt)atoi(colon + 1) : 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(M, sizeof(*M)));
  M->bs = 1;
  if (!strncmp(description, "p2:", 3) && number > 0) PetscCall(MatrixP2(number, M));
  else if (!strncmp(description, "unit:", 5) && number > 0) PetscCall(MatrixUnit(number, M));
  else if (!strncmp(description, "longrow:", 8) && number >= 50) PetscCall(MatrixLongRow(number, M));
  else PetscCall(BenchMatrixGenerate(description, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
