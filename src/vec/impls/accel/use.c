/*
  use.c - the vectors of one operation: whether kernels run it, what is moved for that, the launch

  What an operation writes is ours. Where all that it reads is ours as well, kernels run it. PETSc's own vectors for CUDA count as ours
  (others.c). A vector of another type has its values on the host only: it is sent along in a buffer of its own, or the host works, whichever moves fewer vectors; with a tie, kernels. So our own
  vectors do not go to and fro between operations with such a one.

  Option: -spmv_vec_workgroup <n>, work items of a work group, a power of two; without it 256 on a GPU, 64 elsewhere.
*/
#include "accel.h"

static const char Source[] =
#include "vec.cl.h"
  ;

static void    *Program; /* of the device of this process */
static PetscInt Group;

/* The kernels and what they are compiled with, for tests of compilers */
const char *SpmvVecSource(void)
{
  return Source;
}

PetscErrorCode SpmvVecOptions(PetscInt group, char options[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(
    PetscSNPrintf(options, size, "-DGROUP=%" PetscInt_FMT " -DMANY=%d -DZERO_BY_ZERO=%d", group, VEC_MANY, SPMV_ZERO_BY_ZERO));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecUseProgram(SpmvDevice *d)
{
  PetscInt group = d->info.gpu ? 256 : 64;
  char     options[SPMV_DEVICE_OPTIONS];

  PetscFunctionBegin;
  if (Program) PetscFunctionReturn(PETSC_SUCCESS);
  while (group > (PetscInt)d->info.group) group /= 2;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-spmv_vec_workgroup", &group, NULL));
  PetscCheck(group >= 1 && group <= (PetscInt)d->info.group && !(group & (group - 1)), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s has no work groups of %" PetscInt_FMT " work items; set -spmv_vec_workgroup to a power of two from 1 to %zu",
             d->info.name, group, d->info.group);
  PetscCheck((size_t)(group * VEC_MANY) * sizeof(PetscScalar) <= d->info.local, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Work groups of %" PetscInt_FMT
             " work items need %zu bytes of local memory and %s has %zu; set -spmv_vec_workgroup to less",
             group, (size_t)(group * VEC_MANY) * sizeof(PetscScalar), d->info.name, d->info.local);
  PetscCall(SpmvVecOptions(group, options, sizeof(options)));
  PetscCall(SpmvProgramGet(d, Source, options, &Program));
  Group = group;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Work groups with a work item for each of some entries; 0 where no kernel is to be run */
size_t VecUseGroups(const VecUse *use, size_t items)
{
  return use->run ? SpmvGroups(items, (size_t)Group) : 0;
}

PetscErrorCode VecUseReset(void)
{
  PetscFunctionBegin;
  Program = NULL; /* the program cache's */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether kernels are to run it: what would be moved for them and for the host */
static PetscErrorCode VecUseDecide(VecUse *use)
{
  PetscInt  up = 0, down = 0;
  PetscBool others = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < use->n; k++) {
    VecAccel *a = NULL;
    PetscBool stale;

    if (use->same[k] < k) continue;
    if (VecIsAccel(use->vec[k])) PetscCall(VecAccelGet(use->vec[k], &a));
    if (a && a->device) use->device = a->device;
    PetscCall(VecMayBorrow(use->vec[k], &use->borrows[k]));
    if (use->borrows[k]) PetscCall(SpmvDeviceGet(&use->device));
    if (use->access[k] & VEC_WRITE && !use->borrows[k] && (!a || !VecAccelReady(a))) PetscFunctionReturn(PETSC_SUCCESS);
    if (use->borrows[k]) {
      if (use->access[k] & VEC_READ) {
        up += use->vec[k]->offloadmask == PETSC_OFFLOAD_CPU;
        PetscCall(SpmvVecHostIsStale(use->vec[k], &stale));
        down += stale;
      }
    } else if (a && VecAccelReady(a)) {
      if (use->access[k] & VEC_READ) {
        up += !a->ondevice;
        down += !a->onhost;
      }
    } else {
      others = PETSC_TRUE;
      up++;
      down += a && !a->onhost;
    }
  }
  use->run = (PetscBool)(use->device && (!others || up <= down));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector that is not on the device, for this operation */
static PetscErrorCode VecUseSend(VecUse *use, PetscInt k)
{
  const size_t       bytes = (size_t)use->vec[k]->map->n * sizeof(PetscScalar);
  const PetscScalar *array;
  PetscBool          nomem = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceAlloc(use->device, bytes, &use->buffer[k]));
  if (!use->buffer[k]) {
    PetscCall(VecAccelWarn(use->device, use->vec[k]->map->n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  use->sent[k] = PETSC_TRUE;
  PetscCall(VecGetArrayRead(use->vec[k], &array));
  PetscCall(SpmvDeviceWrite(use->device, use->buffer[k], array, bytes, &nomem));
  PetscCall(VecRestoreArrayRead(use->vec[k], &array));
  SpmvVecTotals.sent++;
  if (nomem) {
    PetscCall(SpmvDeviceFree(use->device, bytes, &use->buffer[k]));
    use->sent[k] = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The buffer of a vector that no place before has */
static PetscErrorCode VecUseGet(VecUse *use, PetscInt k)
{
  const Vec       v     = use->vec[k];
  const PetscBool reads = (PetscBool)((use->access[k] & VEC_READ) != 0), writes = (PetscBool)((use->access[k] & VEC_WRITE) != 0);
  VecAccel       *a = NULL;

  PetscFunctionBegin;
  if (VecIsAccel(v)) PetscCall(VecAccelGet(v, &a));
  if (use->borrows[k]) {
    PetscCall(VecBorrow(v, use->access[k], &use->buffer[k]));
    use->borrows[k] = (PetscBool)(use->buffer[k] != NULL);
  } else if (a && VecAccelReady(a)) {
    PetscCall(VecAccelToDevice(v, a, reads, &use->buffer[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!use->buffer[k] && !writes && v->map->n) PetscCall(VecUseSend(use, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VecUseBegin - begins an operation

  Input Parameters:
+ n      - vectors
. vec    - the vectors, of one local size; what is written is ours, or the host is to write it. One vector may be there twice
- access - VEC_READ, VEC_WRITE or both, for each

  Output Parameter:
. use - with `run` if kernels are to be launched, on the buffers in it

  Note:
  Ends with VecUseEnd() in any case; if `run` is not set then, the host is to do the whole operation.
*/
PetscErrorCode VecUseBegin(VecUse *use, PetscInt n, const Vec vec[], const int access[])
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(use, sizeof(*use)));
  use->n = n;
  for (PetscInt k = 0; k < n; k++) {
    use->vec[k]    = vec[k];
    use->access[k] = access[k];
    use->same[k]   = k;
    for (PetscInt before = k - 1; before >= 0; before--) { /* all that is done to one vector, at its first place */
      if (vec[before] == vec[k]) use->same[k] = before;
    }
    if (use->same[k] < k) use->access[use->same[k]] |= use->access[k];
  }
  PetscCall(VecUseDecide(use));
  if (use->run) PetscCall(VecUseProgram(use->device));
  for (PetscInt k = 0; k < n && use->run; k++) {
    if (use->same[k] < k) use->buffer[k] = use->buffer[use->same[k]];
    else PetscCall(VecUseGet(use, k));
    if (!use->buffer[k] && vec[k]->map->n) use->run = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches a kernel of vec.cl on so many work groups; unless the operation is to be run by kernels, does nothing. See VecUseLaunch() */
PetscErrorCode VecUseRun(VecUse *use, const char kernel[], size_t groups, PetscInt nargs, const VecGive args[])
{
  const void    *arg[VEC_GIVE_MAX];
  size_t         size[VEC_GIVE_MAX];
  PetscBool      nomem = PETSC_FALSE;
  SpmvDeviceCall call  = {.kernel = kernel, .groups = groups, .group = (size_t)Group, .nargs = nargs, .arg = arg, .size = size};

  PetscFunctionBegin;
  if (!use->run || !groups) PetscFunctionReturn(PETSC_SUCCESS);
  PetscAssert(nargs <= VEC_GIVE_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Kernel %s has too many arguments", kernel);
  for (PetscInt k = 0; k < nargs; k++) {
    arg[k]  = args[k].value;
    size[k] = args[k].size;
  }
  PetscCall(SpmvDeviceRun(use->device, Program, &call, PETSC_TRUE, &nomem));
  if (nomem) use->run = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends an operation: what was sent along is forgotten, what was written is stale on the host */
PetscErrorCode VecUseEnd(VecUse *use)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < use->n; k++) {
    VecAccel *a;

    if (use->sent[k]) PetscCall(SpmvDeviceFree(use->device, (size_t)use->vec[k]->map->n * sizeof(PetscScalar), &use->buffer[k]));
    if (use->same[k] < k) continue;
    if (!VecIsAccel(use->vec[k])) {
      if (use->borrows[k] && use->buffer[k]) PetscCall(VecGiveBack(use->vec[k], use->access[k], &use->buffer[k]));
    } else if (use->run && use->access[k] & VEC_WRITE) {
      PetscCall(VecAccelGet(use->vec[k], &a));
      PetscCall(VecAccelWritten(use->vec[k], a));
    }
  }
  if (use->run) SpmvVecTotals.kernels++;
  else if (use->device) SpmvVecTotals.host++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y <- x, any vectors of one local size; done: kernels did it */
PetscErrorCode VecUseCopy(Vec x, Vec y, PetscBool *done)
{
  const uint64_t from = 0, n = (uint64_t)y->map->n;
  VecUse         use;

  PetscFunctionBegin;
  PetscCall(VecUseBegin(&use, 2, (Vec[]){y, x}, (int[]){VEC_WRITE, VEC_READ}));
  PetscCall(VecUseLaunch(&use, "vec_copy", n, VEC_GIVE(use.buffer[0]), VEC_GIVE(from), VEC_GIVE(use.buffer[1]), VEC_GIVE(from),
                         VEC_GIVE(n)));
  PetscCall(VecUseEnd(&use));
  *done = use.run;
  PetscFunctionReturn(PETSC_SUCCESS);
}
