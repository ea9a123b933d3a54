/*
  machine.h - what is known of the machine: its caches, what they hold of a matrix, how fast a core is

  Formats, the glue and the tuner read it; SpmvMachineGet() fills it once. Without the user's file `cache`, `last` and `streams`
  are what the system tells, and the rest is of the processor that is most like it (machine.c). Plans depend on it, and on
  `learnt` how a transposed product of csradaptive rounds.
*/
#pragma once
#include "../spmvimpl.h"
#include <stdio.h>

#define SPMV_LEVELS 4 /* of memory: three caches and what lies behind them */

/* SpmvMachine: each field is a line of the user's file */
typedef struct {
  PetscLogDouble cache[SPMV_LEVELS - 1]; /* bytes of each cache that a core may count on: of the last, which is shared, a part */
  PetscLogDouble far;                    /* 1: the last cache has half of the second one's bandwidth at most; else 0 */
  PetscLogDouble last;                   /* bytes that the last cache is likely to hold of one process's product */
  PetscLogDouble cached;                 /* entries of a matrix that are likely to stay in cache from one product to the next */
  PetscLogDouble uncached;               /* entries of a matrix that no cache holds */
  PetscLogDouble column;                 /* entries of a vector that are likely to stay in cache beside other vectors */
  PetscLogDouble learnt;                 /* rows whose ends the branch predictor may know from one product to the next */
  PetscLogDouble parallel;               /* entries that one thread has multiplied before others have begun */
  PetscLogDouble streams;                /* cores whose products may read memory at once, each as fast as one's alone */

  /*
    Rates of one core, in nanoseconds. Translation of addresses is in `line`, which is fitted with x in pages as PETSc gets
    them: huge ones make random entries of x 1.0 to 1.14 times as fast to load for 0.5 to 64 MB of it, and 1.28 times for 128
    (Granite Rapids)
  */
  PetscLogDouble byte[SPMV_LEVELS]; /* to read a byte, one after the other, from each level */
  PetscLogDouble line[SPMV_LEVELS]; /* to read an entry of x from a line that is in no level before this one */
  PetscLogDouble cycle;
  PetscLogDouble miss;                /* a mispredicted branch */
  PetscLogDouble vector;              /* to multiply and add eight scalars, of real numbers in double precision */
  PetscLogDouble gathered;            /* to load one entry of x into a vector */
  PetscLogDouble pieces;              /* to load four pieces of x, of four entries each, to pick from */
  PetscLogDouble blocked;             /* what loops over dense blocks do in a cycle of Zen 4: less where vectors are whole */
  PetscLogDouble isa[SPMV_ISA_COUNT]; /* by how much all of a format's work is slower than with the best instruction set */
} SpmvMachine;

/* SpmvCaches: the data caches of the first processor, 0 where the system does not tell */
typedef struct {
  size_t   bytes[SPMV_LEVELS - 1];
  PetscInt ways; /* of the last: lines that share a place */
} SpmvCaches;

/* Whether the branch predictor may know so many branches from one product to the next */
static inline PetscBool SpmvMachineKnows(const SpmvMachine *machine, PetscLogDouble branches)
{
  return (PetscBool)(branches <= machine->learnt);
}

/* The lines that so many bytes of a cache have room for, at most 2^30; a power of two */
static inline PetscInt SpmvMachineLines(PetscLogDouble bytes)
{
  PetscInt lines = 1;

  while (lines < (PetscInt)1 << 30 && 2 * (PetscLogDouble)lines * SPMV_CACHE_LINE <= bytes) lines *= 2;
  return lines;
}

/* The line of x that a column is in, counted from 1 */
static inline int32_t SpmvMachineLine(PetscInt column)
{
  return 1 + (int32_t)((size_t)column * sizeof(PetscScalar) / SPMV_CACHE_LINE);
}

/* machine.c */
extern const SpmvMachine *SpmvMachineGet(void);
extern PetscInt           SpmvMachineProcessors(void);
extern PetscLogDouble     SpmvMachineHeld(void);
extern PetscLogDouble     SpmvMachineCrowd(PetscLogDouble threads);
extern void               SpmvMachineAlone(PetscBool alone);
extern void               SpmvMachineSet(const SpmvMachine *machine);
extern void               SpmvMachineBuiltin(SpmvIsa isa, const SpmvCaches *caches, SpmvMachine *machine);
extern void               SpmvMachineAssumed(SpmvMachine *machine);
extern void               SpmvMachineFile(char file[], size_t size);
extern PetscBool          SpmvMachineRead(const char file[], SpmvMachine *machine, char why[], size_t size);
extern void               SpmvMachineWrite(const SpmvMachine *machine, FILE *f);

/* caches.c */
extern void SpmvCachesAsk(SpmvCaches *caches);
extern void SpmvCachesRead(const char folder[], SpmvCaches *caches);

/* Whether a cache of a core's own has a matrix, as rows with their columns */
static inline PetscBool SpmvMachineHasRows(const SpmvCSR *csr)
{
  const PetscLogDouble bytes = (PetscLogDouble)csr->i[csr->m] * (sizeof(PetscScalar) + sizeof(PetscInt));

  return (PetscBool)(bytes <= SpmvMachineGet()->cache[1]);
}
