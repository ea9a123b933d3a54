/*
  tune.c - what may be chosen, and the choice
*/
#include "tune.h"
#include "../host/values.h"
#include "../spmvdevice.h"

const SpmvFormat SpmvFormat_spmv = {.name = "spmv"};

const SpmvFormat *const SpmvCandidate[SPMV_CANDIDATES] = {
#define SPMV_FORMAT(name) &SpmvFormat_##name,
#include "../formats.h"
#undef SPMV_FORMAT
  &SpmvFormat_aij};

const char *const SpmvTuneKinds[SPMV_TUNE_COUNT] = {"off", "estimate", "measure", "patient"};

/*
  The six heuristics of Zhang et al., section 4, in the paper's order, each for one kind of knob of any format; and one of ours.
  We differ: (2) is `always texture memory and offline transpose`, and (4) `no shared memory for the sums of strategy 1`, which
  the authors had found to be best on GPUs of 2012 and for one format. Here formats choose layouts and what is kept at hand, and
  on a GPU these choices are guesses: there both are measured. (3) reduces a range, of a result cache: here nothing is left of it.
  (6) says `according to the dimensions` and no more. What they leave is ordered by the model
*/
const SpmvHeuristic SpmvHeuristics[SPMV_HEURISTICS] = {
  {"shapes", "Measure only the block shapes with the 4 smallest storages, on a device the 4 of least estimated time (1)"},
  {"layout", "Do not measure other layouts than the format's own choice (2); on a GPU they are measured"},
  {"cache", "Do not measure other cache sizes than the machine's (3)"},
  {"local", "Do not measure other words and local memories than the default (4); on a GPU they are measured"},
  {"slices", "Measure vertical slices only where the matrix is wider than high (5)"},
  {"tiles", "Measure only tiles of 1/4 to 4 times the format's own choice, and not larger than the matrix (6)"},
  {"model", "Measure only what is estimated to take at most twice the least, on the host only each format's own plan and at most "
            "1.2 times"},
};

/* Seconds of a product, and of its part of the set-up if calls are counted */
PetscLogDouble SpmvOptionCost(const SpmvRequest *q, const SpmvOption *o)
{
  return (o->measured > 0 ? o->measured : o->predicted) + (q->calls > 0 ? o->build / q->calls : 0);
}

PetscBool SpmvKeySame(const SpmvKey *a, const SpmvKey *b)
{
  return (PetscBool)(a->m == b->m && a->n == b->n && a->nz == b->nz && a->pattern == b->pattern);
}

/*
  True if a choice that was made serves a matrix, a request and a backend; moves: the vectors are on the host. Where the host was
  found to be faster than a device that need not move them, it is so if the device must
*/
PetscBool SpmvChoiceAnswers(const SpmvChoice *choice, const SpmvRequest *request, const SpmvKey *key, PetscInt backend,
                            PetscBool moves)
{
  const PetscBool same = (PetscBool)(backend != SPMV_BACKEND_AUTO || choice->moves == moves ||
                                     (moves && choice->best.plan.backend == SPMV_BACKEND_HOST));

  return (PetscBool)(choice->known && same && choice->backend == backend && SpmvKeySame(&choice->key, key) &&
                     !memcmp(&choice->request, request, sizeof(*request)));
}

/* What is asked for without options: of spmv, the best of all by estimate; of another type, the best of its own plans */
PetscErrorCode SpmvRequestDefault(const SpmvFormat *type, SpmvRequest *q)
{
  SpmvIsa isa;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(SPMV_ISA_COUNT, &isa));
  PetscCall(PetscMemzero(q, sizeof(*q)));
  q->kind    = SPMV_TUNE_ESTIMATE;
  q->isa     = SPMV_ISA_COUNT;
  q->seconds = 10;
  q->threads = 1;
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const SpmvFormat *format = SpmvCandidate[k];

    if (type == &SpmvFormat_spmv || type == format) q->allowed |= (PetscInt)1 << k;
    q->host[k]     = SpmvPlanDefault(SPMV_BACKEND_HOST, format->host->side.nparams, format->host->side.params);
    q->host[k].isa = isa;
    if (format->device)
      q->device[k] = SpmvPlanDefault(SPMV_BACKEND_DEVICE, format->device->side.nparams, format->device->side.params);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* "bccoo cmrs ..." and a last one: "spmv" of types, "aij" of candidates */
PetscErrorCode SpmvFormatNames(const char last[], char names[], size_t size)
{
  PetscFunctionBegin;
  names[0] = 0;
  for (int k = 0; k < SPMV_NUMBER_AIJ; k++) PetscCall(SpmvAppend(names, size, "%s ", SpmvCandidate[k]->name));
  PetscCall(SpmvAppend(names, size, "%s", last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of a candidate by its name, of so many characters; SPMV_CANDIDATES if there is none */
PetscInt SpmvCandidateFind(const char name[], size_t length)
{
  PetscInt k = 0;

  while (k < SPMV_CANDIDATES && (strncmp(SpmvCandidate[k]->name, name, length) || SpmvCandidate[k]->name[length])) k++;
  return k;
}

/* The number of a format, which is a candidate */
PetscInt SpmvCandidateNumber(const SpmvFormat *format)
{
  return SpmvCandidateFind(format->name, strlen(format->name));
}

/* Only these candidates: names with commas between them. The request stays as it is if one is not known */
PetscErrorCode SpmvRequestAllow(const char formats[], SpmvRequest *q)
{
  const char *end;
  char        names[256];
  PetscInt    allowed = 0;

  PetscFunctionBegin;
  PetscCall(SpmvFormatNames("aij", names, sizeof(names)));
  for (const char *name = formats + strspn(formats, ","); *name; name = end + strspn(end, ",")) {
    PetscInt k;

    end = name + strcspn(name, ",");
    k   = SpmvCandidateFind(name, (size_t)(end - name));
    PetscCheck(k < SPMV_CANDIDATES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "'%.*s' is not a format of libpetscspmv; give -mat_spmv_tune_formats some of these, with commas between them: %s",
               (int)(end - name), name, names);
    allowed |= (PetscInt)1 << k;
  }
  PetscCheck(allowed, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "No format is named; give -mat_spmv_tune_formats at least one of: %s", names);
  q->allowed = allowed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first candidate that is allowed, or that has kernels for the device, if any; its open knobs are chosen by estimate */
static PetscErrorCode TuneFirst(const SpmvRequest *q, const SpmvCSR *csr, PetscInt backend, const SpmvTarget *target,
                                SpmvChoice *choice)
{
  const SpmvSide *side  = NULL;
  PetscInt        first = -1;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < SPMV_CANDIDATES && !side; k++) {
    if (!(q->allowed >> k & 1)) continue;
    side = SpmvFormatSide(SpmvCandidate[k], backend);
    if (side || first < 0) first = k;
  }
  choice->best.number = first;
  choice->best.plan   = *SpmvAsked(q, first, side ? backend : SPMV_BACKEND_HOST);
  if (q->kind != SPMV_TUNE_OFF) PetscCall(SpmvPlanChoose(csr, q->isa, target, first, &choice->best.plan, &choice->estimated));
  choice->from = choice->estimated ? SPMV_FROM_ESTIMATE : SPMV_FROM_ASKED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether an option is taken in the place of another one where estimates are near */
static PetscBool TuneRather(const SpmvOption *o, const SpmvOption *other)
{
  const char *rather = SpmvCandidate[o->number]->host->rather;

  return (PetscBool)(rather && (!*rather || !strcmp(rather, SpmvCandidate[other->number]->name)));
}

/* Of options of the host whose estimates are near the least the safer one is taken */
static void TuneSafer(const SpmvSearch *search, SpmvChoice *c)
{
  const SpmvOption *safer = NULL;

  if (c->products || c->best.number < 0 || c->best.plan.backend == SPMV_BACKEND_DEVICE) return;
  for (const SpmvOption *o = search->option; o < search->option + search->n; o++) {
    if (o->plan.backend == SPMV_BACKEND_DEVICE || o->number == c->best.number || !TuneRather(o, &c->best)) continue;
    if (SpmvOptionCost(search->request, o) > SPMV_TUNE_NEAR * SpmvOptionCost(search->request, &c->best)) continue;
    if (!safer || TuneRather(o, safer)) safer = o;
  }
  if (!safer) return;
  c->second = c->best;
  c->best   = *safer;
}

/*
  The two options of least cost, measured ones if there are any; the first `own` of all are the formats' own plans, which others
  must not only be near
*/
static void TuneBest(const SpmvSearch *search, PetscInt own, SpmvChoice *c)
{
  const SpmvRequest *q = search->request;

  c->estimated = search->n;
  c->from      = c->products ? SPMV_FROM_MEASURE : SPMV_FROM_ESTIMATE;
  for (PetscInt k = 0; k < search->n; k++) {
    const SpmvOption    *o     = &search->option[k];
    const PetscLogDouble cost  = SpmvOptionCost(q, o);
    PetscLogDouble      *least = &c->predicted[o->plan.backend][o->number];

    if (*least <= 0 || o->predicted < *least) *least = o->predicted;
    if (c->products ? o->measured <= 0 : k >= own && SPMV_TUNE_NEAR * cost >= SpmvOptionCost(q, &c->best)) continue;
    if (c->best.number < 0 || cost < SpmvOptionCost(q, &c->best)) {
      c->second = c->best;
      c->best   = *o;
    } else if (c->second.number < 0 || cost < SpmvOptionCost(q, &c->second)) c->second = *o;
  }
}

/*
  Whether a candidate is left out unseen, as others are faster where the matrix is so near; not if there are no others, or all
  plans are asked for
*/
static PetscBool TuneIsNear(const SpmvRequest *q, const SpmvCSR *csr, PetscInt number)
{
  const PetscInt nodes  = SpmvCandidate[number]->host->nodes;
  PetscInt       others = 0;

  for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) others += (q->allowed >> k & 1) && !SpmvCandidate[k]->host->far;
  if (!SpmvCandidate[number]->host->far || !others || q->kind == SPMV_TUNE_PATIENT) return PETSC_FALSE;
  if (nodes && csr->rbs == csr->cbs && csr->rbs % nodes == 0) return PETSC_FALSE;
  return SpmvMachineHasRows(csr);
}

/* Tells why a candidate of the host is not looked at */
static PetscErrorCode TuneLeave(PetscInt number, const char why[], SpmvChoice *choice)
{
  PetscFunctionBegin;
  PetscCall(
    SpmvAppend(choice->left, sizeof(choice->left), "%s%s (%s)", choice->left[0] ? ", " : "", SpmvCandidate[number]->name, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Estimates each candidate under the plan that is chosen for it, for the backend or, where host and device are compared, for both;
  to measure, other values of its knobs as well
*/
static PetscErrorCode TuneAmong(const SpmvRequest *q, const SpmvCSR *csr, const SpmvTarget *target, SpmvBaselineFn *baseline,
                                void *context, SpmvChoice *choice, SpmvKept *kept)
{
  SPMV_DESTROY_BY(SpmvSearchDestroy)
  SpmvSearch search = {.request = q, .baseline = baseline, .context = context, .choice = choice};
  SpmvCSR    known  = *csr;
  PetscInt   own;

  PetscFunctionBegin;
  known.coding = SpmvValuesLook(csr, SPMV_VALUES_CODED); /* once for all candidates */
  PetscCall(SpmvSampleCreate(&known, SPMV_SAMPLE_FORMATS, &search.sample));
  if (choice->backend != SPMV_BACKEND_DEVICE) PetscCall(SpmvSampleReach(&search.sample));
  choice->reach        = search.sample.host;
  search.sample.target = target;
  if (choice->moves && choice->backend == SPMV_BACKEND_AUTO)
    search.moving = SpmvMoveSeconds(&target->rates, (PetscLogDouble)csr->m, (PetscLogDouble)csr->n);
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    if (!(q->allowed >> k & 1)) continue;
    if (choice->backend != SPMV_BACKEND_DEVICE) {
      if (TuneIsNear(q, csr, k)) PetscCall(TuneLeave(k, "others are faster where a cache has the matrix", choice));
      else {
        PetscCall(SpmvSearchAdd(&search, k, &q->host[k]));
        if (search.why[0]) PetscCall(TuneLeave(k, search.why, choice));
      }
    }
    if (choice->backend != SPMV_BACKEND_HOST && SpmvCandidate[k]->device) PetscCall(SpmvSearchAdd(&search, k, &q->device[k]));
    if (q->kind == SPMV_TUNE_OFF && search.n) break; /* the first one, by the host or the device */
  }
  own = search.n;
  if (q->kind > SPMV_TUNE_ESTIMATE && own) PetscCall(SpmvMeasure(&search));
  TuneBest(&search, own, choice);
  TuneSafer(&search, choice);
  if (kept && SpmvKeptIs(&search.kept, choice->best.number, &choice->best.plan)) {
    *kept                   = search.kept;
    search.kept.own.storage = NULL;
  }
  if (!own)
    PetscCall(TuneFirst(q, csr, choice->backend, target, choice)); /* all refuse this matrix: the first one is to say why */
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define TUNE_EMPTY 4 /* rows for each entry above which a matrix is left to AIJ */

/*
  A matrix most of whose rows are empty, such as the off-diagonal block of a parallel one: AIJ goes through the other rows only,
  so that a product takes no time, while a storage and even an estimate take some for each row
*/
static PetscBool TuneIsEmpty(const SpmvRequest *q, const SpmvCSR *csr)
{
  return (PetscBool)((q->allowed >> SPMV_NUMBER_AIJ & 1) && (!csr->m || csr->i[csr->m] < csr->m / TUNE_EMPTY));
}

/*
  Estimates of AIJ's kernel and of what serves instead, under a plan of the host that is resolved: [0] and [1]. reach: how x is
  read, looked at if it was not yet
*/
PetscErrorCode SpmvEstimateGain(const SpmvCSR *csr, PetscInt isa, PetscInt number, const SpmvPlan *plan, SpmvReach *reach,
                                SpmvOption options[2])
{
  SPMV_DESTROY_BY(SpmvSampleDestroy)
  SpmvSample     sample = {0};
  const SpmvPlan aij    = SpmvPlanDefault(SPMV_BACKEND_HOST, 0, NULL);

  PetscFunctionBegin;
  PetscCall(SpmvSampleCreate(csr, SPMV_SAMPLE_FORMATS, &sample));
  sample.host = *reach;
  PetscCall(SpmvSampleReach(&sample));
  *reach = sample.host;
  PetscCall(SpmvEstimate(&sample, isa, SPMV_NUMBER_AIJ, 1, &aij, &options[0]));
  PetscCall(SpmvEstimate(&sample, isa, number, 1, plan, &options[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvSuits - says why another format than candidate `number` is to serve a matrix; empty: it may
*/
PetscErrorCode SpmvSuits(PetscInt number, const SpmvCSR *csr, const SpmvPlan *asked, char why[], size_t size)
{
  const SpmvSide *side = SpmvFormatSide(SpmvCandidate[number], asked->backend);

  PetscFunctionBegin;
  why[0] = 0;
  if (side->suits) PetscCall(side->suits(csr, asked, why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the one format that is allowed does not suit a matrix, all others are allowed instead, under default plans */
static PetscErrorCode TuneHandOver(const SpmvCSR *csr, SpmvRequest *q)
{
  char     why[512];
  PetscInt number = 0;

  PetscFunctionBegin;
  if (q->allowed & (q->allowed - 1)) PetscFunctionReturn(PETSC_SUCCESS);
  while (!(q->allowed >> number & 1)) number++;
  PetscCall(SpmvSuits(number, csr, &q->host[number], why, sizeof(why)));
  if (!why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(NULL, "Format %s hands over to another one: %s\n", SpmvCandidate[number]->name, why));
  q->allowed = (((PetscInt)1 << SPMV_CANDIDATES) - 1) & ~q->allowed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is asked with one candidate under one plan, or is plain: nothing is compared */
static PetscBool TuneIsPlain(const SpmvRequest *q, PetscInt backend)
{
  PetscInt n = 0;

  if (q->kind == SPMV_TUNE_OFF) return PETSC_TRUE;
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) n += q->allowed >> k & 1 && SpmvFormatSide(SpmvCandidate[k], backend) != NULL;
  return (PetscBool)(!n || (n == 1 && q->kind == SPMV_TUNE_ESTIMATE));
}

/*
  SpmvTune - chooses what is to serve the products of a matrix, whose rows are sorted

  Input Parameters:
+ asked    - the request
. csr      - the matrix
. key      - what it is recognised by
. backend  - by whom: the host, the device, or whoever is faster (SPMV_BACKEND_AUTO)
. moves    - the vectors are on the host, so that a device's products send and receive them: what SPMV_BACKEND_AUTO counts
. target   - the device; NULL for the host
. baseline - runs a product by AIJ's own kernel
- context  - is given to it

  Output Parameters:
+ choice - without an error choice->known is set
- kept   - the storage of what was chosen, if measuring has left it; NULL: it is not asked for
*/
PetscErrorCode SpmvTune(const SpmvRequest *asked, const SpmvCSR *csr, const SpmvKey *key, PetscInt backend, PetscBool moves,
                        const SpmvTarget *target, SpmvBaselineFn *baseline, void *context, SpmvChoice *choice, SpmvKept *kept)
{
  SpmvRequest *q = &choice->request;
  PetscBool    wisdom;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(choice, sizeof(*choice)));
  *q = *asked;
  if (backend == SPMV_BACKEND_HOST) PetscCall(TuneHandOver(csr, q));
  wisdom = (PetscBool)(q->kind > SPMV_TUNE_ESTIMATE && strcmp(q->wisdom, "none"));
  if (wisdom) PetscCall(SpmvWisdomLookFor(q));
  choice->key         = *key;
  choice->backend     = backend;
  choice->moves       = moves;
  choice->best.number = choice->second.number = -1;
  if (backend != SPMV_BACKEND_AUTO && TuneIsPlain(q, backend)) PetscCall(TuneFirst(q, csr, backend, target, choice));
  else if (backend != SPMV_BACKEND_DEVICE && TuneIsEmpty(q, csr)) {
    choice->best.number = SPMV_NUMBER_AIJ;
    choice->best.plan   = q->host[SPMV_NUMBER_AIJ];
    choice->from        = SPMV_FROM_EMPTY;
  } else {
    if (wisdom) PetscCall(SpmvChoiceFromWisdom(q, csr, target, choice));
    if (choice->from != SPMV_FROM_WISDOM) PetscCall(TuneAmong(q, csr, target, baseline, context, choice, kept));
    if (wisdom && choice->from == SPMV_FROM_MEASURE && choice->best.measured < PETSC_MAX_REAL)
      PetscCall(SpmvChoiceToWisdom(target, choice));
  }
  choice->request = *asked;
  choice->known   = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
