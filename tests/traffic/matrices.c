/*
  matrices.c - the matrices that the traffic of formats is compared on, small enough to be multiplied by the emulated driver

  unit:N  the unit matrix, and those of examples/spmvbench/generate.c
*/
#include "traffic.h"

/* laplace7:48 has more columns than 16 bits can number, laplace7:40 has fewer */
const char *const TrafficMatrices[] = {
  "elasticity:16", "laplace7:40",     "laplace7:48", "laplace27:24", "p2:8", "powerlaw:60000",
  "lpwide:50000",  "longrow:1000000", NULL};

static PetscErrorCode MatrixUnit(PetscInt N, BenchMatrix *M)
{
  PetscFunctionBegin;
  M->m = M->n = N;
  PetscCall(PetscMalloc1(N + 1, &M->i));
  PetscCall(PetscMalloc1(N, &M->j));
  PetscCall(PetscMalloc1(N, &M->a));
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
  const PetscInt number = strncmp(description, "unit:", 5) ? 0 : (PetscInt)atoi(description + 5);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(M, sizeof(*M)));
  M->bs = 1;
  if (number > 0) PetscCall(MatrixUnit(number, M));
  else PetscCall(BenchMatrixGenerate(description, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
