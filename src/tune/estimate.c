/*
  estimate.c - the time of a product, from the work of a sample and the rates of a machine; no clock is read
*/
#include "tune.h"

/* The level that so many bytes, read over and over, come from */
static int EstimateLevel(PetscLogDouble bytes)
{
  int level = 0;

  while (level < SPMV_LEVELS - 1 && bytes > SpmvMachineGet()->cache[level]) level++;
  return level;
}

/*
  T = max(bytes from memory, work on them) + entries of x that are waited for

  `slower` is by how much the instruction set is slower than the best.

  Where a format goes through x part by part, `reach` bytes at a time, x comes from a cache that holds a part.
*/
static PetscLogDouble EstimateSeconds(const SpmvSample *s, const SpmvWork *w, PetscLogDouble slower)
{
  const SpmvMachine   *machine = SpmvMachineGet();
  const PetscLogDouble vectors = (PetscLogDouble)(s->all->m + s->all->n) * sizeof(PetscScalar),
                       bytes   = w->bytes + vectors + 2 * w->moved;
  const PetscLogDouble load    = bytes * machine->byte[EstimateLevel(bytes)];
  const PetscLogDouble work =
    w->cycles * machine->cycle + w->misses * machine->miss + w->vectors * machine->vector + w->gathered * machine->gathered;
  PetscLogDouble wait = 0;

  for (int level = 1; level < SPMV_LEVELS && s->accesses > 0; level++) {
    const PetscLogDouble entries = s->far[level] / s->accesses * (PetscLogDouble)s->all->i[s->all->m];

    if (!w->reach || w->reach > machine->cache[level - 1]) wait += entries * (machine->line[level] - machine->line[level - 1]);
  }
  return 1e-9 * (PetscMax(load, slower * work) + wait);
}

/*
  SpmvEstimate - predicts what a candidate takes under n plans of one backend, which are resolved

  SpmvSampleReach() is called for the sample only if it tells the plans apart
*/
PetscErrorCode SpmvEstimate(SpmvSample *s, PetscInt wanted, PetscInt number, PetscInt n, const SpmvPlan plans[],
                            SpmvOption options[])
{
  const SpmvFormat  *format  = SpmvCandidate[number];
  const SpmvSide    *side    = SpmvFormatSide(format, plans->backend);
  const SpmvMachine *machine = SpmvMachineGet();
  SpmvIsa            isa;
  SpmvWork           works[SPMV_PROPOSALS] = {{0}};

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(wanted, &isa));
  for (PetscInt w = 0; w < s->nwindows; w++) {
    const PetscReal weight               = s->weight[w];
    SpmvWork        part[SPMV_PROPOSALS] = {{0}};

    for (PetscInt k = 0; k < n && !side->works; k++) PetscCall(side->work(&s->window[w], &plans[k], &part[k]));
    if (side->works) PetscCall(side->works(&s->window[w], n, plans, part));
    for (PetscInt k = 0; k < n; k++) {
      works[k].bytes += weight * part[k].bytes;
      works[k].moved += weight * part[k].moved;
      works[k].gathered += weight * part[k].gathered;
      works[k].vectors += weight * part[k].vectors;
      works[k].cycles += weight * part[k].cycles;
      works[k].misses += weight * part[k].misses;
      works[k].build += weight * part[k].build;
      works[k].reach = part[k].reach;
    }
  }
  for (PetscInt k = 1; k < n; k++) {
    if (works[k].reach != works[0].reach) PetscCall(SpmvSampleReach(s));
  }
  for (PetscInt k = 0; k < n; k++) {
    const SpmvWork *w = &works[k];

    options[k] = (SpmvOption){.number = number, .plan = plans[k], .bytes = w->bytes, .build = 1e-9 * machine->cycle * w->build};
    options[k].predicted = EstimateSeconds(s, w, format->host->kernels ? machine->isa[isa] : 1);
    if (format->host->kernels) options[k].predicted /= (PetscLogDouble)plans[k].threads; /* AIJ's kernel has one */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
