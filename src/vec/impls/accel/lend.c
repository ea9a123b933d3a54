/*
  lend.c - vectors that share entries with others: arrays placed, local vectors, subvectors

  A placed array is the host's, and only the host side is shared: the vector is brought to the host before its array changes. A
  local vector (VecGetLocalVector()) of our type has array and buffer of the whole, so that nothing is moved. A contiguous
  subvector is a copy, made on the device where the values are there, and copied back if it has changed.
*/
#include "accel.h"

PetscErrorCode VecPlaceArray_Accel(Vec v, const PetscScalar *array)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  PetscCall(VecAccelToHost(v, a));
  PetscCall((*a->host->placearray)(v, array));
  VecAccelWrittenOnHost(a);
  a->placed_readers = a->readers;
  a->placed_writers = a->writers;
  a->readers = a->writers = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecResetArray_Accel(Vec v)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  PetscCall(VecAccelToHost(v, a)); /* whoever placed the array looks at it now */
  PetscCall((*a->host->resetarray)(v));
  VecAccelWrittenOnHost(a);
  a->readers = a->placed_readers;
  a->writers = a->placed_writers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecReplaceArray_Accel(Vec v, const PetscScalar *array)
{
  VecAccel *a = VecAccelOf(v);

  PetscFunctionBegin;
  PetscCall((*a->host->replacearray)(v, array));
  VecAccelWrittenOnHost(a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecCreateLocalVector_Accel(Vec v, Vec *w)
{
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, w));
  PetscCall(VecSetSizes(*w, v->map->n, v->map->n));
  PetscCall(VecGetBlockSize(v, &bs));
  PetscCall(VecSetBlockSize(*w, bs));
  PetscCall(VecSetType(*w, VECSEQACCEL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w gets array and buffer of v. If w is of another type, or no kernel may work on v, it is PETSc's way: a placed array */
static PetscErrorCode VecLend(Vec v, Vec w, PetscBool reads)
{
  VecAccel    *a = VecAccelOf(v), *b = VecAccelOf(w);
  PetscScalar *array;

  PetscFunctionBegin;
  if (!VecAccelReady(a) || !b) {
    PetscCall(reads ? VecGetArrayRead(v, (const PetscScalar **)&array) : VecGetArray(v, &array));
    PetscCall(VecPlaceArray(w, array));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecPlaceArray_Accel(w, VecAccelArray(v)));
  b->lent     = PETSC_TRUE;
  b->own      = b->buffer;
  b->buffer   = a->buffer;
  b->onhost   = a->onhost;
  b->ondevice = a->ondevice;
  b->uniform  = a->uniform;
  b->value    = a->value;
  b->readers  = a->readers; /* an array of v that somebody reads shows what is written to w */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What VecLend() gave; a buffer that w had to make is v's then */
static PetscErrorCode VecLendBack(Vec v, Vec w, PetscBool reads)
{
  VecAccel          *a = VecAccelOf(v), *b = VecAccelOf(w);
  const PetscScalar *array;

  PetscFunctionBegin;
  if (!b || !b->lent) {
    PetscCall(VecGetArrayRead(w, &array)); /* brings the values there, whatever w is */
    PetscCall(VecRestoreArrayRead(w, &array));
    PetscCall(VecResetArray(w));
    PetscCall(reads ? VecRestoreArrayRead(v, NULL) : VecRestoreArray(v, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (b->buffer && b->buffer != a->buffer) {
    PetscCall(VecAccelFree(v, a)); /* v was read meanwhile, and made one too */
    a->buffer = b->buffer;
  }
  a->onhost   = b->onhost;
  a->ondevice = b->ondevice;
  a->uniform  = b->uniform;
  a->value    = b->value;
  b->buffer   = b->own;
  b->onhost   = PETSC_TRUE; /* the array below the placed one is up to date */
  b->lent     = PETSC_FALSE;
  PetscCall(VecResetArray_Accel(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetLocalVector_Accel(Vec v, Vec w)
{
  return VecLend(v, w, PETSC_FALSE);
}

PetscErrorCode VecRestoreLocalVector_Accel(Vec v, Vec w)
{
  return VecLendBack(v, w, PETSC_FALSE);
}

PetscErrorCode VecGetLocalVectorRead_Accel(Vec v, Vec w)
{
  return VecLend(v, w, PETSC_TRUE);
}

PetscErrorCode VecRestoreLocalVectorRead_Accel(Vec v, Vec w)
{
  return VecLendBack(v, w, PETSC_TRUE);
}

/*
  Whether the entries of an index set follow each other on each process; start: the first one, local; bs: their block size, -1 if
  they have none
*/
static PetscErrorCode VecSubIsContiguous(Vec x, IS is, PetscBool *contiguous, PetscInt *start, PetscInt *bs)
{
  PetscInt  first, last, n, xbs;
  PetscBool local;
  int       mine[2], all[2];

  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetBlockSize(is, bs));
  PetscCall(VecGetBlockSize(x, &xbs));
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(ISContiguousLocal(is, first, last, start, &local));
  mine[0] = local;
  mine[1] = xbs > 1 && n % xbs == 0;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)is)));
  *contiguous = (PetscBool)all[0];
  if (*bs <= 1) *bs = all[0] && all[1] ? xbs : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetSubVector_Accel(Vec x, IS is, Vec *result)
{
  PetscInt  n, N, start, bs, state = 0;
  PetscBool contiguous = PETSC_FALSE;
  VecAccel *a;
  Vec       y;

  PetscFunctionBegin;
  PetscCall(VecSubIsContiguous(x, is, &contiguous, &start, &bs));
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetSize(is, &N));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)is), &y));
  PetscCall(VecSetSizes(y, n, N));
  if (bs > 0) PetscCall(VecSetBlockSize(y, bs));
  PetscCall(VecSetType(y, ((PetscObject)x)->type_name));
  if (contiguous) {
    PetscCall(VecCopyRange(y, 0, x, start, PETSC_FALSE, VecAccelOf(x)->ondevice));
    PetscCall(VecLockGet(x, &state));
    if (state) PetscCall(VecLockReadPush(y));
  } else {
    VecScatter scatter;

    PetscCall(VecScatterCreate(x, is, y, NULL, &scatter));
    PetscCall(VecScatterBegin(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(PetscObjectCompose((PetscObject)y, "VecGetSubVector_Scatter", (PetscObject)scatter));
    PetscCall(VecScatterDestroy(&scatter));
  }
  a            = VecAccelOf(y);
  a->sub       = PETSC_TRUE;
  a->sub_start = start;
  PetscCall(PetscObjectStateGet((PetscObject)y, &a->sub_state));
  *result = y;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts the values back if they have changed; the caller destroys y */
PetscErrorCode VecRestoreSubVector_Accel(Vec x, IS is, Vec *y)
{
  VecAccel        *a = VecAccelOf(*y);
  PetscObjectState now;
  VecScatter       scatter;

  PetscFunctionBegin;
  (void)is;
  PetscCheck(a && a->sub, PetscObjectComm((PetscObject)x), PETSC_ERR_ARG_WRONG,
             "This vector of type %s is no subvector of one of type %s; restore what VecGetSubVector() gave, with its type",
             ((PetscObject)*y)->type_name, ((PetscObject)x)->type_name);
  PetscCall(PetscObjectStateGet((PetscObject)*y, &now));
  if (now == a->sub_state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSetErrorIfLocked(x, 1));
  PetscCall(PetscObjectQuery((PetscObject)*y, "VecGetSubVector_Scatter", (PetscObject *)&scatter));
  if (scatter) {
    PetscCall(VecScatterBegin(scatter, *y, x, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(scatter, *y, x, INSERT_VALUES, SCATTER_REVERSE));
  } else PetscCall(VecCopyRange(x, a->sub_start, *y, 0, PETSC_TRUE, a->ondevice));
  PetscCall(PetscObjectStateIncrease((PetscObject)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
