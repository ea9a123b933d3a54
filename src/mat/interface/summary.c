/*
  summary.c - -spmv_summary: what products, sweeps and solves took, by whose kernel, and what storages cost and saved

  Matrices add what they spent when they are destroyed, factors and the blocks of a parallel matrix among them. What is alike
  (work, prefix, rows, nonzeros, storage) is one line, so that the matrices of a loop, or the levels of a multigrid method that is
  set up again and again, are no more lines than those of one. The lines are of the first process; the totals, of all.
*/
#include "spmvmat.h"
#include <petsctime.h>

#define SUMMARY_LINES 32 /* printed, those of most time */

/* SummaryEntry: matrices that are alike */
typedef struct {
  char       work[12], prefix[24], by[24];
  PetscInt   rows;
  PetscInt64 nonzeros, matrices;
  SpmvSpent  spent;
} SummaryEntry;

static PetscBool      Wanted;
static PetscLogDouble Start; /* when the library was loaded */
static SummaryEntry  *Entry; /* [Entries] */
static size_t         Entries, Room;

/* Reads the option and starts the clock */
PetscErrorCode SpmvSummaryInitialize(void)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-spmv_summary", &Wanted));
  PetscCall(PetscTime(&Start));
  PetscFunctionReturn(PETSC_SUCCESS);
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
}

/* Seconds that ours saved, by the least times of a call, less set-up; known: both kernels have been timed */
static PetscLogDouble SpmvSpentSaved(const SpmvSpent *s, PetscBool *known)
{
  *known = (PetscBool)(s->least[0] > 0 && s->least[1] > 0);
  if (!s->calls[1]) *known = PETSC_TRUE;
  return (s->calls[1] && *known ? (PetscLogDouble)s->calls[1] * (s->least[0] - s->least[1]) : 0) - s->setup;
}

/* Where matrices like this one are, or a new entry; text that is too long for its place is cut */
static PetscErrorCode SummaryFind(const SummaryEntry *like, SummaryEntry **entry)
{
  size_t k = 0;

  PetscFunctionBegin;
  while (k < Entries &&
         (Entry[k].rows != like->rows || Entry[k].nonzeros != like->nonzeros || strcmp(Entry[k].work, like->work) ||
          strcmp(Entry[k].prefix, like->prefix) || strcmp(Entry[k].by, like->by)))
    k++;
  if (k == Room) {
    SummaryEntry *more;

    PetscCall(PetscMalloc1(2 * Room + 16, &more));
    PetscCall(PetscArraycpy(more, Entry, Entries));
    PetscCall(PetscFree(Entry));
    Entry = more;
    Room  = 2 * Room + 16;
  }
  if (k == Entries) Entry[Entries++] = *like;
  *entry = &Entry[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvSummaryAdd - what a matrix spent on one kind of work, before it is destroyed

  work: "products" and the like; prefix: of its options, or NULL; by: what served in the place of PETSc's kernel
*/
PetscErrorCode SpmvSummaryAdd(const char work[], const char prefix[], const char by[], PetscInt rows, PetscInt64 nonzeros,
                              const SpmvSpent *spent)
{
  SummaryEntry like = {.rows = rows, .nonzeros = nonzeros}, *entry = NULL;

  PetscFunctionBegin;
  if (!Wanted || !(spent->calls[0] + spent->calls[1])) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(like.work, work, sizeof(like.work)));
  PetscCall(PetscStrncpy(like.prefix, prefix ? prefix : "", sizeof(like.prefix)));
  PetscCall(PetscStrncpy(like.by, by, sizeof(like.by)));
  PetscCall(SummaryFind(&like, &entry));
  entry->matrices++;
  SpmvSpentAdd(&entry->spent, spent);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble SummarySeconds(const SummaryEntry *e)
{
  return e->spent.seconds[0] + e->spent.seconds[1] + e->spent.setup;
}

/* For qsort(): those of most time first */
static int SummaryCompare(const void *a, const void *b)
{
  const PetscLogDouble x = SummarySeconds((const SummaryEntry *)a), y = SummarySeconds((const SummaryEntry *)b);

  return x < y ? 1 : x > y ? -1 : 0;
}

static PetscErrorCode SummaryPrint(const SummaryEntry *e)
{
  const SpmvSpent     *s          = &e->spent;
  char                 faster[16] = "-", saved[16] = "-";
  PetscBool            known;
  const PetscLogDouble seconds = SpmvSpentSaved(s, &known);

  PetscFunctionBegin;
  if (s->least[0] > 0 && s->least[1] > 0)
    PetscCall(PetscSNPrintf(faster, sizeof(faster), "%.2f", (double)(s->least[0] / s->least[1])));
  if (known) PetscCall(PetscSNPrintf(saved, sizeof(saved), "%.3f", (double)seconds));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "  %-10s %-14s %10" PetscInt_FMT " %11" PetscInt64_FMT " %6" PetscInt64_FMT " %7" PetscInt64_FMT
                        " %8.3f  %-14s %7" PetscInt64_FMT " %8.3f %7s %8.3f %8s\n",
                        e->work, e->prefix[0] ? e->prefix : "-", e->rows, e->nonzeros, e->matrices, s->calls[0],
                        (double)s->seconds[0], s->calls[1] ? e->by : "-", s->calls[1], (double)s->seconds[1], faster,
                        (double)s->setup, saved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a user may do about it, in words; of the first process */
static PetscErrorCode SummaryAdvise(const SpmvSpent *all, PetscLogDouble waited, PetscBool lost)
{
  const PetscLogDouble total = all->seconds[0] + all->seconds[1] + all->setup;

  PetscFunctionBegin;
  if (waited > 0.3 * total)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "  PETSc's own kernels took %.0f %% of that time before storages were built: a smaller "
                          "-mat_spmv_build_after builds sooner\n",
                          (double)(100 * waited / total)));
  if (lost)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "  A line with less than 0 saved lost time: its matrix was used too few times, or gains nothing; "
                          "-mat_type aij with its prefix, or a larger -mat_spmv_build_after, leaves it to PETSc\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints and forgets everything; PetscFinalize() calls it */
PetscErrorCode SpmvSummaryFinalize(void)
{
  SpmvSpent      all = {.setup = 0};
  PetscLogDouble now, waited = 0, local[4] = {0, 0, 0, 0}, sum[4];
  PetscBool      lost = PETSC_FALSE;
  PetscMPIInt    size;

  PetscFunctionBegin;
  if (!Wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&now));
  for (size_t k = 0; k < Entries; k++) {
    PetscBool known;

    const PetscLogDouble saved = SpmvSpentSaved(&Entry[k].spent, &known);

    SpmvSpentAdd(&all, &Entry[k].spent);
    if (known) local[3] += saved;
    if (Entry[k].spent.calls[1]) waited += Entry[k].spent.seconds[0];
    lost = (PetscBool)(lost || (known && saved < -0.01 * (now - Start)));
  }
  for (int k = 0; k < 2; k++) local[k] = all.seconds[k];
  local[2] = all.setup;
  PetscCallMPI(MPI_Reduce(local, sum, 4, MPI_DOUBLE, MPI_SUM, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  qsort(Entry, Entries, sizeof(*Entry), SummaryCompare);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "petscspmv summary: %.2f s since the library was loaded; process 0 of %d\n",
                        (double)(now - Start), (int)size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-10s %-14s %10s %11s %6s %7s %8s  %-14s %7s %8s %7s %8s %8s\n", "work", "prefix",
                        "rows", "nonzeros", "mats", "PETSc's", "s", "by ours", "calls", "s", "faster", "set-up s", "saved s"));
  for (size_t k = 0; k < PetscMin(Entries, SUMMARY_LINES); k++) PetscCall(SummaryPrint(&Entry[k]));
  if (Entries > SUMMARY_LINES)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  and %d lines of less time\n", (int)(Entries - SUMMARY_LINES)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "  all processes: %.3f s by PETSc's kernels, %.3f s by ours, %.3f s to choose and make storages; saved "
                        "%.3f s\n",
                        (double)sum[0], (double)sum[1], (double)sum[2], (double)sum[3]));
  PetscCall(SummaryAdvise(&all, waited, lost));
  PetscCall(PetscFree(Entry));
  Entries = Room = 0;
  Wanted         = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
