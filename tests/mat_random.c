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
#include "mat_random_settings.h"

#include <signal.h>

#define MAXSTEPS 200

static const Step Steps[] = {
  {"mult", DoMult, 0, 4},
  {"multadd", DoMultAdd, 0, 2},
  {"multtranspose", DoMultTranspose, 0, 3},
  {"multtransposeadd", DoMultTransposeAdd, 0, 2},
  {"multhermitian", DoMultHermitian, 0, 1},
  {"query", DoQuery, 0, 1},
  {"view", DoView, 0, 1},
  {"dense", DoDense, 0, 2},
  {"matmult", DoMatMult, PATTERN, 1},
  {"transposematmult", DoTransposeMatMult, PATTERN, 1},
  {"ptap", DoPtAP, SQUARE | PATTERN, 1},
  {"submatrices", DoSubMatrices, 0, 1},
  {"scale", DoScale, 0, 1},
  {"shift", DoShift, SQUARE | PATTERN, 2},
  {"diagonalscale", DoDiagonalScale, 0, 1},
  {"diagonalset", DoDiagonalSet, SQUARE | PATTERN, 1},
  {"setvalues", DoSetValues, 0, 3},
  {"newentries", DoNewEntries, PATTERN, 3},
  {"zeroentries", DoZeroEntries, 0, 2},
  {"zerorows", DoZeroRows, SQUARE | PATTERN, 2},
  {"zerorowscolumns", DoZeroRowsColumns, SQUARE | PATTERN, 1},
  {"axpy", DoAXPY, PATTERN, 3},
  {"array", DoArray, 0, 2},
  {"storevalues", DoStoreValues, PATTERN, 1},
  {"duplicate", DoDuplicate, PATTERN, 2},
  {"copy", DoCopy, PATTERN, 2},
  {"convert", DoConvert, PATTERN, 2},
  {"transpose", DoTranspose, PATTERN, 2},
  {"symmetrize", DoSymmetrize, SQUARE | PATTERN, 1},
  {"permute", DoPermute, PATTERN, 1},
  {"submatrix", DoSubMatrix, SQUARE | PATTERN, 1},
  {"header", DoHeader, PATTERN, 2},
  {"coo", DoCoo, COORDINATES, 2},
  {"coovalues", DoCooValues, 0, 2},
  {"assemble", DoAssemble, 0, 1},
  {"option", DoOption, 0, 1},
  {"bind", DoBind, 0, 1},
  {"sor", DoSOR, SQUARE, 6},
  {"pc", DoPC, SQUARE, 8},
  {"ksp", DoKSP, SQUARE, 2},
  {"settings", DoSettings, 0, 4},
  {"device", DoDevice, DEVICE, 4},
};
#define STEPS (PetscInt) PETSC_STATIC_ARRAY_LENGTH(Steps)

typedef struct {
  Start    kind;
  PetscInt n, nsteps;
  uint64_t salt;
  struct {
    PetscInt step;
    uint64_t salt;
  } step[MAXSTEPS];
} Sequence;

/* What became of a sequence. at: the step after which it failed; -1: it did not */
typedef struct {
  PetscInt  at;
  PetscBool refused;
  char      what[512];
} Outcome;

static char            type[64] = MATBCCOO;
static const Sequence *running;
static PetscInt        runningat; /* in that sequence */
static char            lasterror[256];

static void SequenceText(const Sequence *q, PetscInt nsteps, char text[], size_t size)
{
  size_t used = (size_t)snprintf(text, size, "%s.%d:%06llx", StartNames[q->kind], (int)q->n, (unsigned long long)q->salt);

  for (PetscInt k = 0; k < nsteps && used < size; k++)
    used +=
      (size_t)snprintf(text + used, size - used, " %s:%06llx", Steps[q->step[k].step].name, (unsigned long long)q->step[k].salt);
}

/* Where the program ends in the middle of a sequence */
static void Complain(const char what[])
{
  char text[MAXSTEPS * 40];

  if (!running) return;
  SequenceText(running, runningat + 1, text, sizeof(text));
  fprintf(stderr, "mat_random: %s on process %d of %d: -type %s -replay \"%s\"\n", what, rank, ranks, type, text);
  fflush(stderr);
}

/* PETSc does not catch these: what free() finds, and somebody's patience ending */
static void OnAbort(int number)
{
  Complain(number == SIGTERM ? "termination" : "abort");
  signal(number, SIG_DFL);
  raise(number);
}

static PetscErrorCode OnSignal(int signal, void *context)
{
  char what[32];

  (void)context;
  snprintf(what, sizeof(what), "signal %d", signal);
  Complain(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 0;
}

static PetscErrorCode OnError(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode ierr,
                              PetscErrorType kind, const char *message, void *context)
{
  (void)comm;
  (void)context;
  if (kind == PETSC_ERROR_INITIAL) snprintf(lasterror, sizeof(lasterror), "%s, %s:%d: %s", function, file, line, message);
  if (ranks == 1) return ierr;
  Complain(lasterror);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return ierr;
}

static PetscErrorCode SideDestroy(Side *s)
{
  PetscFunctionBegin;
  PetscCall(Release(s));
  for (int k = 0; k < SLOTS; k++) PetscCall(PCDestroy(&s->slot[k].pc));
  PetscCall(MatDestroy(&s->A));
  PetscCall(PetscFree(s->records));
  PetscCall(PetscFree(s->values));
  PetscFunctionReturn(0);
}

/* One step on one matrix. An error is the step's */
static PetscErrorCode RunSide(const Sequence *q, PetscInt k, Side *s, PetscErrorCode *error)
{
  const uint64_t salt    = k < 0 ? q->salt : q->step[k].salt;
  Draw           d       = {Mix(salt + 1)};
  PetscBool      pattern = PETSC_TRUE;

  PetscFunctionBegin;
  s->nrecords = s->nvalues = 0;
  lasterror[0]             = 0;
  PetscCall(PetscPushErrorHandler(OnError, NULL));
  if (k < 0) *error = MatStart(s, q->kind, q->n, &d);
  else {
    const Step *step = &Steps[q->step[k].step];

    *error = step->needs & PATTERN ? DropCoo(s) : 0;
    if (!*error) *error = step->run(s, &d);
    pattern = (PetscBool)((step->needs & (PATTERN | COORDINATES)) != 0);
  }
  if (!*error && pattern) *error = NewPattern(s);
  if (!*error && (k < 0 || k == q->nsteps - 1 || salt % 4 == 0)) *error = RecordRows(s, "entries of the matrix", s->A);
  if (!*error && k == q->nsteps - 1) *error = RecordMult(s, "last product", s->A, 1);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Release(s));
  PetscFunctionReturn(0);
}

/* Both matrices stay of a size near 1 */
static PetscErrorCode Tame(Side s[2])
{
  PetscFunctionBegin;
  PetscCall(GetFacts(s[0].A, &facts));
  if (facts.norm == 0 || (facts.norm < 50 && facts.norm > (PetscReal)0.02)) PetscFunctionReturn(0);
  for (int k = 0; k < 2; k++) PetscCall(MatScale(s[k].A, 1 / facts.norm));
  PetscCall(GetFacts(s[0].A, &facts));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunStep(const Sequence *q, PetscInt k, Side s[2], Outcome *o)
{
  const char    *name     = k < 0 ? "start" : Steps[q->step[k].step].name;
  const unsigned needs    = k < 0 ? 0 : Steps[q->step[k].step].needs;
  PetscErrorCode error[2] = {0, 0};
  PetscInt64     before   = compared;

  PetscFunctionBegin;
  if (((needs & SQUARE) && !facts.square) || ((needs & DEVICE) && !device)) PetscFunctionReturn(0);
  runningat = k;
  if (verbose)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: %d x %d, %d entries", name, (int)facts.M, (int)facts.N, (int)facts.entries));
  for (int side = 0; side < 2; side++) PetscCall(RunSide(q, k, &s[side], &error[side]));
  if (verbose) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%s\n", error[1] ? ", error: " : "", lasterror));
  o->refused = (PetscBool)(error[0] && error[0] == error[1]);
  if (o->refused) PetscFunctionReturn(0);
  if (error[0] || error[1])
    PetscCall(PetscSNPrintf(o->what, sizeof(o->what), "error %d, not %d; %s", (int)error[1], (int)error[0], lasterror));
  else PetscCall(Compare(&s[0], &s[1], o->what, sizeof(o->what)));
  if (o->what[0]) o->at = PetscMax(k, 0);
  else PetscCall(Tame(s));
  if (verbose && !o->what[0]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "    %d results\n", (int)(compared - before)));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(const Sequence *q, Outcome *o)
{
  Side s[2];
  Draw d = {Mix(q->salt)};

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(s)));
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscCall(PetscMemzero(&facts, sizeof(facts)));
  s[0].type = MATAIJ;
  s[1].type = type;
  s[1].ours = PETSC_TRUE;
  o->at     = -1;
  running   = q;
  PetscCall(KnobsReset(&d));
  for (PetscInt k = -1; k < q->nsteps && o->at < 0 && !o->refused; k++) PetscCall(RunStep(q, k, s, o));
  for (int k = 0; k < 2; k++) PetscCall(SideDestroy(&s[k]));
  running = NULL;
  PetscFunctionReturn(0);
}

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
  const PetscInt wanted = q->nsteps ? q->step[q->nsteps - 1].step : -1;
  Outcome        now;
  PetscInt       at;

  PetscFunctionBegin;
  PetscCall(Run(shorter, &now));
  at    = now.at < 0 || !shorter->nsteps ? -1 : shorter->step[now.at].step;
  *kept = (PetscBool)(now.at >= 0 && at == wanted);
  if (!*kept) PetscFunctionReturn(0);
  *q        = *shorter;
  q->nsteps = shorter->nsteps ? now.at + 1 : 0;
  *o        = now;
  PetscFunctionReturn(0);
}

static PetscErrorCode Shrink(Sequence *q, Outcome *o)
{
  PetscBool again = PETSC_TRUE, kept;

  PetscFunctionBegin;
  q->nsteps = q->nsteps ? o->at + 1 : 0;
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
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n  on %d ranks: -type %s -replay \"%s\"\n",
                        q->nsteps ? Steps[q->step[o->at].step].name : "start", o->what, ranks, type, text));
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
    if (o.at < 0) continue;
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
    if (o.at >= 0) PetscCall(Report(&q, &o));
    p.failures  = o.at >= 0;
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
    output_file: output/mat_sor.out
    test:
      suffix: types
      args: -type {{FORMATS spmv}} -sequences 20
    test:
      suffix: ranks
      nsize: {{2 3 4}}
      args: -type spmv -sequences 20

TEST*/
