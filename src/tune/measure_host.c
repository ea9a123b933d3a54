/*
  measure_host.c - builds options of the host and runs them, in turns with the best one so far

  A product is timed alone, and the least of a few counts, since noise only adds. What slows the machine down for longer than that
  would count against whoever is measured meanwhile: an option and the best one so far take turns, as many products each, since
  the least of more is less.
*/
#include "tune.h"

#define HOST_TURN    2    /* timed products of an option, then as many of the best one so far */
#define HOST_SETTLE  2e-5 /* seconds of products before them at least, ... */
#define HOST_GAIN    0.97 /* ... and as long as one takes so much of the least time before it, ... */
#define HOST_FIRST   8    /* ... but no more than so many; ... */
#define HOST_UNTIMED 2    /* ... from memory there are so many */
#define HOST_TURNS   2    /* at most; one is enough ... */
#define HOST_LOST    1.1  /* ... where one takes so many times as long as the other, ... */
#define HOST_APART   1.5  /* ... but not as many times as long as it is expected to, as if only it had been held up, ... */
#define HOST_LONG    2e-3 /* ... and for products of so many seconds: the matrix is read from memory, nothing holds them up */

/*
  Lowers `least` to the least time of one of n products by a storage, or, without a kernel, by AIJ's. Those before them do not
  count: caches that have what another option left there take 2 to 7 products until times are what they are in a solver (1.2 MB in
  the second cache, 20 MB in the last one, Granite Rapids), and a processor is slow for some microseconds when other vectors begin
*/
static PetscErrorCode HostProducts(SpmvSearch *search, SpmvApplyFn *apply, const void *storage, PetscInt n, PetscLogDouble *least)
{
  const SpmvCSR *csr     = search->sample.all;
  PetscLogDouble settled = 0, before = PETSC_MAX_REAL;

  PetscFunctionBegin;
  for (PetscInt k = -HOST_FIRST; k < n; k++) {
    PetscLogDouble start, end, time;

    PetscCall(SpmvMeasureTime(&start));
    if (apply) SpmvApply(apply, storage, csr->i[csr->m], search->x, search->y, PETSC_FALSE);
    else PetscCall((*search->baseline)(search->context));
    PetscCall(SpmvMeasureTime(&end));
    search->choice->products++;
    time = PetscMax(end - start, 1e-9);
    if (k >= 0) *least = PetscMin(*least, time);
    settled += time;
    if (k < 0 && settled >= HOST_SETTLE && time > HOST_GAIN * before) k = -1;
    before = PetscMin(before, time);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a storage of this candidate and plan is kept */
PetscBool SpmvKeptIs(const SpmvKept *kept, PetscInt number, const SpmvPlan *asked)
{
  return (PetscBool)(kept->own.storage && kept->number == number && !memcmp(&kept->asked, asked, sizeof(*asked)));
}

PetscErrorCode SpmvKeptDestroy(SpmvKept *kept)
{
  return SpmvOwnedDestroy(&kept->own);
}

/*
  Keeps the storage of an option that was measured if none has cost less: at most one is there beside the one that is measured.
  What borrows is built in no time
*/
static PetscErrorCode HostKeep(SpmvSearch *search, const SpmvOption *option, SpmvKept *made)
{
  PetscFunctionBegin;
  if (!made->own.storage || made->own.side->borrows) PetscFunctionReturn(PETSC_SUCCESS);
  if (SpmvMeasureCost(search) < SpmvOptionCost(search->request, option)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvKeptDestroy(&search->kept));
  search->kept      = *made;
  made->own.storage = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernel of a candidate's products; NULL: AIJ's */
static PetscErrorCode HostKernel(const SpmvSearch *search, PetscInt number, SpmvApplyFn **apply)
{
  const SpmvKernels *kernels = NULL;

  PetscFunctionBegin;
  if (SpmvCandidate[number]->host->kernels) PetscCall(SpmvKernelsGet(SpmvCandidate[number], search->request->isa, &kernels));
  *apply = kernels ? kernels->apply : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The best option of the host so far that can run: the one whose storage is kept, or AIJ's kernel; NULL: there is none */
static const SpmvOption *HostBest(const SpmvSearch *search)
{
  const SpmvOption *best = NULL;

  for (const SpmvOption *o = search->option; o < search->option + search->n; o++) {
    const PetscBool runs = (PetscBool)(o->number == SPMV_NUMBER_AIJ || SpmvKeptIs(&search->kept, o->number, &o->plan));

    if (runs && o->measured > 0 && o->plan.backend == SPMV_BACKEND_HOST && (!best || o->measured < best->measured)) best = o;
  }
  return best;
}

/*
  Whether a turn tells which of two products is faster: one took much longer than the other, though not than expected. What holds
  up one of them alone would else decide: a 4x4 matrix in the second cache by `sbccoo`, 1.7 times as slow as by `bccoo` (Zen 4)
*/
static PetscBool HostDecided(const PetscLogDouble least[2], const PetscLogDouble expected[2])
{
  const int slower = least[1] > least[0];

  if (PetscMin(least[0], least[1]) > HOST_LONG) return PETSC_TRUE;
  return (PetscBool)(least[slower] > HOST_LOST * least[!slower] && least[slower] < HOST_APART * expected[slower]);
}

/*
  The time of a product by an option's storage, or by AIJ's kernel. If there is a best option so far, and this one, from memory,
  is not much faster at once, they run in turns, and the time is that one's, as it was measured before, times how much longer this
  one took now
*/
static PetscErrorCode HostTurns(SpmvSearch *search, SpmvApplyFn *apply, const void *storage, SpmvOption *option)
{
  const SpmvOption *other    = HostBest(search);
  const void       *its      = search->kept.own.storage;
  SpmvApplyFn      *by       = NULL;
  PetscLogDouble    least[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL};
  PetscBool         decided  = PETSC_FALSE;

  PetscFunctionBegin;
  if (other) PetscCall(HostKernel(search, other->number, &by));
  for (PetscInt turn = 0; turn < HOST_TURNS && !decided; turn++) {
    PetscCall(HostProducts(search, apply, storage, HOST_TURN, &least[0]));
    if (other && !turn && least[0] > HOST_LONG && other->measured > HOST_APART * least[0]) other = NULL;
    if (!other) break;
    PetscCall(HostProducts(search, by, by ? its : NULL, HOST_TURN, &least[1]));
    decided = HostDecided(least, (PetscLogDouble[]){option->predicted, other->measured});
  }
  option->measured = other ? other->measured * (least[0] / least[1]) : least[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvMeasureHost - builds an option of the host and runs it */
PetscErrorCode SpmvMeasureHost(SpmvSearch *search, SpmvOption *option)
{
  PetscLogDouble start, end;
  SpmvApplyFn   *apply = NULL;
  SPMV_DESTROY_BY(SpmvKeptDestroy)
  SpmvKept made = {.number   = option->number,
                   .asked    = option->plan,
                   .plan     = option->plan,
                   .own.side = &SpmvCandidate[option->number]->host->side};

  PetscFunctionBegin;
  PetscCall(HostKernel(search, option->number, &apply));
  if (apply) {
    PetscCall(SpmvMeasureTime(&start));
    PetscCall(SpmvBuild(made.own.side, search->sample.all, NULL, &made.plan, &made.own.storage));
    PetscCall(SpmvMeasureTime(&end));
    option->build = end - start;
  }
  PetscCall(HostTurns(search, apply, made.own.storage, option));
  PetscCall(HostKeep(search, option, &made));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds that it may take to build and to run an option of the host */
PetscLogDouble SpmvMeasureHostNeeds(const SpmvSearch *search, const SpmvOption *option)
{
  const SpmvOption *other = HostBest(search);

  return option->build + HOST_TURNS * (HOST_TURN + HOST_UNTIMED) * (option->predicted + (other ? other->measured : 0));
}
