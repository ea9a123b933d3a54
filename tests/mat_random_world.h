/*
  mat_random_world.h - what the steps of mat_random.c share: random numbers, the two sides, their vectors
*/
#pragma once
#include "devicetest.h"
#include <petscksp.h>
#include <stdint.h>

#define SLOTS      2   /* preconditioners that are kept */
#define HELD       128 /* objects of one step */
#define LABEL      80
#define MAXENTRIES 6000 /* a matrix does not get replaced by one with more */

/* Each step draws from its own salt, so that it stays as it is where others are removed */
typedef struct {
  uint64_t state;
} Draw;

static uint64_t Mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t DrawBits(Draw *d)
{
  d->state += UINT64_C(0x9e3779b97f4a7c15);
  return Mix(d->state);
}

static PetscInt DrawBelow(Draw *d, PetscInt n)
{
  return n > 0 ? (PetscInt)(DrawBits(d) % (uint64_t)n) : 0;
}

static PetscBool DrawChance(Draw *d, PetscInt percent)
{
  return (PetscBool)(DrawBelow(d, 100) < percent);
}

static PetscReal Unit(uint64_t bits) /* in [0, 1) */
{
  return (PetscReal)((double)(bits >> 11) / 9007199254740992.0);
}

static PetscReal DrawReal(Draw *d, PetscReal low, PetscReal high)
{
  return low + (high - low) * Unit(DrawBits(d));
}

/* Numbers that belong to a place: the same on every process */
static uint64_t PlaceBits(uint64_t salt, PetscInt i, PetscInt j)
{
  return Mix(salt + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1) + UINT64_C(0xd1b54a32d192ed03) * (uint64_t)(j + 1));
}

static PetscScalar Place(uint64_t salt, PetscInt i, PetscInt j) /* at most 1 */
{
  const PetscReal re = 2 * Unit(PlaceBits(salt, i, j)) - 1;
#if defined(PETSC_USE_COMPLEX)
  return (re + (2 * Unit(PlaceBits(salt + 1, i, j)) - 1) * PETSC_i) * (PetscReal)0.7;
#else
  return re;
#endif
}

static PetscInt PlaceBelow(uint64_t salt, PetscInt i, PetscInt j, PetscInt n)
{
  return n > 0 ? (PetscInt)(PlaceBits(salt, i, j) % (uint64_t)n) : 0;
}

typedef struct {
  char      label[LABEL];
  PetscInt  first, n;
  PetscReal scale; /* what errors are relative to; 0: none are allowed */
} Record;

/* A preconditioner that is kept, or how it was made */
typedef struct {
  PetscBool made;
  PC        pc; /* NULL: it cannot be used any more */
  PetscInt  kind, levels, rows;
  PetscBool overlap; /* PCASM keeps the overlap of the first pattern; but PETSc's side has a new one each time */
} Slot;

typedef struct {
  PetscBool   ours;
  const char *type; /* for MatSetType() */
  Mat         A;
  uint64_t    coo; /* salt of the coordinates that A has; 0: none */

  Mat              swept; /* the matrix that swept last, and its nonzero state then */
  PetscObjectState sweptstate;
  PetscBool        untold;   /* values of a block were written and the parallel matrix was not told */
  PetscBool        sweptaij; /* PETSc's kernel swept before the matrix was converted in place */

  Slot             slot[SLOTS];
  PetscObjectState state; /* the largest nonzero state that there was */

  PetscInt    nheld;
  PetscObject held[HELD]; /* of this step, so that nothing leaks where it fails */

  PetscInt     nrecords, maxrecords, nvalues, maxvalues;
  Record      *records;
  PetscScalar *values;
} Side;

/* What aij's matrix is before a step */
typedef struct {
  PetscInt  M, N, m, n, first, firstcolumn;
  PetscInt  entries;
  PetscBool square; /* rows are distributed as columns are, too */
  PetscReal norm;
} Facts;

typedef struct {
  const char *name;
  PetscErrorCode (*run)(Side *, Draw *);
  unsigned needs;
  PetscInt weight;
} Step;

/* What a step needs, and what it changes: COORDINATES is a new pattern as well */
enum { SQUARE = 1, DEVICE = 2, PATTERN = 4, COORDINATES = 8 };

static Facts       facts;
static PetscMPIInt ranks, rank;
static PetscBool   device, verbose;
static PetscInt64  compared;

/* With -v: what a step draws */
static void Say(const Side *s, const char format[], ...)
{
  va_list list;

  if (!verbose || s->ours || rank) return;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
  fflush(stdout);
}

static PetscErrorCode Hold(Side *s, void *object)
{
  PetscFunctionBegin;
  PetscCheck(s->nheld < HELD, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a step has more than %d objects", HELD);
  s->held[s->nheld++] = (PetscObject)object;
  PetscFunctionReturn(0);
}

static PetscErrorCode Release(Side *s)
{
  PetscFunctionBegin;
  while (s->nheld) PetscCall(PetscObjectDestroy(&s->held[--s->nheld]));
  PetscFunctionReturn(0);
}

/* The matrix under test is replaced; the old one goes at the end of the step */
static PetscErrorCode Replace(Side *s, Mat A)
{
  PetscFunctionBegin;
  PetscCall(Hold(s, s->A));
  s->A        = A;
  s->sweptaij = s->untold = PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* A vector that A multiplies, or a result of it, with random entries */
static PetscErrorCode VecRandom(Side *s, Mat A, PetscBool right, uint64_t salt, Vec *v)
{
  PetscScalar *a;
  PetscInt     first, last;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, right ? v : NULL, right ? NULL : v));
  PetscCall(Hold(s, *v));
  PetscCall(VecGetOwnershipRange(*v, &first, &last));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt i = first; i < last; i++) a[i - first] = Place(salt, i, 0);
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(0);
}

/* One whose entries are not to be read */
static PetscErrorCode VecUnset(Side *s, Mat A, PetscBool right, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, right ? v : NULL, right ? NULL : v));
  PetscCall(Hold(s, *v));
  PetscCall(VecSet(*v, (PetscScalar)NAN));
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* New entries may come */
static PetscErrorCode Open(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE)); /* conversions set it */
  PetscFunctionReturn(0);
}

/* Whether PETSc's kernel has swept with A on this process, as far as A knows */
static PetscErrorCode SweptByAIJ(Mat A, PetscBool *swept)
{
  PetscErrorCode (*get)(Mat, SpmvCounts *);
  SpmvCounts counts = {.sweepsaij = 1};

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetCounts_C", &get));
  if (get) PetscCall((*get)(A, &counts));
  *swept = (PetscBool)(counts.sweepsaij > 0);
  PetscFunctionReturn(0);
}

/* Before the pattern changes: PETSc 3.18 frees twice what a parallel matrix got by coordinates */
static PetscErrorCode DropCoo(Side *s)
{
  Mat B;

  PetscFunctionBegin;
  if (s->coo && ranks > 1) {
    PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &B));
    PetscCall(Replace(s, B));
  }
  s->coo = 0;
  PetscFunctionReturn(0);
}

/* Preconditioners that are kept cannot be set up again, but only made anew */
static PetscErrorCode Forget(Side *s)
{
  PetscFunctionBegin;
  s->swept = NULL;
  for (int k = 0; k < SLOTS; k++) PetscCall(PCDestroy(&s->slot[k].pc));
  PetscFunctionReturn(0);
}

/*
  After the pattern may have changed. PETSc's preconditioners know a pattern by the matrix's nonzero state, which may be one that
  was before where the matrix got another one's inside, or where a block of a parallel matrix was made anew. Those that are kept
  go then
*/
static PetscErrorCode NewPattern(Side *s)
{
  PetscObjectState state;
  PetscMPIInt      again;

  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(s->A, &state));
  again = state <= s->state;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &again, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (state > s->state) s->state = state;
  if (again) PetscCall(Forget(s));
  for (int k = 0; k < SLOTS && ranks > 1; k++)
    if (s->slot[k].overlap) PetscCall(PCDestroy(&s->slot[k].pc));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetFacts(Mat A, Facts *f)
{
  PetscInt    last, lastcolumn;
  PetscMPIInt same;
  MatInfo     info;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &f->M, &f->N));
  PetscCall(MatGetLocalSize(A, &f->m, &f->n));
  PetscCall(MatGetOwnershipRange(A, &f->first, &last));
  PetscCall(MatGetOwnershipRangeColumn(A, &f->firstcolumn, &lastcolumn));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  f->entries = (PetscInt)info.nz_used;
  PetscCall(MatNorm(A, NORM_INFINITY, &f->norm));
  same = f->first == f->firstcolumn && last == lastcolumn && f->M == f->N;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  f->square = (PetscBool)same;
  PetscFunctionReturn(0);
}

/* Whether a row of this process has no entry on the diagonal of its block: MatMissingDiagonal(), which 3.25 has no more */
static PetscErrorCode DiagonalMissing(Mat A, PetscBool *missing)
{
  PetscFunctionBegin;
  *missing = PETSC_FALSE;
  for (PetscInt i = facts.first; i < facts.first + facts.m; i++) {
    const PetscInt *j;
    PetscInt        count;
    PetscBool       found = PETSC_FALSE;

    PetscCall(MatGetRow(A, i, &count, &j, NULL));
    for (PetscInt k = 0; k < count; k++) {
      if (j[k] - facts.firstcolumn == i - facts.first) found = PETSC_TRUE;
    }
    PetscCall(MatRestoreRow(A, i, &count, &j, NULL));
    if (!found) *missing = PETSC_TRUE;
  }
  PetscFunctionReturn(0);
}
