/*
  estimate.c - the time of a product, from the work of a sample and the rates of a machine; no clock is read
*/
#include "tune.h"

/* The level that so many bytes, read over and over, come from */
static int EstimateLevel(const SpmvMachine *machine, PetscLogDouble bytes)
{
  int level = 0;

  while (level < SPMV_LEVELS - 1 && bytes > machine->size[level]) level++;
  return level;
}

/*
  T = max(bytes from memory, work on them) + entries of x that are waited for

  `slower` is by how much the instruction set is slower than the best.

  Where a format goes through x part by part, `reach` bytes at a time, x comes from a cache that holds a part.
*/
static PetscLogDouble EstimateSeconds(const SpmvSample *s, const SpmvMachine *machine, const SpmvWork *w, PetscLogDouble slower)
{
  const PetscLogDouble vectors = (PetscLogDouble)(s->all->m + s->all->n) * sizeof(PetscScalar), bytes = w->bytes + vectors + 2 * w->moved;
  const PetscLogDouble load = bytes * machine->byte[EstimateLevel(machine, bytes)];
  const PetscLogDouble work = w->cycles * machine->cycle + w->misses * machine->miss + w->vectors * machine->vector + w->gathered * machine->gathered;
  PetscLogDouble       wait = 0;

  for (int level = 1; level < SPMV_LEVELS && s->accesses > 0; level++) {
    if (!w->reach || w->reach > machine->size[level - 1]) wait += s->far[level] / s->accesses * (PetscLogDouble)s->all->i[s->all->m] * (machine->line[level] - machine->line[level - 1]);
  }
  return 1e-9 * (PetscMax(load, slower * work) + wait);
}

/*
  SpmvEstimate - predicts what a candidate takes under a plan that is resolved

  Input/Output Parameter:
. option - number and plan are read, predicted and build are set
*/
PetscErrorCode SpmvEstimate(const SpmvSample *s, const SpmvMachine *machine, PetscInt wanted, SpmvOption *option)
{
  const SpmvFormat  *format = SpmvCandidate[option->number];
  const SpmvKernels *kernels;
  SpmvIsa            isa;
  SpmvWork           w        = {0};
  PetscLogDouble    *amount[] = {&w.bytes, &w.moved, &w.gathered, &w.vectors, &w.cycles, &w.misses, &w.build};

  PetscFunctionBegin;
  PetscCall(SpmvKernelsGet(format, wanted, &kernels, &isa));
  for (PetscInt k = 0; k < s->nwindows; k++) PetscCall(format->work(&s->window[k], &option->plan, &w));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(amount); k++) *amount[k] /= s->share;
  option->predicted = EstimateSeconds(s, machine, &w, format->build ? machine->isa[isa] : 1);
  if (format->build) option->predicted /= (PetscLogDouble)option->plan.threads; /* AIJ's kernel has one */
  option->bytes = w.bytes;
  option->build = 1e-9 * machine->cycle * w.build;
  PetscFunctionReturn(PETSC_SUCCESS);
}
