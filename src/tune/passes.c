/*
  passes.c - which shape the triangles of a matrix or a factor take, and whether PETSc's passes are as fast; no clock is read

  The time of a pass is made as that of a product is (estimate.c): from bytes, cycles, branches and lines of x that are waited
  for.
*/
#include "passes.h"
#include "tune.h"

#define PASSES_GAIN     1.05 /* less is not worth a build */
#define PASSES_PERMUTED 2.   /* cycles to put an entry of a vector into another order, which PETSc's kernels do on their way */

/* Nodes come first: of two that take the same time the first one is taken */
static const SpmvShape *const Shapes[] = {&SpmvShape_nodes, &SpmvShape_slices, &SpmvShape_rows};

/*
  PETSc's passes: cycles of Zen 4 by row, by entry, and by row that waits for the row before, and what a row takes at least in a
  chain of such rows; rows whose end is not foreseen, of those that do not follow from the rows before; of rows with the same
  columns (inodes), cycles by inode and by entry, and how much longer bytes from memory take. Fitted to 55 to 150 matrices each,
  those of transposed factors to 9
*/
static const struct {
  PetscLogDouble row, entry, before, chain, missed, node, shared, slow;
} Petsc[SPMV_TRIANGLES_COUNT] = {
  [SPMV_SWEEPS]            = {0.6, 2.6, 6.6, 23, 0.3, 14, 1.5, 2.2},
  [SPMV_FACTORS]           = {0, 2.2, 5.2, 19, 1, 21, 1.1, 1.35},
  [SPMV_FACTORS_TRANSPOSE] = {4.8, 2.4, 0, 0, 0.4, 0, 0, 1.3},
  [SPMV_FACTORS_SYMMETRIC] = {3.7, 2.3, 0, 16, 0.4, 0, 0, 1.3},
};

/* Whether PETSc goes by inodes, as it does where there are few enough */
static PetscBool PetscByNodes(const SpmvTrianglesSource *s)
{
  return (PetscBool)(s->nnodes > 0 && s->nnodes < s->n && (s->kind == SPMV_SWEEPS || s->kind == SPMV_FACTORS));
}

/* Of a matrix, whose rows have both triangles, each pass has the lines of both brought in; inodes are slower by as much again */
static void PetscWork(const SpmvTrianglesSource *s, const SpmvTrianglesLook *look, SpmvWork *work)
{
  const PetscBool nodes = PetscByNodes(s);
  const double    again = s->kind == SPMV_SWEEPS ? 2 : 1;

  if (nodes) {
    work->cycles += 2 * Petsc[s->kind].node * s->nnodes + Petsc[s->kind].shared * look->nz;
    work->waits = (double)s->nnodes / s->n;
  } else {
    const double chained = Petsc[s->kind].row + Petsc[s->kind].before + Petsc[s->kind].entry * look->nz / PetscMax(1, look->rows);

    work->cycles += Petsc[s->kind].row * look->rows + Petsc[s->kind].entry * look->nz + Petsc[s->kind].before * look->before;
    work->cycles += PetscMax(0, Petsc[s->kind].chain - chained) * look->chained;
    work->branches += look->rows;
    work->misses += Petsc[s->kind].missed * look->missed;
  }
  work->held = again;
  work->slow = Petsc[s->kind].slow * (nodes ? again : 1);
  work->bytes += look->nz * (sizeof(PetscScalar) + sizeof(PetscInt)) + look->rows * sizeof(PetscInt);
}

/*
  SpmvPassesChoose - the shape that takes the least time, to build it and for the passes to come

  Input Parameters:
+ source - the rows; values are not looked at
. isa    - an SpmvIsa, or SPMV_ISA_COUNT for the best
. built  - the shape that is built, NULL for none
- passes - how many will come

  Output Parameter:
. choice - what was chosen
*/
PetscErrorCode SpmvPassesChoose(const SpmvTrianglesSource *s, PetscInt isa, const SpmvShape *built, PetscLogDouble passes,
                                SpmvPassesChoice *choice)
{
  const SpmvMachine *machine = SpmvMachineGet();
  PetscLogDouble     least = PETSC_MAX_REAL, fastest = PETSC_MAX_REAL;
  SpmvWork           theirs = {0};
  SpmvTrianglesLook  look;
  SpmvIsa            best;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(isa, &best));
  SpmvTrianglesLookAt(s, &look);
  *choice = (SpmvPassesChoice){0};
  PetscWork(s, &look, &theirs);
  choice->petsc = SpmvPassesSeconds(&theirs, s->n, look.far, 1);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Shapes); k++) {
    SpmvWork       work = {0};
    PetscLogDouble seconds, cost;

    if (!Shapes[k]->suits(s)) continue;
    Shapes[k]->work(s, &look, &work);
    if (s->permuted) work.cycles += PASSES_PERMUTED * 2 * s->n;
    seconds = SpmvPassesSeconds(&work, s->n, look.far, Shapes[k]->plain ? 1 : machine->isa[best]);
    cost    = passes * seconds + (Shapes[k] == built ? 0 : 1e-9 * machine->cycle * work.build);
    fastest = PetscMin(fastest, seconds);
    if (cost >= least) continue;
    least           = cost;
    choice->shape   = Shapes[k];
    choice->seconds = seconds;
  }
  choice->gains = (PetscBool)(choice->shape && PASSES_GAIN * choice->seconds < choice->petsc && least < passes * choice->petsc);
  choice->better =
    (PetscBool)(choice->shape && PASSES_GAIN * fastest < choice->petsc && (!choice->gains || fastest < choice->seconds));
  if (choice->shape)
    PetscCall(PetscInfo(NULL, "passes through %" PetscInt_FMT " rows by %s are estimated to take %g us, PETSc's %g us\n", s->n,
                        choice->shape->name, (double)(1e6 * choice->seconds), (double)(1e6 * choice->petsc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
