/*
  p2.c - quadratic finite elements for a scalar on N x N x N cubes of six tetrahedra

  A row for each corner of a tetrahedron and each midpoint of an edge, (2 N + 1)^3 in all, of 10 to 65 entries. The pattern is
  that of a stiffness matrix; values are random.
*/
#include "spmvbench.h"
#include <math.h>

#define P2_CUBE   230 /* entries of the rows of a cube inside: 65 of its corner, 27 or 19 of each of seven midpoints */
#define P2_PLACES 125 /* 5 x 5 x 5 places, with the node in the middle */

/* The ten nodes of tetrahedron t of a cube: corners on a path along the axes in one of six orders, midpoints. Places are
   doubled */
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

/* Which places around a node have another node of one of its tetrahedra */
static void P2Neighbours(PetscInt N, const PetscInt at[3], PetscBool neighbour[P2_PLACES])
{
  for (int k = 0; k < P2_PLACES; k++) neighbour[k] = PETSC_FALSE;
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

PetscErrorCode BenchGenerateP2(PetscInt N, BenchMatrix *M)
{
  const PetscInt l = 2 * N + 1; /* nodes of an edge of the whole */

  PetscFunctionBegin;
  PetscCall(BenchMatrixStart(M, pow(2. * N + 1, 3), pow(2. * N + 1, 3), P2_CUBE * pow(N + 1., 3)));
  for (PetscInt r = 0; r < M->m; r++) {
    const PetscInt at[]  = {r % l, r / l % l, r / l / l};
    uint64_t       state = 12ull << 48 ^ (uint64_t)r;
    PetscBool      neighbour[P2_PLACES];

    P2Neighbours(N, at, neighbour);
    for (PetscInt k = 0; k < P2_PLACES; k++) {
      const PetscInt x = at[0] + k % 5 - 2, y = at[1] + k / 5 % 5 - 2, z = at[2] + k / 25 - 2;

      if (neighbour[k]) BenchPush(M, r, (z * l + y) * l + x, BenchSigned(&state));
    }
    PetscCall(BenchMatrixRowEnd(M, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
