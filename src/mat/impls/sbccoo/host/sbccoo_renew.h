/*
  sbccoo_renew.h - where the rows of a storage are in its arrays, for new values
*/
#pragma once
#include "sbccoo_walk_scalars.h"

/* Where the next row is in the arrays */
typedef struct {
  PetscScalar *value, *both;
  int8_t      *code;
  uint16_t    *index;
  SbccooFars   fars;
  size_t       far; /* pairs so far that are in the rest since they are not told */
} RenewPlace;

/* A row of scalars, where it is stored */
typedef struct {
  RenewPlace     at;
  const uint8_t *mask;
  PetscScalar   *mate; /* of the chunk's second entries, those of the row */
  PetscInt       count[3];
  PetscBool      wide;
} RenewRow;

/*
  Where the rows of a chunk of n are, from `at` on, with codes of so many bytes; returns what the next chunk begins with. row: as
  SbccooStorage's, of the chunk. mate: room for the second entries of its pairs
*/
static inline RenewPlace RenewFind(size_t codesize, PetscScalar *mate, const uint8_t row[], const uint8_t **mask, PetscInt n,
                                   RenewPlace at, RenewRow rows[])
{
  const PetscScalar *first = at.value;

  for (PetscInt done = 0; done < n;) {
    const uint16_t word = *at.index++;
    const PetscInt end  = done + (row ? *at.index++ : 1);

    for (; done < end; done++) {
      RenewRow *r     = rows + (row ? row[done] : done);
      size_t    pairs = 0;

      r->wide = (PetscBool)(word == SBCCOO_WIDE);
      SbccooCounts(word, (PetscBool)(row != NULL), r->count);
      if (PetscUnlikely(r->wide)) {
        for (int c = 0; c < 3; c++) r->count[c] = (PetscInt)SbccooNumber(at.index, c, PETSC_TRUE);
        at.index += 6;
      }
      r->at   = at;
      r->mate = mate + (at.value - first);
      r->mask = *mask;
      for (PetscInt p = 0; p < r->count[0]; p++) pairs += (size_t)__builtin_popcount(*(*mask)++);
      pairs += (size_t)r->count[1];
      at.value += pairs;
      if (at.code) at.code += pairs * SBCCOO_CODES * codesize;
      at.both += 2 * r->count[2];
      at.index += (r->wide ? 2 : 1) * (r->count[0] + r->count[1] + r->count[2]);
    }
  }
  return at;
}
