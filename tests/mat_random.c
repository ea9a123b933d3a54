static const char help[] =
  "Random sequences of operations on a matrix of AIJ and on one of our types, whose results are compared after each.\n\
  -type <bccoo>      the type under test\n\
  -seed <1>          of the first sequence; the others follow from it\n\
  -first <0>         which one of them to begin with\n\
  -sequences <20>    how many\n\
  -seconds <T>       as many as T seconds allow, and how many these were\n\
  -steps <20>        operations of a sequence\n\
  -device            products on a device, too\n\
  -replay <steps>    one sequence, as a failure prints it\n\
  -shrink <true>     whether a sequence that fails is made as short as possible\n\
  -v                 a line for each step\n\n";

/*
  mat_random - what has gone stale shows only after some operations in an order that nobody thought of

  A sequence begins with a random matrix. Each step is one operation, which runs on the matrix of AIJ first and on ours then; both
  draw its parameters from the step's own salt. They record what they see, and the records must agree. One that fails is run
  again with steps left out, and with smaller matrices, until nothing can be spared.

  Errors are results as well: where AIJ refuses, ours must, with the same code; the sequence ends there. On several processes an
  error would leave some waiting for others, so that it ends the program, after the sequence was printed.
*/
#include "mat_random_run.h"

static void SequenceDraw(uint64_t seed, PetscInt nsteps, Sequence *q)
{
  Draw     d   = {Mix(seed)};
  PetscInt sum = 0;

  for (PetscInt k = 0; k < STEPS; k++) sum += Steps[k].needs & DEVICE && !device ? 0 : Steps[k].weight;
  q->kind   = (Start)DrawBelow(&d, STARTS);
  q->n      = 1 + DrawBelow(&d, DrawChance(&d, 30) ? 12 : DrawChance(&d, 60) ? 60 : 200);
  q->salt   = DrawBits(&d) & 0xffffff;
  q->nsteps = PetscMin(nsteps, MAXSTEPS);
  for (PetscInt k = 0; k < q->nsteps; k++) {
    PetscInt at = DrawBelow(&d, sum), step = 0;

    while (at >= Steps[step].weight) at -= Steps[step++].weight;
    q->step[k].step = step;
    q->step[k].salt = DrawBits(&d) & 0xffffff;
  }
}

/* Keeps a shorter sequence if it fails at the same kind of step */
static PetscErrorCode Try(const Sequence *shorter, Sequence *q, Outcome *o, PetscBool *kept)
{
  Outcome now;

  PetscFunctionBegin;
  PetscCall(Run(shorter, &now));
  *kept = (PetscBool)(now.failed && !strcmp(StepName(shorter, now.at), StepName(q, o->at)));
  if (!*kept) PetscFunctionReturn(0);
  *q        = *shorter;
  q->nsteps = now.at + 1;
  *o        = now;
  PetscFunctionReturn(0);
}

static PetscErrorCode Shrink(Sequence *q, Outcome *o)
{
  PetscBool again = PETSC_TRUE, kept;

  PetscFunctionBegin;
  q->nsteps = o->at + 1;
  while (again) {
    again = PETSC_FALSE;
    for (PetscInt k = q->nsteps - 2; k >= 0; k--) {
      Sequence shorter = *q;

      for (PetscInt p = k; p < q->nsteps - 1; p++) shorter.step[p] = q->step[p + 1];
      shorter.nsteps--;
      PetscCall(Try(&shorter, q, o, &kept));
      if (kept) again = PETSC_TRUE;
      k = PetscMin(k, q->nsteps - 1);
    }
    for (PetscInt n = 1; n < q->n; n += 1 + n / 4) {
      Sequence smaller = *q;

      smaller.n = n;
      PetscCall(Try(&smaller, q, o, &kept));
      if (kept) again = PETSC_TRUE;
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Report(const Sequence *q, const Outcome *o)
{
  char text[MAXSTEPS * 40];

  PetscFunctionBegin;
  SequenceText(q, q->nsteps, text, sizeof(text));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n  on %d ranks: -type %s -replay \"%s\"\n", StepName(q, o->at), o->what, ranks,
                        type, text));
  PetscFunctionReturn(0);
}

static PetscErrorCode Parse(const char text[], Sequence *q)
{
  char **words, name[64];
  int    n;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(text, ' ', &n, &words));
  PetscCheck(n > 0 && n <= MAXSTEPS, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-replay has %d words; give kind.rows:salt and steps",
             n);
  q->nsteps = n - 1;
  for (int w = 0; w < n; w++) {
    unsigned long long salt;
    int                rows = 0, found = -1;

    if (w == 0)
      PetscCheck(sscanf(words[w], "%60[^.].%d:%llx", name, &rows, &salt) == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
                 "%s is not kind.rows:salt", words[w]);
    else
      PetscCheck(sscanf(words[w], "%60[^:]:%llx", name, &salt) == 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "%s is not step:salt",
                 words[w]);
    for (int k = 0; k < (w ? (int)STEPS : STARTS); k++)
      if (!strcmp(name, w ? Steps[k].name : StartNames[k])) found = k;
    PetscCheck(found >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "There is no %s", name);
    if (w) {
      q->step[w - 1].step = found;
      q->step[w - 1].salt = salt;
    } else {
      q->kind = (Start)found;
      q->n    = rows;
      q->salt = salt;
    }
  }
  PetscCall(PetscStrToArrayDestroy(n, words));
  PetscFunctionReturn(0);
}

typedef struct {
  PetscInt  seed, first, sequences, steps, failures, refused;
  PetscReal seconds;
  PetscBool shrink;
} Plan;

static PetscErrorCode RunAll(Plan *p)
{
  const double start = MPI_Wtime();

  PetscFunctionBegin;
  for (PetscInt k = 0; p->seconds > 0 || k < p->sequences; k++) {
    int      late = MPI_Wtime() - start > (double)p->seconds;
    Sequence q;
    Outcome  o;

    PetscCallMPI(MPI_Bcast(&late, 1, MPI_INT, 0, PETSC_COMM_WORLD));
    if (p->seconds > 0) {
      if (late) break;
      p->sequences = k + 1;
    }
    SequenceDraw((uint64_t)p->seed * 1000003 + (uint64_t)(p->first + k), p->steps, &q);
    if (verbose) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sequence %d of seed %d\n", (int)(p->first + k), (int)p->seed));
    PetscCall(Run(&q, &o));
    p->refused += o.refused;
    if (!o.failed) continue;
    p->failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sequence %d of seed %d fails\n", (int)(p->first + k), (int)p->seed));
    if (p->shrink) PetscCall(Shrink(&q, &o));
    PetscCall(Report(&q, &o));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Plan      p = {1, 0, 20, 20, 0, 0, 0, PETSC_TRUE};
  char      replay[MAXSTEPS * 40];
  PetscBool set, missing;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &p.seed, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &p.first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sequences", &p.sequences, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &p.steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &p.seconds, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-shrink", &p.shrink, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-v", &verbose));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-device", &device));
  PetscCall(DeviceIsMissing(&missing));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(KnobsBegin());
  PetscCall(PetscPushSignalHandler(OnSignal, NULL));
  signal(SIGABRT, OnAbort);
  signal(SIGTERM, OnAbort);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-replay", replay, sizeof(replay), &set));
  if (missing) p.sequences = 0;
  else if (set) {
    Sequence q;
    Outcome  o;

    PetscCall(Parse(replay, &q));
    PetscCall(Run(&q, &o));
    if (o.failed) PetscCall(Report(&q, &o));
    p.failures  = o.failed;
    p.sequences = 1;
  } else PetscCall(RunAll(&p));
  if (p.seconds > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d sequences, %lld results, %d ended by errors of both\n", (int)p.sequences,
                          (long long)compared, (int)p.refused));
  if (!missing) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d failures\n", (int)p.failures));
  PetscCall(PetscPopSignalHandler());
  PetscCall(PetscFinalize());
  return p.failures ? 1 : 0;
}

/*TEST

  testset:
    output_file: output/mat_random.out
    test:
      suffix: types
      args: -type {{FORMATS spmv}} -sequences 200
    test:
      suffix: ranks
      nsize: {{2 3 4}}
      args: -type spmv -sequences 50
    test:
      suffix: device
      args: -type {{DEVICE_FORMATS}} -sequences 10 -device -skip_without_device -spmv_device opencl
      filter: grep -v "WARNING!\|unused database option\|Option left"
    test:
      suffix: types_long
      args: -type {{FORMATS spmv}} -sequences 5000 -seed {{2 3}}
    test:
      suffix: ranks_long
      nsize: {{2 3 4}}
      args: -type {{FORMATS spmv}} -sequences 250 -seed 2

TEST*/
