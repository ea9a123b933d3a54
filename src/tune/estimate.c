/*
  estimate.c - the time of a product, from the work of a sample and the rates of a machine; no clock is read
*/
#include "tune.h"
#include "../host/near.h"
#include <math.h>

/*
  Of what is read over and over all is left in a core's own cache if it is less than ESTIMATE_HELD of that, and nothing if it is
  more than ESTIMATE_PASSED: a cache does not quite replace what is oldest (0.5 to 6 MB that are read by a cache of 2 MiB, on
  small pages and on huge ones, and 44 finite element matrices, Granite Rapids)
*/
#define ESTIMATE_HELD   0.75
#define ESTIMATE_PASSED 1.5

/*
  The level that so many bytes, read over and over, come from: a part of what a cache has not quite room for comes from there. The
  last cache is shared: more of it is likely to be there than a process may count on, and nearly all of what is less than half of
  the rest (18 MB of 32 MiB, Zen 4)
*/
static PetscLogDouble EstimateLevel(PetscLogDouble bytes)
{
  const PetscLogDouble *cache = SpmvMachineGet()->cache;
  const int             last  = SPMV_LEVELS - 2;
  PetscLogDouble        most;

  for (int level = 0; level < last; level++) {
    const PetscLogDouble held = ESTIMATE_HELD * cache[level], passed = ESTIMATE_PASSED * cache[level];

    if (bytes < passed) return level + PetscMax(0, (bytes - held) / (passed - held));
  }
  if (bytes <= cache[last]) return last;
  most = SpmvMachineHeld();
  return bytes < most ? last + PetscSqr((bytes - cache[last]) / (most - cache[last])) : last + 1;
}

/* The threads that share a product: for few entries there is one (SpmvRunBegin()) */
PetscLogDouble SpmvSharers(const SpmvCSR *csr, PetscInt threads)
{
  return (PetscLogDouble)csr->i[csr->m] < SpmvMachineGet()->parallel ? 1 : (PetscLogDouble)threads;
}

/* The same of bytes that some threads share: each reads its part through caches of its own, all but the last one */
static PetscLogDouble EstimateSharedLevel(PetscLogDouble bytes, PetscLogDouble sharers)
{
  const PetscLogDouble own = EstimateLevel(bytes / sharers);

  return own < SPMV_LEVELS - 2 ? own : PetscMax(SPMV_LEVELS - 2, EstimateLevel(bytes));
}

/* A rate at a level, which may be between two */
static PetscLogDouble EstimateAt(const PetscLogDouble rate[], PetscLogDouble level)
{
  const int low = PetscMin(SPMV_LEVELS - 2, (int)level);

  return rate[low] + (level - low) * (rate[low + 1] - rate[low]);
}

/* Nanoseconds that one of many lines, taken at random from so many bytes, is waited for */
PetscLogDouble SpmvLineTime(PetscLogDouble bytes)
{
  return EstimateAt(SpmvMachineGet()->line, EstimateLevel(bytes));
}

/*
  By how much a product's bytes take longer than one stream's: from the last cache, and from memory. A core that asks for less
  than others leave it does not feel them
*/
static PetscLogDouble EstimateSlower(const SpmvWork *w, PetscLogDouble crowd, PetscLogDouble level)
{
  const PetscLogDouble slower[SPMV_LEVELS] = {1, 1, w->held > 0 ? w->held : 1, PetscMax(crowd, w->slow > 0 ? w->slow : 1)};

  return EstimateAt(slower, level);
}

/*
  Nanoseconds that lines of vectors are waited for, of which so many are in no cache before each level; level: where the matrix
  comes from. A line from memory takes a core's part of the bandwidth, too, as SpmvMachineCrowd() tells it. So does one from a
  last cache behind a mesh where the matrix comes from memory, as both take turns: 3 to 9 ns a line, where it is 1.4 if the matrix
  is in that cache, too (elasticity, P1 and P2 in space in random numbering, 30 million entries, five formats, Granite Rapids)
*/
PetscLogDouble SpmvFarWait(const SpmvMachine *machine, PetscLogDouble crowd, PetscLogDouble level, const PetscLogDouble far[])
{
  const int            last  = SPMV_LEVELS - 1;
  const PetscLogDouble share = SPMV_CACHE_LINE * crowd * machine->byte[last], beyond = PetscMax(0, level - (last - 1));
  PetscLogDouble       line[SPMV_LEVELS], wait                                       = 0;

  for (int k = 0; k <= last; k++) line[k] = machine->line[k];
  if (machine->far > 0) line[last - 1] = PetscMax(line[last - 1], beyond * share);
  line[last] = PetscMax(line[last], share);
  for (int k = 1; k <= last; k++) wait += far[k] * (line[k] - line[k - 1]);
  return wait;
}

#define ESTIMATE_LEARNT 0.25 /* what is missed all the same of branches that a predictor can know */

/*
  SpmvSeconds - of a product by one thread: T = (load^4 + work^4)^(1/4) + wait

  Bytes are loaded while others are worked on, so that the longer of both decides; where they are near, each delays the other:
  at most by a fifth, which fits products on Zen 4 and Emerald Rapids better than their maximum does.
*/
PetscLogDouble SpmvSeconds(const SpmvMachine *machine, const SpmvTerms *t)
{
  const SpmvWork      *w      = &t->work;
  const PetscLogDouble missed = SpmvMachineKnows(machine, w->branches) ? ESTIMATE_LEARNT * w->misses : w->misses;
  const PetscLogDouble load   = t->bytes * EstimateAt(machine->byte, t->level) * EstimateSlower(w, t->crowd, t->level);
  const PetscLogDouble work =
    t->slower * (w->cycles * machine->cycle + missed * machine->miss + w->vectors * machine->vector +
                 w->gathered * machine->gathered + w->pieces * machine->pieces + w->blocked * machine->blocked);

  return 1e-9 *
         (sqrt(sqrt(PetscSqr(PetscSqr(load)) + PetscSqr(PetscSqr(work)))) + SpmvFarWait(machine, t->crowd, t->level, t->far));
}

#define PASSES_NEAR 0.3 /* of lines from the second cache that are waited for */

/* Seconds of a pass through each of two triangles with n rows, of such work. far: lines of x that are in no cache before each
   level, of which those from the second cache come in time but for a part; slower: than with the best instruction set. Vectors
   that are read and written are those of PCSOR: four in two passes. In a solver a product comes between, which reads its own
   storage of about as many bytes: of 12 MB PETSc's sweeps then take twice as long as one after the other (Zen 4) */
PetscLogDouble SpmvPassesSeconds(const SpmvWork *work, PetscInt n, const PetscLogDouble far[], PetscLogDouble slower)
{
  SpmvTerms t = {.work = *work, .sharers = 1, .slower = slower, .crowd = SpmvMachineCrowd(1)};

  t.bytes = work->bytes + 4. * n * sizeof(PetscScalar);
  t.level = EstimateLevel(2 * t.bytes);
  for (int level = 1; level < SPMV_LEVELS; level++) t.far[level] = far[level] * (work->waits > 0 ? work->waits : 1);
  t.far[1] = t.far[2] + PASSES_NEAR * (t.far[1] - t.far[2]);
  return SpmvSeconds(SpmvMachineGet(), &t);
}

/* SpmvNearMore() of a window of the sample; several formats take rows by length */
static PetscErrorCode EstimateNear(SpmvSample *s, PetscInt w, PetscLogDouble window, PetscLogDouble *near)
{
  const PetscInt rows = PetscMin((PetscInt)window, s->window[w].m);

  PetscFunctionBegin;
  if (s->ordered[w] != rows) PetscCall(SpmvNearMore(&s->window[w], rows, &s->near[w]));
  s->ordered[w] = rows;
  *near         = s->near[w];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What stays the same from plan to plan: all that is read and written, and how much of x is waited for */
static void EstimateTerms(const SpmvSample *s, PetscLogDouble slower, PetscLogDouble sharers, SpmvTerms *t)
{
  const SpmvMachine *machine = SpmvMachineGet();
  const SpmvWork    *w       = &t->work;

  t->slower  = slower;
  t->sharers = sharers;
  t->crowd   = SpmvMachineCrowd(sharers);
  t->bytes   = w->bytes + 2 * w->moved + (PetscLogDouble)(s->all->m + s->all->n) * sizeof(PetscScalar);
  t->level   = EstimateSharedLevel(t->bytes, sharers);
  for (int level = 1; level < SPMV_LEVELS; level++) {
    const PetscBool      held = (PetscBool)(w->reach > 0 && w->reach <= machine->cache[level - 1]);
    const PetscLogDouble far  = w->waits > 1 ? s->host.beside[level] : s->host.far[level];

    t->far[level] = s->host.accesses <= 0 || held ? 0 : far / s->host.accesses * (PetscLogDouble)s->all->i[s->all->m];
    if (level == 1 && s->host.accesses > 0) t->far[level] += t->near;
    if (w->waits > 0) t->far[level] *= w->waits;
  }
}

/*
  SpmvEstimateTerms - what makes the time of a product by a candidate, under n plans for the host, which are resolved
  or a format's proposals

  SpmvSampleReach() is called for the sample only if it tells the plans apart
*/
PetscErrorCode SpmvEstimateTerms(SpmvSample *s, PetscInt wanted, PetscInt number, PetscInt n, const SpmvPlan plans[],
                                 SpmvTerms terms[])
{
  const SpmvFormat *format = SpmvCandidate[number];
  const SpmvSide   *side   = &format->host->side;
  SpmvIsa           isa;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(wanted, &isa));
  PetscCall(PetscArrayzero(terms, n));
  for (PetscInt w = 0; w < s->nwindows; w++) {
    const PetscReal weight               = s->weight[w];
    SpmvWork        part[SPMV_PROPOSALS] = {{0}};
    PetscLogDouble  near                 = 0;

    for (PetscInt k = 0; k < n && !side->works; k++) PetscCall(side->work(&s->window[w], &plans[k], &part[k]));
    if (side->works) PetscCall(side->works(&s->window[w], n, plans, part));
    for (PetscInt k = 0; k < n; k++) {
      SpmvWork *sum = &terms[k].work;

      sum->bytes += weight * part[k].bytes;
      sum->moved += weight * part[k].moved;
      sum->gathered += weight * part[k].gathered;
      sum->pieces += weight * part[k].pieces;
      sum->blocked += weight * part[k].blocked;
      sum->vectors += weight * part[k].vectors;
      sum->cycles += weight * part[k].cycles;
      sum->branches += weight * part[k].branches;
      sum->misses += weight * part[k].misses;
      sum->build += weight * part[k].build;
      sum->reach = part[k].reach;
      sum->waits = part[k].waits;
      sum->slow  = part[k].slow;
      sum->held  = part[k].held;
      if (part[k].window > 0) {
        PetscCall(EstimateNear(s, w, part[k].window, &near));
        terms[k].near += weight * near;
      }
    }
  }
  for (PetscInt k = 1; k < n; k++) {
    if (terms[k].work.reach != terms[0].work.reach) PetscCall(SpmvSampleReach(s));
  }
  for (PetscInt k = 0; k < n; k++) {
    if (!format->host->kernels) EstimateTerms(s, 1, 1, &terms[k]); /* AIJ's, by one thread */
    else EstimateTerms(s, SpmvMachineGet()->isa[isa], SpmvSharers(s->all, plans[k].threads), &terms[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define ESTIMATE_AROUND 64 /* rows around the longest one */

/* How long the longest row keeps a work item waiting, and which kernels it needs: the windows may be without it */
static PetscErrorCode EstimateChain(SpmvSample *s, const SpmvDeviceSide *side, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  const SpmvCSR *all                    = s->all;
  PetscInt       i[ESTIMATE_AROUND + 1] = {0}, first, rows;
  SpmvDeviceLoad around                 = {0};
  SpmvCSR        part                   = *all;

  PetscFunctionBegin;
  if (s->nwindows <= 1 || !all->m) PetscFunctionReturn(PETSC_SUCCESS); /* the window is all */
  if (!s->longest) {
    s->longest = 1;
    for (PetscInt r = 1; r < all->m; r++) {
      if (all->i[r + 1] - all->i[r] > all->i[s->longest] - all->i[s->longest - 1]) s->longest = r + 1;
    }
  }
  first = PetscMax(0, s->longest - ESTIMATE_AROUND / 2);
  rows  = PetscMin(ESTIMATE_AROUND, all->m - first);
  for (PetscInt r = 0; r <= rows; r++) i[r] = all->i[first + r] - all->i[first];
  part.m     = rows;
  part.first = first;
  part.i     = i;
  part.j     = all->j + all->i[first];
  part.a     = all->a + all->i[first];
  PetscCall(side->load(&part, plan, &around));
  load->chain    = PetscMax(load->chain, around.chain);
  load->after    = PetscMax(load->after, around.after);
  load->launches = PetscMax(load->launches, around.launches);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What all rows cost a device under a plan, from the windows */
static PetscErrorCode EstimateLoad(SpmvSample *s, const SpmvDeviceSide *side, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  PetscFunctionBegin;
  *load = (SpmvDeviceLoad){0};
  for (PetscInt w = 0; w < s->nwindows; w++) {
    const PetscReal weight = s->weight[w];
    SpmvDeviceLoad  part   = {0};

    PetscCall(side->load(&s->window[w], plan, &part));
    load->bytes += weight * part.bytes;
    load->moved += weight * part.moved;
    load->sectors += weight * part.sectors;
    load->near += weight * part.near;
    load->waits += weight * part.waits;
    load->cycles += weight * part.cycles;
    load->apart += weight * part.apart;
    load->items += weight * part.items;
    load->build += weight * part.build;
    load->cleared += weight * part.cleared;
    load->chain     = PetscMax(load->chain, part.chain);
    load->after     = PetscMax(load->after, part.after);
    load->launches  = PetscMax(load->launches, part.launches);
    load->group     = part.group;
    load->local     = part.local;
    load->registers = part.registers;
    load->whole     = part.whole;
    load->reach     = part.reach;
  }
  if (load->whole > 0 && load->items > 0) {
    const PetscLogDouble filled = ceil(load->items / load->whole) * load->whole / load->items;

    load->bytes *= filled;
    load->cycles *= filled;
    load->apart *= filled;
    load->waits *= filled;
    load->items *= filled;
  }
  PetscCall(EstimateChain(s, side, plan, load));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Predicts what a candidate takes under n plans for the device, which are resolved */
static PetscErrorCode EstimateDevice(SpmvSample *s, PetscInt number, PetscInt n, const SpmvPlan plans[], SpmvOption options[])
{
  const SpmvRates     *rates = &s->target->rates;
  const PetscLogDouble x = (PetscLogDouble)s->all->n * sizeof(PetscScalar), y = (PetscLogDouble)s->all->m * sizeof(PetscScalar);
  PetscLogDouble       missed = 0;
  SpmvDeviceLoad       load;

  PetscFunctionBegin;
  PetscCall(SpmvSampleReachDevice(s));
  if (s->device.accesses > 0) missed = s->device.far[1] / s->device.accesses * (PetscLogDouble)s->all->i[s->all->m];
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(EstimateLoad(s, SpmvCandidate[number]->device, &plans[k], &load));
    options[k]           = (SpmvOption){.number = number, .plan = plans[k], .bytes = load.bytes};
    options[k].predicted = SpmvDeviceSeconds(rates, &load, x + y, load.reach > 0 && load.reach <= rates->cache ? 0 : missed);
    options[k].build     = 1e-9 * SpmvMachineGet()->cycle * load.build + load.bytes * rates->byte + rates->transfer;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvEstimate - predicts what a candidate takes under n plans of one backend, which are resolved */
PetscErrorCode SpmvEstimate(SpmvSample *s, PetscInt isa, PetscInt number, PetscInt n, const SpmvPlan plans[],
                            SpmvOption options[])
{
  const SpmvMachine *machine = SpmvMachineGet();
  SpmvTerms          terms[SPMV_PROPOSALS];

  PetscFunctionBegin;
  if (plans->backend == SPMV_BACKEND_DEVICE) {
    PetscCall(EstimateDevice(s, number, n, plans, options));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvEstimateTerms(s, isa, number, n, plans, terms));
  for (PetscInt k = 0; k < n; k++) {
    const SpmvWork *w = &terms[k].work;

    options[k] = (SpmvOption){.number = number, .plan = plans[k], .bytes = w->bytes, .build = 1e-9 * machine->cycle * w->build};
    options[k].predicted = SpmvSeconds(machine, &terms[k]) / terms[k].sharers;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
