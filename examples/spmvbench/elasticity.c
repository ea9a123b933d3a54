/*
  elasticity.c - 3-D linear elasticity, trilinear finite elements on a cube of N x N x N nodes

  3 rows a node (MatSetBlockSize() is told 3), 27 neighbours: 81 entries a row inside, 9 (3 N - 2)^3 in all. Each element has
  a stiffness of its own, from 0.1 to 10, so that few values are equal. No boundary conditions: nothing is solved.

  Stiffness of an element: the integral of B^T D B, by 2 x 2 x 2 Gauss points; B takes displacements to strains.
*/
#include "spmvbench.h"
#include <math.h>

#define NU 0.3 /* Poisson's ratio */

/* strain[6][24]: strains xx, yy, zz, xy, yz, zx of the displacements of 8 corners, at a point of the unit cube */
static void StrainAt(const double point[3], double strain[6][24])
{
  for (int s = 0; s < 6; s++) {
    for (int k = 0; k < 24; k++) strain[s][k] = 0;
  }
  for (int corner = 0; corner < 8; corner++) {
    double gradient[3];

    for (int d = 0; d < 3; d++) {
      gradient[d] = corner >> d & 1 ? 1 : -1;
      for (int e = 0; e < 3; e++) {
        if (e != d) gradient[d] *= corner >> e & 1 ? point[e] : 1 - point[e];
      }
    }
    for (int d = 0; d < 3; d++) {
      int next = (d + 1) % 3;

      strain[d][3 * corner + d]        = gradient[d];
      strain[3 + d][3 * corner + d]    = gradient[next];
      strain[3 + d][3 * corner + next] = gradient[d];
    }
  }
}

/* The stiffness of an element whose modulus is 1 */
static void ElementStiffness(double K[24][24])
{
  const double lambda = NU / ((1 + NU) * (1 - 2 * NU)), mu = 0.5 / (1 + NU);
  double       strain[6][24];

  for (int p = 0; p < 24; p++) {
    for (int q = 0; q < 24; q++) K[p][q] = 0;
  }
  for (int gauss = 0; gauss < 8; gauss++) {
    double point[3];

    for (int d = 0; d < 3; d++) point[d] = 0.5 + (gauss >> d & 1 ? 0.5 : -0.5) / sqrt(3);
    StrainAt(point, strain);
    for (int p = 0; p < 24; p++) {
      for (int q = 0; q < 24; q++) {
        double sum = 0;

        for (int s = 0; s < 3; s++) {
          for (int t = 0; t < 3; t++) sum += strain[s][p] * (lambda + (s == t ? 2 * mu : 0)) * strain[t][q];
          sum += mu * strain[3 + s][p] * strain[3 + s][q];
        }
        K[p][q] += sum / 8;
      }
    }
  }
}

static double ElementModulus(PetscInt element)
{
  uint64_t state = 7ull << 48 ^ (uint64_t)element;

  return pow(10, 2 * BenchUniform(&state) - 1);
}

/* block[27][3][3]: what couples node (x, y, z) with its neighbours, by the 8 elements around it */
static void NodeBlocks(PetscInt N, const PetscInt node[3], double K[24][24], double block[27][3][3])
{
  for (int k = 0; k < 27; k++) {
    for (int r = 0; r < 9; r++) block[k][r / 3][r % 3] = 0;
  }
  for (int corner = 0; corner < 8; corner++) {
    PetscInt  element[3];
    PetscBool inside = PETSC_TRUE;
    double    modulus;

    for (int d = 0; d < 3; d++) {
      element[d] = node[d] - (corner >> d & 1); /* the element of which this node is that corner */
      if (element[d] < 0 || element[d] >= N - 1) inside = PETSC_FALSE;
    }
    if (!inside) continue;
    modulus = ElementModulus((element[2] * N + element[1]) * N + element[0]);
    for (int other = 0; other < 8; other++) {
      int k = 0;

      for (int d = 2; d >= 0; d--) k = 3 * k + 1 + (other >> d & 1) - (corner >> d & 1);
      for (int r = 0; r < 9; r++) block[k][r / 3][r % 3] += modulus * K[3 * corner + r / 3][3 * other + r % 3];
    }
  }
}

PetscErrorCode BenchGenerateElasticity(PetscInt N, BenchMatrix *M)
{
  double K[24][24], block[27][3][3];

  PetscFunctionBegin;
  PetscCheck(N >= 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " node makes no element; choose 2 or more", N);
  PetscCall(BenchMatrixStart(M, 3 * pow(N, 3), 3 * pow(N, 3), 9 * pow(3. * N - 2, 3)));
  M->bs = 3;
  ElementStiffness(K);
  for (PetscInt p = 0; p < N * N * N; p++) {
    const PetscInt node[] = {p % N, p / N % N, p / N / N};

    NodeBlocks(N, node, K, block);
    for (int r = 0; r < 3; r++) {
      for (int k = 0; k < 27; k++) {
        const PetscInt x = node[0] + k % 3 - 1, y = node[1] + k / 3 % 3 - 1, z = node[2] + k / 9 - 1;

        if (x < 0 || y < 0 || z < 0 || x >= N || y >= N || z >= N) continue;
        for (int c = 0; c < 3; c++) BenchPush(M, 3 * p + r, 3 * ((z * N + y) * N + x) + c, block[k][r][c]);
      }
      PetscCall(BenchMatrixRowEnd(M, 3 * p + r));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
