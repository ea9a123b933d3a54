/*
  pmf_near.c - steps that have their entries of x near each other

  Eight loads of x for each step are what a product in cache waits for. Rows of the unknowns of one node have the same columns,
  in short pieces, the unknowns of another node. So what the eight rows of a slice have in several steps is in a few pieces of x:
  those are loaded once, and what each lane has of them is taken from registers.
*/
#include "pmf_host.h"

/* Bit l: row l has the same columns as row l - 1 in the first `full` steps; 0 if more rows differ than there are pieces */
unsigned PmfNearSame(const PetscInt *const j[], PetscInt full)
{
  unsigned same = 0;
  int      rows = 1;

  for (int l = 1; l < PMF_LANES; l++) {
    const unsigned is = j[l][0] == j[l - 1][0] && !memcmp(j[l], j[l - 1], sizeof(PetscInt) * (size_t)full);

    rows += !is;
    if (rows > PMF_NEAR_PIECES) return 0;
    same |= is << l;
  }
  return same;
}

/* See PmfNearFind(); near: NULL if only whether there are any is asked, which two copies of this are faster at */
static inline __attribute__((always_inline)) PetscBool PmfNearWalk(const PetscInt *const j[], unsigned same, PetscInt k,
                                                                   PetscInt steps, PetscInt n, PmfNear *near)
{
  uint32_t place[PMF_NEAR_MAX] = {0};
  PetscInt piece               = 0;
  int      pieces              = 0;

  for (int l = 0; l < PMF_LANES; l++) {
    for (PetscInt s = 0; s < steps && !(same >> l & 1); s++) {
      const PetscInt column = j[l][k + s];

      if (s == 0 || column >= piece + PMF_NEAR_LENGTH) {
        if (pieces == PMF_NEAR_PIECES) return PETSC_FALSE;
        piece = PetscMin(column, n - PMF_NEAR_LENGTH);
        if (near) near->piece[pieces] = (int32_t)piece;
        pieces++;
      }
      place[s] = (uint32_t)(PMF_NEAR_LENGTH * (pieces - 1) + column - piece);
    }
    for (PetscInt s = 0; s < steps && near; s++) near->word[s] |= place[s] << 4 * l;
  }
  return PETSC_TRUE;
}

/* Pieces of x, of n entries, with the columns of eight rows in steps [k, k + steps); false if four do not do; same is not 0 */
PetscBool PmfNearFind(const PetscInt *const j[], unsigned same, PetscInt k, PetscInt steps, PetscInt n, PmfNear *near)
{
  memset(near, 0, sizeof(*near));
  return PmfNearWalk(j, same, k, steps, n, near);
}

/* How many times so many of the full steps of a slice can share pieces of x */
int32_t PmfNearCount(const PetscInt *const j[], unsigned same, PetscInt full, PetscInt steps, PetscInt n)
{
  int32_t times = 0;

  if (!same || n < PMF_NEAR_LENGTH) return 0;
  for (PetscInt k = 0; k + steps <= full;) {
    const PetscBool is = PmfNearWalk(j, same, k, steps, n, NULL);

    times += is;
    k += is ? steps : 1;
  }
  return times;
}
