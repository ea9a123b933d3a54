static const char help[] =
  "The tuner for devices that are not there: host against device, measuring by a clock that the test moves, heuristics, "
  "wisdom.\n\n";

#include "unit_device.h"
#include <unistd.h>

#define SECOND_BUILD 0.25 /* seconds that an attempt takes, by the clock of the test */

static double Now;

static PetscErrorCode Clock(PetscLogDouble *seconds)
{
  *seconds = Now += 1e-6;
  return PETSC_SUCCESS;
}

/* The knob of a device side that has a name, and what its values are */
static PetscInt Knob(PetscInt number, const char name[])
{
  const SpmvSide *side = &SpmvCandidate[number]->device->side;

  for (PetscInt k = 0; k < side->nparams; k++) {
    if (!strcmp(side->params[k].name, name)) return k;
  }
  return -1;
}

/* What the device of the test does: nothing, in a time that depends on the plan */
typedef struct {
  PetscInt attempts;
  PetscInt number;     /* plans of this candidate take 2 ms, all others 4; */
  PetscInt knob, fast; /* with this value of this knob a twentieth of it */
  PetscInt seen[64];   /* how often that knob had each of its choices */
  PetscBool
    together; /* or it is bccoo, and the time is by strategy, bunch, tile and work group: how far they are from what is fastest */
} Play;

/* Seconds of a plan of bccoo by the distances of its knobs from Table II's long tiles and small work groups */
static PetscLogDouble Together(const SpmvPlan *plan)
{
  const PetscInt *p     = plan->value;
  const double    tile  = PetscAbsReal(PetscLog2Real((PetscReal)p[Knob(SPMV_NUMBER_bccoo, "tile")] / 512));
  const double    group = PetscAbsReal(PetscLog2Real((PetscReal)p[Knob(SPMV_NUMBER_bccoo, "device_workgroup")] / 4));
  const PetscBool table =
    (PetscBool)(p[Knob(SPMV_NUMBER_bccoo, "device_strategy")] == 3 && p[Knob(SPMV_NUMBER_bccoo, "device_bunch")] == 1);

  return 1e-4 * (1 + tile + group) * (table ? 1 : 3);
}

static PetscErrorCode Attempt(const SpmvTarget *target, const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan,
                              const SpmvPlan *host, PetscInt products, void **fastest, SpmvTrial *trial)
{
  Play           *play = (Play *)target->context;
  const PetscBool own  = (PetscBool)(SpmvCandidate[play->number] == format);

  PetscFunctionBegin;
  (void)csr, (void)host, (void)fastest;
  play->attempts++;
  Now += SECOND_BUILD;
  if (own) play->seen[plan->value[play->knob] & 63]++;
  *trial = (SpmvTrial){.build = SECOND_BUILD, .products = products, .product = own ? 2e-3 : 4e-3};
  if (own && plan->value[play->knob] == play->fast) trial->product /= 20;
  if (play->together) trial->product = Together(plan);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SpmvTarget Target(int device, Play *play)
{
  SpmvTarget t = DeviceTarget(device);

  t.attempt = Attempt;
  t.context = play;
  return t;
}

static PetscErrorCode Baseline(void *context)
{
  ++*(PetscInt *)context;
  Now += 3e-3;
  return PETSC_SUCCESS;
}

/* Request, matrix, backend, device: a choice */
static PetscErrorCode Tune(const SpmvRequest *q, const SpmvTestCSR *t, PetscInt backend, PetscBool moves,
                           const SpmvTarget *target, PetscInt *aij, SpmvChoice *choice)
{
  const SpmvCSR csr = SpmvTestCSRView(t);
  const SpmvKey key = {csr.m, csr.n, csr.i[csr.m], 17};

  PetscFunctionBegin;
  *aij = 0;
  PetscCall(SpmvTune(q, &csr, &key, backend, moves, target, Baseline, aij, choice, NULL));
  PetscCheck(choice->known && choice->best.number >= 0 && SpmvChoiceAnswers(choice, q, &key, backend, moves), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "no choice");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Request(PetscInt kind, SpmvRequest *q)
{
  PetscFunctionBegin;
  PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, q));
  q->kind    = kind;
  q->seconds = 1e6;
  PetscCall(PetscStrncpy(q->wisdom, "none", sizeof(q->wisdom)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a device, all formats with kernels are estimated and nothing is run; of both, whoever is faster serves */
static PetscErrorCode TestChoice(SpmvRequest *q, SpmvChoice *choice)
{
  Play             play   = {0};
  const SpmvTarget target = Target(H100, &play);
  PetscInt         aij;
  SpmvTestCSR      small, large;
  char             text[1024];

  PetscFunctionBegin;
  PetscCall(Band(200, 5, &small));
  PetscCall(Band(400000, 12, &large));
  PetscCall(Request(SPMV_TUNE_ESTIMATE, q));
  PetscCall(Tune(q, &large, SPMV_BACKEND_DEVICE, PETSC_TRUE, &target, &aij, choice));
  PetscCheck(!aij && !play.attempts && choice->best.plan.backend == SPMV_BACKEND_DEVICE && choice->from == SPMV_FROM_ESTIMATE,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "an estimate for a device");
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++)
    PetscCheck((choice->predicted[SPMV_BACKEND_DEVICE][k] > 0) == (SpmvCandidate[k]->device != NULL) &&
                 choice->predicted[SPMV_BACKEND_HOST][k] == 0,
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s was%s estimated", SpmvCandidate[k]->name,
               SpmvCandidate[k]->device ? " not" : "");
  PetscCall(SpmvChoiceText(choice, 0, text, sizeof(text)));
  PetscCheck(strstr(text, " on the device ") && strstr(text, "by estimate"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", text);
  PetscCall(SpmvChoiceText(choice, 2, text, sizeof(text)));
  PetscCheck(strstr(text, "pmf on the device ") && !strstr(text, "aij"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", text);

  PetscCall(Tune(q, &large, SPMV_BACKEND_AUTO, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(choice->best.plan.backend == SPMV_BACKEND_DEVICE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a large matrix is the host's");
  PetscCall(Tune(q, &small, SPMV_BACKEND_AUTO, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(choice->best.plan.backend == SPMV_BACKEND_HOST && choice->predicted[SPMV_BACKEND_DEVICE][SPMV_NUMBER_pmf] > 0,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "a small matrix is the device's");
  q->calls = 1;
  PetscCall(Tune(q, &large, SPMV_BACKEND_AUTO, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(choice->best.plan.backend == SPMV_BACKEND_HOST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "one product pays for a transfer");
  PetscCall(SpmvTestCSRDestroy(&small));
  PetscCall(SpmvTestCSRDestroy(&large));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between a size that is the host's and one that is the device's there is one that the device has only while vectors stay
   there */
static PetscErrorCode TestMoves(SpmvRequest *q, SpmvChoice *choice)
{
  const SpmvTarget target = Target(H100, NULL);
  PetscInt         aij, differ = 0;
  SpmvTestCSR      t;

  PetscFunctionBegin;
  PetscCall(Request(SPMV_TUNE_ESTIMATE, q));
  for (PetscInt m = 500; m <= 100000; m = m * 3 / 2) {
    PetscInt backend[2];

    PetscCall(Band(m, 5, &t));
    for (int moves = 0; moves < 2; moves++) {
      PetscCall(Tune(q, &t, SPMV_BACKEND_AUTO, (PetscBool)moves, &target, &aij, choice));
      backend[moves] = choice->best.plan.backend;
    }
    PetscCheck(backend[1] == SPMV_BACKEND_HOST || backend[0] == SPMV_BACKEND_DEVICE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%d rows go to the device only if vectors move", (int)m);
    differ += backend[0] != backend[1];
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscCheck(differ, PETSC_COMM_SELF, PETSC_ERR_PLIB, "transfers never count");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measuring finds what is fast on the device, keeps to its seconds, and to what heuristics leave */
static PetscErrorCode TestMeasure(SpmvRequest *q, SpmvChoice *choice)
{
  Play        play = {.number = SPMV_NUMBER_bccoo, .knob = Knob(SPMV_NUMBER_bccoo, "device_workgroup"), .fast = 256};
  SpmvTarget  target;
  PetscInt    aij, few;
  SpmvTestCSR t;
  char        text[1024];

  PetscFunctionBegin;
  PetscCall(Band(3000, 9, &t));
  target = Target(POCL, &play);
  PetscCall(Request(SPMV_TUNE_MEASURE, q));
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(choice->best.number == SPMV_NUMBER_bccoo && choice->best.plan.value[play.knob] == 256 &&
               choice->from == SPMV_FROM_MEASURE,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d attempts did not find a work group of 256", (int)play.attempts);
  PetscCheck(play.attempts <= 192 + 6 && choice->measured == play.attempts && !aij, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%d attempts, %d measured", (int)play.attempts, (int)choice->measured);
  PetscCheck(choice->best.measured == 2e-3 / 20 && choice->best.build == SECOND_BUILD, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%g s a product, %g s to build", (double)choice->best.measured, (double)choice->best.build);
  PetscCall(SpmvChoiceText(choice, 0, text, sizeof(text)));
  PetscCheck(strstr(text, "by measuring"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", text);

  few        = (PetscInt)(2 / SECOND_BUILD);
  q->seconds = 2;
  play       = (Play){.number = SPMV_NUMBER_bccoo, .knob = play.knob, .fast = -1};
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(play.attempts && play.attempts <= few, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d attempts in 2 seconds",
             (int)play.attempts);
  q->seconds = 1e-3;
  play       = (Play){.number = SPMV_NUMBER_bccoo, .knob = play.knob, .fast = -1};
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(!play.attempts && choice->from == SPMV_FROM_ESTIMATE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d attempts in no time",
             (int)play.attempts);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Four knobs of Table II that are fast together only, from Table I's defaults: the search gets there, one after the other */
static PetscErrorCode TestTogether(SpmvRequest *q, SpmvChoice *choice)
{
  Play             play   = {.number = SPMV_NUMBER_bccoo, .fast = -1, .together = PETSC_TRUE};
  const SpmvTarget target = Target(POCL, &play);
  PetscInt         aij;
  SpmvTestCSR      t;
  char             text[1024] = "";

  PetscFunctionBegin;
  PetscCall(Band(3000, 9, &t));
  PetscCall(Request(SPMV_TUNE_MEASURE, q));
  q->allowed = 1 << SPMV_NUMBER_bccoo;
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCall(SpmvOptionText(&choice->best, text, sizeof(text)));
  PetscCheck(Together(&choice->best.plan) == 1e-4 && play.attempts <= 192 + 6, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "after %d attempts: %s", (int)play.attempts, text);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A heuristic keeps a knob from being turned; without it all of its values are measured; what the user has set stays */
static PetscErrorCode TestHeuristics(SpmvRequest *q, SpmvChoice *choice)
{
  const struct {
    const char *knob;
    SpmvKnob    kind;
  } knobs[] = {{"device_transpose", SPMV_KNOB_LAYOUT}, {"device_flag_bits", SPMV_KNOB_LOCAL}, {"slices", SPMV_KNOB_SLICES}};
  SpmvTestCSR t;
  PetscInt    aij;

  PetscFunctionBegin;
  PetscCall(Band(3000, 9, &t)); /* as wide as high: slices are not measured */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(knobs); k++) {
    const PetscInt   knob  = Knob(SPMV_NUMBER_bccoo, knobs[k].knob);
    const SpmvParam *param = &SpmvCandidate[SPMV_NUMBER_bccoo]->device->side.params[knob];
    const PetscInt all = param->count - (param->names && !strcmp(param->names[0], "auto")); /* which is one of the others then */

    for (int off = 0; off < 3; off++) { /* 2: off, and the user has set it */
      Play             play   = {.number = SPMV_NUMBER_bccoo, .knob = knob, .fast = -1};
      const SpmvTarget target = Target(POCL, &play);
      PetscInt         values = 0;

      PetscCall(Request(SPMV_TUNE_MEASURE, q));
      q->allowed = 1 << SPMV_NUMBER_bccoo;
      if (off) q->skipped = 1 << (knobs[k].kind - 1) | 1 << SPMV_HEURISTIC_MODEL;
      if (off == 2) q->pinned[SPMV_BACKEND_DEVICE][SPMV_NUMBER_bccoo] = 1 << knob;
      PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
      for (PetscInt c = 0; c < param->count; c++) values += play.seen[param->choices[c] & 63] > 0;
      PetscCheck(values == (off == 1 ? all : 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s had %d values, case %d", param->name,
                 (int)values, off);
    }
  }
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a GPU measuring finds a fast layout or local memory that is not the format's own choice, among the plans of all formats */
static PetscErrorCode TestGpu(SpmvRequest *q, SpmvChoice *choice)
{
  static const struct {
    PetscInt    number;
    const char *knob;
    PetscInt    fast; /* not what a GPU has by itself */
  } knobs[]                        = {{SPMV_NUMBER_bccoo, "device_transpose", 1}, {SPMV_NUMBER_cmrs, "device_order", 0},
                                      {SPMV_NUMBER_cmrs, "device_align", 1},      {SPMV_NUMBER_csradaptive, "device_reduction", 1},
                                      {SPMV_NUMBER_tpspmv, "long", 16},           {SPMV_NUMBER_tpspmv, "device_stage", 2}};
  static const char *const given[] = {"block_height", "block_width",
                                      "device_strategy"}; /* else these come with both transposes */
  SpmvTestCSR              t;
  PetscInt                 aij;

  PetscFunctionBegin;
  PetscCall(Band(3000, 9, &t));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(knobs); k++) {
    Play             play   = {.number = knobs[k].number, .knob = Knob(knobs[k].number, knobs[k].knob), .fast = knobs[k].fast};
    const SpmvTarget target = Target(H100, &play);

    PetscCall(Request(SPMV_TUNE_MEASURE, q));
    for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(given); g++) {
      const PetscInt knob = Knob(SPMV_NUMBER_bccoo, given[g]);

      q->device[SPMV_NUMBER_bccoo].value[knob] = 1;
      q->pinned[SPMV_BACKEND_DEVICE][SPMV_NUMBER_bccoo] |= (PetscInt)1 << knob;
    }
    PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
    PetscCheck(choice->best.number == play.number && choice->best.plan.value[play.knob] == play.fast, PETSC_COMM_SELF,
               PETSC_ERR_PLIB, "%d attempts did not find that %s is fast", (int)play.attempts, knobs[k].knob);
    PetscCheck(play.attempts <= 192 + 6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d attempts", (int)play.attempts);
  }
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was measured is found again on the same device, by another run; not under another driver, nor for the host */
static PetscErrorCode TestWisdom(SpmvRequest *q, SpmvChoice *choice)
{
  char           file[] = "/tmp/petscspmv-tune-device-XXXXXX", lock[64];
  Play           play   = {.number = SPMV_NUMBER_csradaptive, .fast = -1};
  SpmvTarget     target = Target(H100, &play), newer = target;
  SpmvDeviceInfo info = *target.info;
  SpmvPlan       plan;
  PetscInt       aij, before;
  SpmvTestCSR    t;
  const int      fd = mkstemp(file);

  PetscFunctionBegin;
  PetscCheck(fd >= 0 && !close(fd), PETSC_COMM_SELF, PETSC_ERR_SYS, "mkstemp");
  PetscCall(Band(3000, 9, &t));
  PetscCall(Request(SPMV_TUNE_MEASURE, q));
  PetscCall(PetscStrncpy(q->wisdom, file, sizeof(q->wisdom)));
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(play.attempts && choice->from == SPMV_FROM_MEASURE && choice->best.number == SPMV_NUMBER_csradaptive,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "it was not measured");
  plan   = choice->best.plan;
  before = play.attempts;
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &target, &aij, choice));
  PetscCheck(play.attempts == before && choice->from == SPMV_FROM_WISDOM && !memcmp(&plan, &choice->best.plan, sizeof(plan)),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "wisdom has another plan, or none");
  PetscCall(PetscStrncpy(info.driver, "CUDA 13.0", sizeof(info.driver)));
  newer.info = &info;
  PetscCall(Tune(q, &t, SPMV_BACKEND_DEVICE, PETSC_FALSE, &newer, &aij, choice));
  PetscCheck(play.attempts > before && choice->from == SPMV_FROM_MEASURE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "another driver has its wisdom");
  PetscCall(Tune(q, &t, SPMV_BACKEND_HOST, PETSC_FALSE, NULL, &aij, choice));
  PetscCheck(choice->from == SPMV_FROM_MEASURE && choice->best.plan.backend == SPMV_BACKEND_HOST && choice->products,
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "the host has a device's wisdom");
  before = play.attempts;
  PetscCall(Tune(q, &t, SPMV_BACKEND_AUTO, PETSC_TRUE, &target, &aij, choice));
  PetscCheck(play.attempts > before && choice->products && choice->from == SPMV_FROM_MEASURE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "host and device were not both measured");
  before = play.attempts;
  PetscCall(Tune(q, &t, SPMV_BACKEND_AUTO, PETSC_TRUE, &target, &aij, choice));
  PetscCheck(play.attempts == before && !choice->products && choice->from == SPMV_FROM_WISDOM, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "they were measured again");
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscSNPrintf(lock, sizeof(lock), "%s.lock", file));
  (void)unlink(lock);
  (void)unlink(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  SpmvRequest *q;
  SpmvChoice  *choice;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestNoUserFile());
  SpmvMeasureBy(Clock);
  PetscCall(PetscNew(&q));
  PetscCall(PetscNew(&choice));
  PetscCall(TestChoice(q, choice));
  PetscCall(TestMoves(q, choice));
  PetscCall(TestMeasure(q, choice));
  PetscCall(TestTogether(q, choice));
  PetscCall(TestHeuristics(q, choice));
  PetscCall(TestGpu(q, choice));
  PetscCall(TestWisdom(q, choice));
  PetscCall(PetscFree(q));
  PetscCall(PetscFree(choice));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
