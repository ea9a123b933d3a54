/*
  summary.c - -spmv_summary: what products, sweeps and solves took, by whose kernel, and what storages cost and saved

  Matrices add what they spent when they are destroyed, factors and the blocks of a parallel matrix among them, those that are
  still there when PETSc ends as well. What is alike (matrix, work, storage) is one line, so that the matrices of a loop, or the
  levels of a multigrid method that is set up again and again, are no more lines than those of one. The lines are of the first
  process; the totals, of all.
*/
#define _GNU_SOURCE /* sched_getaffinity() */
#include "report.h"
#include "../host/machine.h"
#include <petsctime.h>
#include <sched.h>

/*MC
  SpmvReportOptions - the options that print or write at the end of a run what matrices of this library did

  They are of the whole process and take no prefix.

  Options Database Keys:
+ -spmv_summary
. -spmv_advise
. -spmv_advise_least
- -spmv_view_counts

  Level: beginner

  Notes:
  `PetscFinalize()` prints. Lines are of the first process, totals of all.

  With -spmv_advise, PETSc's default log is switched on when the library is loaded, since PETSc times nothing otherwise.

.seealso: `MatSpmvOptions`, `SpmvDeviceOptions`, `SpmvCounts`, `MatSpmvGetCounts()`, `SpmvInitializePackage()`
M*/

#define SUMMARY_LINES 32 /* printed, of the matrices of most time */

/* SummaryEntry: a line, and the matrix that it is of */
typedef struct {
  SpmvUse        use;
  size_t         group;   /* number of the matrix */
  PetscLogDouble seconds; /* of all lines of that matrix */
} SummaryEntry;

static PetscBool      Wanted, Advise;
static PetscReal      Least;
static PetscLogDouble Start; /* when the library was loaded */
static SpmvUse       *Use;   /* [Uses] */
static size_t         Uses, Room;

/* Reads the options and starts the clock */
PetscErrorCode SpmvSummaryInitialize(void)
{
  PetscFunctionBegin;
  Least = 0.05;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spmv_summary", &Wanted, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spmv_advise", &Advise, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-spmv_advise_least", &Least, NULL));
  PetscCheck(Least >= 0 && Least <= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "%g is no share of a run; set -spmv_advise_least to a value from 0 to 1", (double)Least);
  if (Advise) PetscCall(SpmvLogBegin());
  PetscCall(PetscTime(&Start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool SpmvSummaryWanted(void)
{
  return (PetscBool)(Wanted || Advise);
}

/* One more call; typical: its time tells what one of this kernel takes */
void SpmvSpentCall(SpmvSpent *s, PetscBool ours, PetscBool typical, PetscLogDouble seconds)
{
  s->calls[ours]++;
  s->seconds[ours] += seconds;
  if (typical && (s->least[ours] == 0 || seconds < s->least[ours])) s->least[ours] = seconds;
}

static void SpmvSpentAdd(SpmvSpent *sum, const SpmvSpent *s)
{
  for (int k = 0; k < 2; k++) {
    sum->calls[k] += s->calls[k];
    sum->seconds[k] += s->seconds[k];
    if (s->least[k] > 0 && (sum->least[k] == 0 || s->least[k] < sum->least[k])) sum->least[k] = s->least[k];
  }
  sum->setup += s->setup;
  sum->choosing += s->choosing;
}

/* Seconds that ours saved, by the least times of a call, less set-up; known: both kernels have been timed */
PetscLogDouble SpmvSpentSaved(const SpmvSpent *s, PetscBool *known)
{
  *known = (PetscBool)(s->least[0] > 0 && s->least[1] > 0);
  if (!s->calls[1]) *known = PETSC_TRUE;
  return (s->calls[1] && *known ? (PetscLogDouble)s->calls[1] * (s->least[0] - s->least[1]) : 0) - s->setup;
}

/*
  SpmvSummaryAdd - what a matrix spent on one kind of work, before it is destroyed
*/
PetscErrorCode SpmvSummaryAdd(const SpmvUse *use)
{
  size_t k = 0;

  PetscFunctionBegin;
  if (!SpmvSummaryWanted() || !(use->spent.calls[0] + use->spent.calls[1])) PetscFunctionReturn(PETSC_SUCCESS);
  while (k < Uses &&
         (Use[k].work != use->work || memcmp(&Use[k].label, &use->label, sizeof(use->label)) || strcmp(Use[k].by, use->by)))
    k++;
  if (k == Room) {
    SpmvUse *more;

    PetscCall(PetscMalloc1(2 * Room + 16, &more));
    PetscCall(PetscArraycpy(more, Use, Uses));
    PetscCall(PetscFree(Use));
    Use  = more;
    Room = 2 * Room + 16;
  }
  if (k == Uses) Use[Uses++] = *use;
  else {
    Use[k].matrices++;
    Use[k].most = PetscMax(Use[k].most, use->most);
    SpmvSpentAdd(&Use[k].spent, &use->spent);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble SummarySeconds(const SpmvSpent *s)
{
  return s->seconds[0] + s->seconds[1] + s->setup;
}

/* For qsort(): the matrices of most time first, and of each the kinds of work in their order */
static int SummaryCompare(const void *a, const void *b)
{
  const SummaryEntry *x = (const SummaryEntry *)a, *y = (const SummaryEntry *)b;

  if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return (int)x->use.work - (int)y->use.work;
}

/* The lines in the order in which they are printed */
static PetscErrorCode SummarySort(SummaryEntry **sorted)
{
  SummaryEntry *e;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(Uses, &e));
  for (size_t k = 0; k < Uses; k++) {
    e[k].use   = Use[k];
    e[k].group = 0;
    while (memcmp(&Use[e[k].group].label, &Use[k].label, sizeof(Use[k].label))) e[k].group++;
    e[k].seconds = 0;
    for (size_t i = 0; i < Uses; i++) {
      if (!memcmp(&Use[i].label, &Use[k].label, sizeof(Use[k].label))) e[k].seconds += SummarySeconds(&Use[i].spent);
    }
  }
  qsort(e, Uses, sizeof(*e), SummaryCompare);
  *sorted = e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* "matrix 'A', prefix el_, type spmv, 300 x 300, 900 nonzeros"; of a block, which one of what comes first */
PetscErrorCode SpmvLabelText(const SpmvLabel *l, char text[], size_t size)
{
  static const char *const parts[] = {"", "diagonal block of ", "off-diagonal block of ", "incomplete factor of "};

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, size, "%smatrix", parts[l->part]));
  if (l->name[0]) PetscCall(SpmvAppend(text, size, " '%s'", l->name));
  if (l->prefix[0]) PetscCall(SpmvAppend(text, size, ", prefix %s", l->prefix));
  if (l->type[0]) PetscCall(SpmvAppend(text, size, ", type %s", l->type));
  PetscCall(SpmvAppend(text, size, ", %" PetscInt64_FMT " x %" PetscInt64_FMT, l->M, l->N));
  if (l->m != l->M || l->n != l->N)
    PetscCall(SpmvAppend(text, size, ", here %" PetscInt64_FMT " x %" PetscInt64_FMT, l->m, l->n));
  if (l->nonzeros >= 0) PetscCall(SpmvAppend(text, size, ", %" PetscInt64_FMT " nonzeros", l->nonzeros));
  if (l->level != SPMV_LEVEL_NONE) PetscCall(SpmvAppend(text, size, ", multigrid level %" PetscInt64_FMT, l->level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const Works[SPMV_WORK_COUNT] = {"products", "sweeps", "solves"};

static PetscErrorCode SummaryPrint(const SpmvUse *u)
{
  const SpmvSpent     *s          = &u->spent;
  char                 faster[16] = "-", saved[16] = "-";
  PetscBool            known;
  const PetscLogDouble seconds = SpmvSpentSaved(s, &known);

  PetscFunctionBegin;
  if (s->least[0] > 0 && s->least[1] > 0)
    PetscCall(PetscSNPrintf(faster, sizeof(faster), "%.2f", (double)(s->least[0] / s->least[1])));
  if (known) PetscCall(PetscSNPrintf(saved, sizeof(saved), "%.3f", (double)seconds));
  PetscCall(PetscPrintf(
    PETSC_COMM_WORLD, "    %-9s %8" PetscInt64_FMT " %9.3f %8" PetscInt64_FMT " %9.3f %7s %8.3f %8.3f %8s %8.2f  %s\n",
    Works[u->work], s->calls[0], (double)s->seconds[0], s->calls[1], (double)s->seconds[1], faster, (double)s->choosing,
    (double)(s->setup - s->choosing), saved, 1e-6 * (double)u->bytes, s->calls[1] ? u->by : "-"));
  if (u->reason) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "              by PETSc's kernel in the end: %s\n", u->reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line for each level of multigrid: all work with the matrices of that level */
static PetscErrorCode SummaryLevels(void)
{
  PetscInt64 levels = 0;

  PetscFunctionBegin;
  for (size_t k = 0; k < Uses; k++) levels = PetscMax(levels, Use[k].label.level);
  if (!levels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "  level          rows  PETSc's s    ours s  set-up s   saved s  (multigrid; 0: the finest)\n"));
  for (PetscInt64 level = 0; level <= levels; level++) {
    SpmvSpent      sum   = {.setup = 0};
    PetscLogDouble saved = 0;
    PetscInt64     rows  = 0;

    for (size_t k = 0; k < Uses; k++) {
      PetscBool            known;
      const PetscLogDouble seconds = SpmvSpentSaved(&Use[k].spent, &known);

      if (Use[k].label.level != level) continue;
      rows = Use[k].label.M;
      SpmvSpentAdd(&sum, &Use[k].spent);
      if (known) saved += seconds;
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %5" PetscInt64_FMT " %13" PetscInt64_FMT " %10.3f %9.3f %9.3f %9.3f\n", level,
                          rows, (double)sum.seconds[0], (double)sum.seconds[1], (double)sum.setup, (double)saved));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The table */
static PetscErrorCode SummaryTable(PetscLogDouble seconds, int processes)
{
  PetscLogDouble local[4] = {0, 0, 0, 0}, sum[4];
  SummaryEntry  *e        = NULL;
  char           line[256];

  PetscFunctionBegin;
  for (size_t k = 0; k < Uses; k++) {
    PetscBool            known;
    const PetscLogDouble saved = SpmvSpentSaved(&Use[k].spent, &known);

    local[0] += Use[k].spent.seconds[0];
    local[1] += Use[k].spent.seconds[1];
    local[2] += Use[k].spent.setup;
    if (known) local[3] += saved;
  }
  PetscCallMPI(MPI_Reduce(local, sum, 4, MPI_DOUBLE, MPI_SUM, 0, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "petscspmv summary: %.2f s since the library was loaded; process 0 of %d\n",
                        (double)seconds, processes));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "    %-9s %8s %9s %8s %9s %7s %8s %8s %8s %8s  %s\n", "work", "PETSc's", "s", "ours",
                        "s", "faster", "choose s", "make s", "saved s", "MB", "by"));
  PetscCall(SummarySort(&e));
  for (size_t k = 0; k < PetscMin(Uses, SUMMARY_LINES); k++) {
    if (!k || e[k].group != e[k - 1].group) {
      PetscCall(SpmvLabelText(&e[k].use.label, line, sizeof(line)));
      if (e[k].use.matrices > 1) PetscCall(SpmvAppend(line, sizeof(line), "; %" PetscInt64_FMT " of them", e[k].use.matrices));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", line));
    }
    PetscCall(SummaryPrint(&e[k].use));
  }
  PetscCall(PetscFree(e));
  if (Uses > SUMMARY_LINES)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  and %d lines of less time\n", (int)(Uses - SUMMARY_LINES)));
  PetscCall(SummaryLevels());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "  all processes: %.3f s by PETSc's kernels, %.3f s by ours, %.3f s to choose and make storages; saved "
                        "%.3f s\n",
                        (double)sum[0], (double)sum[1], (double)sum[2], (double)sum[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Processors that this process may use */
static int SummaryCores(void)
{
  cpu_set_t set;

  return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

/* Where the time went, and what would be next; of the first process */
static PetscErrorCode SummaryAdvise(PetscLogDouble seconds, int processes)
{
  SpmvReport run = {
    .seconds = seconds, .processes = processes, .cores = SummaryCores(), .least = Least, .nuses = Uses, .use = Use};
  char      line[1024] = "";
  PetscBool more       = PETSC_TRUE;

  PetscFunctionBegin;
  run.cache = SpmvMachineGet()->cache[1];
  PetscCall(SpmvSharesGet(&run));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "petscspmv advice, process 0 of %d, %.2f s\n", processes, (double)seconds));
  for (PetscInt k = 0; more; k++) {
    PetscCall(SpmvAdvice(&run, k, line, sizeof(line), &more));
    if (line[0]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", line));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints and forgets everything; PetscFinalize() calls it */
PetscErrorCode SpmvSummaryFinalize(void)
{
  PetscLogDouble now;
  PetscMPIInt    size;

  PetscFunctionBegin;
  if (!SpmvSummaryWanted()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&now));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(SummaryTable(now - Start, (int)size));
  if (Advise) PetscCall(SummaryAdvise(now - Start, (int)size));
  PetscCall(PetscFree(Use));
  Uses = Room = 0;
  Wanted = Advise = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
