/*
  use.c - the vectors of one operation: whether kernels run it, what is moved for that, the launch

  What is written must be ours, or PETSc's own for CUDA, which counts as ours (others.c). Where all that is read is ours as well,
  kernels run the operation. Another vector has its values on the host only: it is sent to a buffer of its own, or the host
  works, whichever moves fewer vectors; if both move as many, kernels run. So a vector of ours does not move to and fro between
  operations with such a one.

  Option: -spmv_vec_workgroup <n>, work items of a work group, a power of two; without it 256 on a GPU, 64 elsewhere.
*/
#include "accel.h"

static const char Source[] =
#include "vec.cl.h"
  ;

static void     *Program; /* of the device of this process; the program cache destroys it */
static PetscInt  Group;
static PetscBool Last; /* of its kernels: see VecUse */

/* The kernels and what they are compiled with, for tests of compilers */
const char *SpmvVecSource(void)
{
  return Source;
}

PetscErrorCode SpmvVecOptions(PetscInt group, PetscBool last, char options[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(options, size, "-DGROUP=%" PetscInt_FMT " -DMANY=%d -DRESULTS=%d -DZERO_BY_ZERO=%d -DLAST=%d %s", group,
                          VEC_MANY, VEC_RESULTS, SPMV_ZERO_BY_ZERO, (int)last, last ? SPMV_ACROSS : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecUseProgram(SpmvDevice *d)
{
  PetscInt group = d->info.gpu ? 256 : 64;
  size_t   local;
  char     options[SPMV_DEVICE_OPTIONS];

  PetscFunctionBegin;
  if (Program) PetscFunctionReturn(PETSC_SUCCESS);
  while (group > (PetscInt)d->info.group) group /= 2;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-spmv_vec_workgroup", &group, NULL));
  PetscCheck(group >= 1 && group <= (PetscInt)d->info.group && !(group & (group - 1)), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s has no work groups of %" PetscInt_FMT " work items; set -spmv_vec_workgroup to a power of two from 1 to %zu",
             d->info.name, group, d->info.group);
  local = (size_t)(group * VEC_MANY) * sizeof(PetscScalar);
  PetscCheck(local <= d->info.local, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Work groups of %" PetscInt_FMT
             " work items need %zu bytes of local memory and %s has %zu; set -spmv_vec_workgroup to less",
             group, local, d->info.name, d->info.local);
  Last = (PetscBool)(d->info.gpu && d->info.forward);
  PetscCall(SpmvVecOptions(group, Last, options, sizeof(options)));
  PetscCall(SpmvProgramGet(d, Source, options, &Program));
  Group = group;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecUseReset(void)
{
  PetscFunctionBegin;
  Program = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether kernels are to run it: how many vectors would move for them and for the host */
static PetscErrorCode VecUseDecide(VecUse *use)
{
  PetscInt  up = 0, down = 0;
  PetscBool others = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < use->n; k++) {
    const Vec v = use->vec[k];
    VecAccel *a = VecAccelOf(v);
    PetscBool ready, stale;

    if (use->same[k] < k) continue;
    PetscCall(VecMayBorrow(v, &ready));
    if (ready) PetscCall(SpmvDeviceGet(&use->device));
    if (a && a->device) {
      use->device = a->device;
      ready       = VecAccelReady(a);
    }
    if (!ready && use->access[k] & VEC_WRITE) PetscFunctionReturn(PETSC_SUCCESS);
    if (!ready) {
      others = PETSC_TRUE;
      up++;
    } else if (use->access[k] & VEC_READ) {
      PetscCall(SpmvVecHostIsStale(v, &stale));
      up += a ? !a->ondevice : v->offloadmask == PETSC_OFFLOAD_CPU;
      down += a ? !a->onhost : stale;
    }
  }
  use->run = (PetscBool)(use->device && (!others || up <= down));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the values of a vector that has no buffer to one for this operation */
static PetscErrorCode VecUseSend(VecUse *use, PetscInt k)
{
  const Vec          v     = use->vec[k];
  const size_t       bytes = (size_t)v->map->n * sizeof(PetscScalar);
  const PetscScalar *array;
  PetscBool          nomem = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceAlloc(use->device, bytes, &use->buffer[k]));
  if (use->buffer[k]) {
    PetscCall(VecGetArrayRead(v, &array));
    PetscCall(SpmvDeviceWrite(use->device, use->buffer[k], array, bytes, &nomem));
    PetscCall(VecRestoreArrayRead(v, &array));
  }
  if (nomem) PetscCall(SpmvDeviceFree(use->device, bytes, &use->buffer[k]));
  use->sent[k] = (PetscBool)(use->buffer[k] != NULL);
  if (use->sent[k]) SpmvVecTotals.sent++;
  else PetscCall(VecAccelWarn(use->device, v->map->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VecUseBegin - begins an operation

  Input Parameters:
+ n       - vectors
. vec     - the vectors; one may be there twice
. written - how many of them are written, the first ones; all others are read
- keep    - whether those that are written are read as well

  Output Parameter:
. use - with `run` if kernels are to be launched, on the buffers in it

  Note:
  Ends with VecUseEnd() in any case; if `run` is not set then, the host is to do the whole operation.
*/
PetscErrorCode VecUseBegin(VecUse *use, PetscInt n, const Vec vec[], PetscInt written, PetscBool keep)
{
  PetscFunctionBegin;
  *use = (VecUse){.n = n, .entries = (uint64_t)vec[0]->map->n};
  for (PetscInt k = 0; k < n; k++) {
    PetscInt first = 0;

    while (vec[first] != vec[k]) first++;
    use->vec[k]  = vec[k];
    use->same[k] = first;
    use->access[first] |= k >= written ? VEC_READ : keep ? VEC_READ | VEC_WRITE : VEC_WRITE;
    use->entries = PetscMin(use->entries, (uint64_t)vec[k]->map->n);
  }
  PetscCall(VecUseDecide(use));
  if (use->run) PetscCall(VecUseProgram(use->device));
  use->last = Last;
  for (PetscInt k = 0; k < n && use->run; k++) {
    if (use->same[k] < k) use->buffer[k] = use->buffer[use->same[k]];
    else PetscCall(SpmvVecGetDevice(vec[k], use->access[k], &use->buffer[k]));
    if (use->buffer[k] || !vec[k]->map->n) continue;
    if (use->access[k] == VEC_READ) PetscCall(VecUseSend(use, k));
    if (!use->buffer[k]) use->run = PETSC_FALSE;
  }
  if (use->run) use->groups = SpmvGroups((size_t)use->entries, (size_t)Group);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches a kernel of vec.cl on so many work groups, unless the host is to run the operation. See VecUseLaunch() */
PetscErrorCode VecUseRun(VecUse *use, const char kernel[], size_t groups, PetscInt nbuffers, PetscInt nargs, const VecGive args[])
{
  PetscBool      nomem = PETSC_FALSE;
  SpmvDeviceCall call  = {.kernel = kernel, .groups = groups, .group = (size_t)Group, .nargs = nbuffers + nargs};

  PetscFunctionBegin;
  if (!use->run || !groups) PetscFunctionReturn(PETSC_SUCCESS);
  PetscAssert(nbuffers + nargs <= SPMV_DEVICE_ARG_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Kernel %s has too many arguments",
              kernel);
  for (PetscInt k = 0; k < nbuffers + nargs; k++) {
    call.arg[k]  = k >= nbuffers ? args[k - nbuffers].value : &use->buffer[k < use->n ? k : 0];
    call.size[k] = k >= nbuffers ? args[k - nbuffers].size : sizeof(void *);
  }
  PetscCall(SpmvDeviceRun(use->device, Program, &call, PETSC_TRUE, &nomem));
  if (nomem) use->run = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends an operation of so many flops for each entry: what was sent is freed, what was written is stale on the host */
PetscErrorCode VecUseEnd(VecUse *use, PetscInt flops)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < use->n; k++) {
    const Vec       v       = use->vec[k];
    const PetscBool written = (PetscBool)(use->run && use->access[k] & VEC_WRITE);

    if (use->sent[k]) PetscCall(SpmvDeviceFree(use->device, (size_t)v->map->n * sizeof(PetscScalar), &use->buffer[k]));
    if (use->same[k] == k) PetscCall(SpmvVecRestoreDevice(v, use->access[k], written, &use->buffer[k]));
  }
  if (use->run) {
    SpmvVecTotals.kernels++;
    PetscCall(SpmvLogFlops((PetscLogDouble)flops * (PetscLogDouble)use->entries));
  } else if (use->device) SpmvVecTotals.host++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VecCopyRange - y[to ...] <- x[from ...], as many local entries as the shorter vector has

  Input Parameters:
+ keep    - whether the other entries of y matter
- kernels - whether kernels may do it: else the host does
*/
PetscErrorCode VecCopyRange(Vec y, PetscInt to, Vec x, PetscInt from, PetscBool keep, PetscBool kernels)
{
  const uint64_t     first[] = {(uint64_t)to, (uint64_t)from};
  const PetscInt     n       = PetscMin(x->map->n, y->map->n);
  const PetscScalar *source;
  PetscScalar       *target;
  VecUse             use;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  if (kernels) {
    PetscCall(VecUseBegin(&use, 2, (Vec[]){y, x}, 1, keep));
    PetscCall(VecUseLaunch(&use, "vec_copy", use.groups, 2, VEC_GIVE(first[0]), VEC_GIVE(first[1]), VEC_GIVE(use.entries)));
    PetscCall(VecUseEnd(&use, 0));
    if (use.run) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(x, &source));
  PetscCall((keep ? VecGetArray : VecGetArrayWrite)(y, &target));
  PetscCall(PetscArraycpy(target + to, source + from, n));
  PetscCall((keep ? VecRestoreArray : VecRestoreArrayWrite)(y, &target));
  PetscCall(VecRestoreArrayRead(x, &source));
  PetscFunctionReturn(PETSC_SUCCESS);
}
