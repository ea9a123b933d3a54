/*
  mat_contract_log.h - what an operation left behind, as a list of named results, and the comparison of two lists

  An operation of the contract runs twice by the same code, once on `aij` and once on the type under test. It writes
  down everything it sees (numbers, rows of matrices, texts) in the log of its Case; two logs that differ are a failure.
*/
#pragma once
#include <petscmat.h>
#include <petsc/private/petscimpl.h> /* PetscObjectStateIncrease() */

/* No operation here divides by anything small: what rounding leaves is a few hundred machine epsilons */
#define TOLERANCE PetscPowReal(PETSC_MACHINE_EPSILON, (PetscReal)0.66)

typedef struct {
  char         label[96];
  PetscInt     n;     /* numbers on this process */
  PetscReal    slack; /* how many times TOLERANCE they may differ */
  PetscScalar *v;     /* [n], or NULL for a text */
  char        *text;  /* lines, or NULL for numbers */
} Entry;

typedef struct {
  PetscInt n, max;
  Entry   *e; /* [max], the first n in use */
} Log;

typedef struct {
  MPI_Comm    comm;
  PetscMPIInt rank, size;
  const char *root;             /* the type as a user writes it: aij, bccoo */
  char        seq[64], mpi[64]; /* its full names */
  const char *full;             /* the one of the two that fits comm */
  int         kind;             /* the test matrix, see mat_contract_matrices.h */
  const char *arg;              /* argument of the operation, from the table */
  PetscBool   forget;           /* the operation left a matrix that can no longer multiply: do not look at it again */
  PetscReal   slack;            /* goes into the entries, 1 but where less than all digits can agree */
  PetscInt    refused;          /* calls that failed, and may as long as they do with AIJ too */
  Log         log;
} Case;

static PetscErrorCode LogAppend(Case *c, const char label[], Entry **e)
{
  Log *log = &c->log;

  PetscFunctionBegin;
  if (log->n == log->max) {
    Entry         *bigger;
    const PetscInt max = log->max ? 2 * log->max : 64;

    PetscCall(PetscCalloc1(max, &bigger));
    for (PetscInt k = 0; k < log->n; k++) bigger[k] = log->e[k];
    PetscCall(PetscFree(log->e));
    log->e   = bigger;
    log->max = max;
  }
  *e          = &log->e[log->n++];
  (*e)->slack = c->slack;
  PetscCall(PetscStrncpy((*e)->label, label, sizeof((*e)->label)));
  PetscFunctionReturn(0);
}

static PetscErrorCode LogReset(Log *log)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < log->n; k++) {
    PetscCall(PetscFree(log->e[k].v));
    PetscCall(PetscFree(log->e[k].text));
  }
  PetscCall(PetscFree(log->e));
  log->n = log->max = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordNumbers(Case *c, const char label[], PetscInt n, const PetscScalar v[])
{
  Entry *e;

  PetscFunctionBegin;
  PetscCall(LogAppend(c, label, &e));
  e->n = n;
  PetscCall(PetscMalloc1(n + 1, &e->v));
  for (PetscInt k = 0; k < n; k++) e->v[k] = v[k];
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordReals(Case *c, const char label[], PetscInt n, const PetscReal v[])
{
  Entry *e;

  PetscFunctionBegin;
  PetscCall(LogAppend(c, label, &e));
  e->n = n;
  PetscCall(PetscMalloc1(n + 1, &e->v));
  for (PetscInt k = 0; k < n; k++) e->v[k] = v[k];
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordInts(Case *c, const char label[], PetscInt n, const PetscInt v[])
{
  Entry *e;

  PetscFunctionBegin;
  PetscCall(LogAppend(c, label, &e));
  e->n = n;
  PetscCall(PetscMalloc1(n + 1, &e->v));
  for (PetscInt k = 0; k < n; k++) e->v[k] = (PetscReal)v[k];
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordInt(Case *c, const char label[], PetscInt v)
{
  PetscFunctionBegin;
  PetscCall(RecordInts(c, label, 1, &v));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordReal(Case *c, const char label[], PetscReal v)
{
  PetscFunctionBegin;
  PetscCall(RecordReals(c, label, 1, &v));
  PetscFunctionReturn(0);
}

/* The full names of the type under test become those of AIJ, so that texts can be compared; memory is not AIJ's */
static PetscErrorCode RecordText(Case *c, const char label[], const char text[])
{
  Entry      *e;
  size_t      length, k = 0;
  const char *mine[]   = {c->seq, c->mpi};
  const char *theirs[] = {MATSEQAIJ, MATMPIAIJ};

  PetscFunctionBegin;
  PetscCall(LogAppend(c, label, &e));
  PetscCall(PetscStrlen(text, &length));
  PetscCall(PetscMalloc1(2 * length + 64, &e->text));
  while (*text) {
    PetscBool same = PETSC_FALSE;

    for (int t = 0; t < 2 && !same; t++) {
      PetscCall(PetscStrlen(mine[t], &length));
      PetscCall(PetscStrncmp(text, mine[t], length, &same));
      if (!same) continue;
      text += length;
      for (const char *s = theirs[t]; *s; s++) e->text[k++] = *s;
    }
    if (!same) e->text[k++] = *text++;
    PetscCall(PetscStrncmp(text, " mem ", 5, &same));
    if (same)
      for (text += 5; *text && *text != ','; text++) continue;
  }
  e->text[k] = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordVec(Case *c, const char label[], Vec v)
{
  const PetscScalar *array;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &array));
  PetscCall(RecordNumbers(c, label, n, array));
  PetscCall(VecRestoreArrayRead(v, &array));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordIS(Case *c, const char label[], IS is)
{
  const PetscInt *index;
  PetscInt        n = 0;

  PetscFunctionBegin;
  if (!is) {
    PetscCall(RecordInt(c, label, -1));
    PetscFunctionReturn(0);
  }
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &index));
  PetscCall(RecordInts(c, label, n, index));
  PetscCall(ISRestoreIndices(is, &index));
  PetscFunctionReturn(0);
}

/* Every line of the reference must be in the text, in the same order; other lines may stand between them */
static PetscErrorCode TextContains(const char text[], const char reference[], PetscBool *contains)
{
  PetscFunctionBegin;
  while (*reference) {
    const char *end = reference;
    PetscBool   same;

    while (*end && *end != '\n') end++;
    for (same = PETSC_FALSE; *text && !same;) {
      const char *stop = text;

      while (*stop && *stop != '\n') stop++;
      if (stop - text == end - reference) PetscCall(PetscStrncmp(text, reference, (size_t)(end - reference), &same));
      text = *stop ? stop + 1 : stop;
    }
    *contains = same;
    if (!same) PetscFunctionReturn(0);
    reference = *end ? end + 1 : end;
  }
  *contains = PETSC_TRUE;
  PetscFunctionReturn(0);
}

/* The first difference as a sentence; an empty sentence if there is none on this process */
static PetscErrorCode LogCompare(const Log *a, const Log *b, char difference[], size_t length)
{
  PetscFunctionBegin;
  difference[0] = 0;
  for (PetscInt k = 0; k < PetscMin(a->n, b->n); k++) {
    const Entry *r = &a->e[k], *e = &b->e[k];
    PetscReal    scale = 1.0, worst = 0.0;
    PetscBool    same;

    PetscCall(PetscStrcmp(r->label, e->label, &same));
    if (!same) PetscCall(PetscSNPrintf(difference, length, "'%s' where aij has '%s'", e->label, r->label));
    else if (r->text && e->text) {
      PetscCall(TextContains(e->text, r->text, &same));
      if (!same)
        PetscCall(PetscSNPrintf(difference, length, "'%s' reads '%.400s' where aij has '%.400s'", e->label, e->text, r->text));
    } else if (r->n != e->n)
      PetscCall(PetscSNPrintf(difference, length, "'%s' has %" PetscInt_FMT " numbers where aij has %" PetscInt_FMT, e->label,
                              e->n, r->n));
    else {
      for (PetscInt i = 0; i < r->n; i++)
        if (!PetscIsInfOrNanScalar(r->v[i])) scale = PetscMax(scale, PetscAbsScalar(r->v[i]));
      for (PetscInt i = 0; i < r->n; i++) {
        if (PetscIsInfOrNanScalar(r->v[i]) && PetscIsInfOrNanScalar(e->v[i])) continue;
        if (PetscIsInfOrNanScalar(e->v[i]) || PetscIsInfOrNanScalar(r->v[i])) worst = PETSC_MAX_REAL;
        else worst = PetscMax(worst, PetscAbsScalar(r->v[i] - e->v[i]));
      }
      if (worst > r->slack * TOLERANCE * scale)
        PetscCall(PetscSNPrintf(difference, length, "'%s' is off by %g", e->label, (double)worst));
    }
    if (difference[0]) PetscFunctionReturn(0);
  }
  if (a->n != b->n)
    PetscCall(PetscSNPrintf(difference, length, "%" PetscInt_FMT " results where aij has %" PetscInt_FMT, b->n, a->n));
  PetscFunctionReturn(0);
}

/* What the last error said; an operation that fails under both types is no failure, under one it is, and this names it */
static char lasterror[256];

static PetscErrorCode ErrorKeep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                PetscErrorType type, const char *message, void *ctx)
{
  (void)comm;
  (void)file;
  (void)ctx;
  if (type == PETSC_ERROR_INITIAL)
    snprintf(lasterror, sizeof(lasterror), "%s (%s, line %d)", message ? message : "no message", function, line);
  return code;
}

/* Calls what may fail, writes down whether it did */
#define Try(c, label, ok, call) \
  do { \
    PetscErrorCode try_error; \
    PetscCall(PetscPushErrorHandler(ErrorKeep, NULL)); \
    try_error = call; \
    PetscCall(PetscPopErrorHandler()); \
    (ok) = try_error ? PETSC_FALSE : PETSC_TRUE; \
    if (!(ok)) (c)->refused++; \
    PetscCall(RecordInt(c, label, ok)); \
  } while (0)
