/*
  mat_random_run.h - one sequence of mat_random.c: all steps that there are, and how they run on both sides
*/
#pragma once
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
  {"declared", DoDeclared, SQUARE | PATTERN, 2},
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

/* What became of a sequence */
typedef struct {
  PetscInt  at; /* the step after which it failed; -1: the start */
  PetscBool failed, refused;
  char      what[512];
} Outcome;

static char            type[64] = MATBCCOO;
static const Sequence *running;
static PetscInt        runningat; /* in that sequence */
static char            lasterror[256];

static const char *StepName(const Sequence *q, PetscInt k)
{
  return k < 0 ? "start" : Steps[q->step[k].step].name;
}

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
  const unsigned needs    = k < 0 ? 0 : Steps[q->step[k].step].needs;
  PetscErrorCode error[2] = {0, 0};
  PetscInt64     before   = compared;

  PetscFunctionBegin;
  if (((needs & SQUARE) && !facts.square) || ((needs & DEVICE) && !device)) PetscFunctionReturn(0);
  runningat = k;
  if (verbose)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "  %s: %d x %d, %d entries", StepName(q, k), (int)facts.M, (int)facts.N, (int)facts.entries));
  for (int side = 0; side < 2; side++) PetscCall(RunSide(q, k, &s[side], &error[side]));
  if (verbose) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%s\n", error[1] ? ", error: " : "", lasterror));
  o->refused = (PetscBool)(error[0] && error[0] == error[1]);
  if (o->refused) PetscFunctionReturn(0);
  if (error[0] || error[1])
    PetscCall(PetscSNPrintf(o->what, sizeof(o->what), "error %d, not %d; %s", (int)error[1], (int)error[0], lasterror));
  else PetscCall(Compare(&s[0], &s[1], o->what, sizeof(o->what)));
  o->failed = (PetscBool)(o->what[0] != 0);
  o->at     = k;
  if (!o->failed) PetscCall(Tame(s));
  if (verbose && !o->failed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "    %d results\n", (int)(compared - before)));
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
  running   = q;
  PetscCall(KnobsReset(&d));
  for (PetscInt k = -1; k < q->nsteps && !o->failed && !o->refused; k++) PetscCall(RunStep(q, k, s, o));
  for (int k = 0; k < 2; k++) PetscCall(SideDestroy(&s[k]));
  running = NULL;
  PetscFunctionReturn(0);
}
