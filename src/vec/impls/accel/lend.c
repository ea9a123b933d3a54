/*
  lend.c - vectors that share entries with others: arrays placed, local vectors, subvectors

  A placed array is the host's, and only the host side is shared: the vector is brought to the host before its array changes. A local
  vector (VecGetLocalVector()) of our type has array and buffer of the whole, so that nothing is moved. A contiguous subvector is a
  copy, made on the device where the values are there, and copied back if it has changed.
*/
#include "accel.h"

PetscErrorCode VecPlaceArray_Accel(Vec v, const PetscScalar *array)
{
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(VecAccelGet(v, &a));
  PetscCall(VecAccelToHost(v, a));
  PetscCall((*a->host->placearray)(v, array));
  a->uniform        = PETSC_FALSE;
  a->ondevice       = PETSC_FALSE;
  a->placed_readers = a->readers;
  a->placed_writers = a->writers;
  a->readers = a->writers = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecResetArray_Accel(Vec v)
{
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(VecAccelGet(v, &a));
  PetscCall(VecAccelToHost(v, a)); /* who placed the array looks at it now */
  PetscCall((*a->host->resetarray)(v));
  a->uniform  = PETSC_FALSE;
  a->ondevice = PETSC_FALSE;
  a->readers  = a->placed_readers;
  a->writers  = a->placed_writers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecReplaceArray_Accel(Vec v, const PetscScalar *array)
{
  VecAccel *a;

  PetscFunctionBegin;
  PetscCall(VecAccelGet(v, &a));
  PetscCall((*a->host->replacearray)(v, array));
  a->uniform  = PETSC_FALSE;
  a->onhost   = PETSC_TRUE;
  a->ondevice = PETSC_FALSE;
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

/* w gets array and buffer of v, if it is of our type and kernels may work on v */
static PetscErrorCode VecLend(Vec v, Vec w, PetscBool *lent)
{
  VecAccel *a, *b;

  PetscFunctionBegin;
  *lent = PETSC_FALSE;
  PetscCall(VecAccelGet(v, &a));
  if (!VecAccelReady(a) || !VecIsAccel(w)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAccelGet(w, &b));
  PetscCall(VecPlaceArray_Accel(w, VecAccelArray(v)));
  b->own      = b->buffer;
  b->buffer   = a->buffer;
  b->onhost   = a->onhost;
  b->ondevice = a->ondevice;
  b->uniform  = a->uniform;
  b->value    = a->value;
  b->readers  = a->readers; /* an array of v that somebody reads shows what is written to w */
  b->lent = *lent = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What VecLend() gave; a buffer that w had to make is v's then */
static PetscErrorCode VecLendBack(Vec v, Vec w, PetscBool *lent)
{
  VecAccel *a, *b;

  PetscFunctionBegin;
  *lent = PETSC_FALSE;
  if (!VecIsAccel(w)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAccelGet(w, &b));
  if (!b->lent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAccelGet(v, &a));
  if (b->buffer && a->buffer && b->buffer != a->buffer)
    PetscCall(SpmvDeviceFree(a->device, (size_t)PetscMax(v->map->n, 1) * sizeof(PetscScalar),
                             &a->buffer)); /* v was read meanwhile, and made one too */
  if (b->buffer) a->buffer = b->buffer;
  a->onhost   = b->onhost;
  a->ondevice = b->ondevice;
  a->uniform  = b->uniform;
  a->value    = b->value;
  b->buffer   = b->own;
  b->own      = NULL;
  b->onhost   = PETSC_TRUE; /* the array below the placed one is up to date */
  b->lent     = PETSC_FALSE;
  *lent       = PETSC_TRUE;
  PetscCall(VecResetArray_Accel(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's way for a w of another type: a placed array */
PetscErrorCode VecGetLocalVector_Accel(Vec v, Vec w)
{
  PetscScalar *array;
  PetscBool    lent;

  PetscFunctionBegin;
  PetscCall(VecLend(v, w, &lent));
  if (lent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArray(v, &array));
  PetscCall(VecPlaceArray(w, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreLocalVector_Accel(Vec v, Vec w)
{
  PetscScalar *array;
  PetscBool    lent;

  PetscFunctionBegin;
  PetscCall(VecLendBack(v, w, &lent));
  if (lent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArray(w, &array)); /* brings it there, whatever w is */
  PetscCall(VecRestoreArray(w, &array));
  PetscCall(VecResetArray(w));
  PetscCall(VecRestoreArray(v, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetLocalVectorRead_Accel(Vec v, Vec w)
{
  const PetscScalar *array;
  PetscBool          lent;

  PetscFunctionBegin;
  PetscCall(VecLend(v, w, &lent));
  if (lent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(v, &array));
  PetscCall(VecPlaceArray(w, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreLocalVectorRead_Accel(Vec v, Vec w)
{
  PetscBool lent;

  PetscFunctionBegin;
  PetscCall(VecLendBack(v, w, &lent));
  if (lent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecResetArray(w));
  PetscCall(VecRestoreArrayRead(v, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y[to ...] <- x[from ...], n entries, where x has its values; keep: whether y has other entries that matter */
static PetscErrorCode VecCopyRange(Vec y, PetscInt to, Vec x, PetscInt from, PetscInt n, PetscBool keep)
{
  const PetscScalar *source;
  PetscScalar       *target;
  VecAccel          *a;
  VecUse             use;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecAccelGet(x, &a));
  if (a->ondevice) {
    const uint64_t t = (uint64_t)to, f = (uint64_t)from, count = (uint64_t)n;

    PetscCall(VecUseBegin(&use, 2, (Vec[]){y, x}, (int[]){keep ? VEC_READ | VEC_WRITE : VEC_WRITE, VEC_READ}));
    PetscCall(VecUseLaunch(&use, "vec_copy", count, VEC_GIVE(use.buffer[0]), VEC_GIVE(t), VEC_GIVE(use.buffer[1]), VEC_GIVE(f),
                           VEC_GIVE(count)));
    PetscCall(VecUseEnd(&use));
    if (use.run) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(x, &source));
  PetscCall(keep ? VecGetArray(y, &target) : VecGetArrayWrite(y, &target));
  PetscCall(PetscArraycpy(target + to, source + from, n));
  PetscCall(VecRestoreArray(y, &target));
  PetscCall(VecRestoreArrayRead(x, &source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the entries of an index set follow each other on each process, from which local one on, and their block size, -1 for none */
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
    PetscCall(VecCopyRange(y, 0, x, start, n, PETSC_FALSE));
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
  PetscCall(VecAccelGet(y, &a));
  a->sub       = PETSC_TRUE;
  a->sub_start = start;
  PetscCall(PetscObjectStateGet((PetscObject)y, &a->sub_state));
  *result = y;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts the values back if they have changed; the caller destroys y */
PetscErrorCode VecRestoreSubVector_Accel(Vec x, IS is, Vec *y)
{
  VecAccel        *a = NULL;
  PetscObjectState now;
  VecScatter       scatter;

  PetscFunctionBegin;
  (void)is;
  if (VecIsAccel(*y)) PetscCall(VecAccelGet(*y, &a));
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
  } else PetscCall(VecCopyRange(x, a->sub_start, *y, 0, (*y)->map->n, PETSC_TRUE));
  PetscCall(PetscObjectStateIncrease((PetscObject)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
