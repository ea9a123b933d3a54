/*
  matdevice.c - a storage of a Mat on the device: whether it goes there, sending it, its products

  The plan of a storage says for which backend it was built. A storage for a device serves products there only; where the
  device cannot take it, the storage is built again for the host, and the Mat stays there until its settings change.
  Transposed products on a device read a storage of A^T: one that adds to y in any order would not give the same bits twice.
*/
#include "spmvmat.h"
#include "../../device/device.h"
#include "../../vec/vecaccel.h"

/* -mat_spmv_backend auto: the host multiplies fewer entries before a kernel of a device has begun, so nothing is estimated */
#define SPMV_DEVICE_ENTRIES 2000

/*
  MatSpmvBackend - which backend a storage of so many entries is to be built for: SPMV_BACKEND_HOST, SPMV_BACKEND_DEVICE, or
  SPMV_BACKEND_AUTO, if the tuner is to say it: a GPU is there and may be faster

  Both blocks of a parallel Mat have the backend that its processes agreed on, however few entries there are. Values that are
  rounded to floats are the host's.

  `PETSC_ERR_SUP` if the user asks for a device and the format has no kernels for one; errors as of SpmvDeviceGet().
*/
PetscErrorCode MatSpmvBackend(const SpmvShadow *s, PetscInt entries, PetscInt *backend)
{
  const PetscInt  asked = s->settings.request.backend;
  const PetscBool open  = (PetscBool)(asked == SPMV_BACKEND_AUTO && s->agreed == SPMV_BACKEND_AUTO);
  SpmvDevice     *device;

  PetscFunctionBegin;
  *backend = SPMV_BACKEND_HOST;
  if (asked == SPMV_BACKEND_HOST || s->agreed == SPMV_BACKEND_HOST || s->seq.hostonly || s->bound)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (open && (entries < SPMV_DEVICE_ENTRIES || s->settings.floats)) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->type->host && !s->type->device) {
    PetscCheck(asked != SPMV_BACKEND_DEVICE, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Format %s has no kernels for devices; set -mat_spmv_backend to host or auto, or take another -mat_type",
               s->type->name);
    PetscCall(PetscInfo(NULL, "Format %s has no kernels for devices: the host runs its products\n", s->type->name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvDeviceGet(&device));
  if (!device || device->failed || (asked != SPMV_BACKEND_DEVICE && !device->info.gpu)) PetscFunctionReturn(PETSC_SUCCESS);
  *backend = open ? SPMV_BACKEND_AUTO : SPMV_BACKEND_DEVICE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the user asked for that the device that has the storage makes no use of; empty if there is nothing */
PetscErrorCode MatSpmvUnused(const SpmvShadow *s, char line[], size_t size)
{
  const SpmvBuilt *b = &s->seq.built;
  PetscInt         number;

  PetscFunctionBegin;
  line[0] = 0;
  if (!b->device) PetscFunctionReturn(PETSC_SUCCESS);
  number = SpmvCandidateNumber(b->format);
  for (PetscInt p = 0; p < b->format->host->side.nparams && !SpmvOnDeviceIsJoint(b->device); p++) {
    const char     *name = b->format->host->side.params[p].name;
    const PetscBool set  = (PetscBool)((s->settings.request.pinned[SPMV_BACKEND_HOST][number] >> p & 1) != 0);

    if (set && SpmvSideFind(&b->format->device->side, name) < 0)
      PetscCall(SpmvAppend(line, size, " -mat_%s_%s", b->format->name, name));
  }
  if (s->settings.transposeset && s->settings.transpose == SPMV_TRANSPOSE_SHARED)
    PetscCall(SpmvAppend(line, size, " -mat_spmv_transpose shared"));
  if (s->settings.order == SPMV_ORDER_LEVELS) PetscCall(SpmvAppend(line, size, " -mat_spmv_order levels"));
  if (s->settings.floats) PetscCall(SpmvAppend(line, size, " -mat_spmv_values float"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a device that has failed: an error, or a warning, the first time, as -mat_spmv_on_device_error says */
static PetscErrorCode MatSpmvDeviceFailed(SpmvShadow *s, SpmvDevice *device)
{
  const PetscBool told = device->told, error = (PetscBool)(s->settings.on_device_error == SPMV_ON_DEVICE_ERROR);

  PetscFunctionBegin;
  device->told = PETSC_TRUE;
  if (told) PetscCall(PetscInfo(NULL, "%s has failed (%s): the host runs products\n", device->info.name, device->failure));
  if (told) PetscFunctionReturn(PETSC_SUCCESS);
  if (error) PetscCall(SpmvShadowDrop(s));
  PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "%s has failed, %s; the host runs all products from now on. Set -mat_spmv_on_device_error fallback to go on there "
             "without an error, or -mat_spmv_backend host",
             device->info.name, device->failure);
  PetscCall(
    PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                 "Warning: %s has failed, %s: the host runs all products from now on; set -mat_spmv_on_device_error error "
                 "to stop, or -mat_spmv_backend host\n",
                 device->info.name, device->failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Leaves a Mat to the host for as long as its settings stay, since its device ran out of memory, which is said, or has failed.
  `PETSC_ERR_LIB` if that is to be an error; there is no storage then
*/
PetscErrorCode MatSpmvLeaveDevice(SpmvShadow *s, struct _n_SpmvDevice *device, const char format[])
{
  const SpmvKey *key = &s->seq.key;

  PetscFunctionBegin;
  s->seq.hostonly = PETSC_TRUE;
  if (device->failed) {
    PetscCall(MatSpmvDeviceFailed(s, device));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "Warning: %s has no room for a %s storage of %" PetscInt_FMT " x %" PetscInt_FMT
                         " rows and columns with %" PetscInt_FMT
                         " nonzeros beside the %.0f bytes that are there: the host runs its products; use more processes, or set "
                         "-mat_spmv_backend host\n",
                         device->info.name, format, key->m, key->n, key->nz, (double)device->held));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  A vector that has no buffer, as one of the host and both of a joint product, is an array. The device may fail at any of this;
  but if only it has the values of a vector, they are lost
*/
static PetscErrorCode ProductDevice(SpmvOnDevice *on, Vec x, Vec y, Vec z, PetscBool *nomem)
{
  const PetscBool    beta    = (PetscBool)(y != NULL);
  const PetscScalar *xarray  = NULL;
  PetscScalar       *zarray  = NULL;
  void              *xbuffer = NULL, *zbuffer = NULL;
  const int          access = beta ? VEC_READ | VEC_WRITE : VEC_WRITE;

  PetscFunctionBegin;
  if (y && y != z) PetscCall(SpmvVecCopyLocal(y, z));
  if (!SpmvOnDeviceIsJoint(on)) {
    PetscCall(SpmvVecGetDevice(x, VEC_READ, &xbuffer));
    PetscCall(SpmvVecGetDevice(z, access, &zbuffer));
  }
  if (!xbuffer) PetscCall(VecGetArrayRead(x, &xarray));
  if (!zbuffer) PetscCall((beta ? VecGetArray : VecGetArrayWrite)(z, &zarray));
  PetscCall(SpmvOnDeviceMultiply(on, xarray, xbuffer, zarray, zbuffer, beta, nomem));
  if (xbuffer) PetscCall(SpmvVecRestoreDevice(x, VEC_READ, PETSC_FALSE, &xbuffer));
  else PetscCall(VecRestoreArrayRead(x, &xarray));
  if (zbuffer) PetscCall(SpmvVecRestoreDevice(z, access, (PetscBool) !*nomem, &zbuffer));
  else PetscCall((beta ? VecRestoreArray : VecRestoreArrayWrite)(z, &zarray));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvProductDevice - z <- y + op(A) x by the device, y NULL for 0, for local entries; vectors that live there do not move

  nomem: the device is out of memory, or has failed, and y is as it was; z is to be overwritten, or is y
*/
PetscErrorCode SpmvProductDevice(SpmvOnDevice *on, Vec x, Vec y, Vec z, PetscBool *nomem)
{
  SpmvDevice  *device = SpmvOnDeviceDevice(on);
  PetscScalar *array;

  PetscFunctionBegin;
  *nomem = device->failed;
  if (!*nomem) SpmvTolerantly(device, ProductDevice(on, x, y, z, nomem));
  if (!*nomem) PetscFunctionReturn(PETSC_SUCCESS);
  if (y == z) {
    if (device->half) device->told = PETSC_TRUE;
    PetscCheck(!device->half, PETSC_COMM_SELF, device->failed ? PETSC_ERR_LIB : PETSC_ERR_MEM,
               "%s: %s in the midst of a product; the vector that it was to add to may have some of the sums and lack others",
               device->info.name, device->failed ? device->failure : "memory has run out");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayWrite(z, &array)); /* whatever the device has of it */
  PetscCall(VecRestoreArrayWrite(z, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvGetTransfers - for tests: what this process has moved since the device was opened, for all Mats and Vecs

  To the device: transfers of a few scalars, others, the bytes of others; then the same from the device; zeros if there is none
*/
PetscErrorCode MatSpmvGetTransfers(Mat A, PetscLogDouble counts[6])
{
  SpmvDevice *device;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  for (int k = 0; k < 2; k++) {
    const SpmvTransfers t = !device ? (SpmvTransfers){0} : device->moved[k];

    counts[3 * k]     = (PetscLogDouble)t.few;
    counts[3 * k + 1] = (PetscLogDouble)t.other;
    counts[3 * k + 2] = t.bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvDeviceRepeat - for measuring: n products more of a sequential Mat, with the vectors that the device has

  `PETSC_ERR_ARG_WRONGSTATE` if no product of `A` has been a device's.
*/
PetscErrorCode MatSpmvDeviceRepeat(Mat A, PetscInt n)
{
  SpmvBlocks blocks;
  PetscBool  nomem;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  PetscCheck(blocks.n == 1 && blocks.shadow[0]->seq.built.device, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The products of this matrix are not run by a device; set -mat_spmv_backend device and multiply first");
  PetscCall(SpmvOnDeviceRepeat(blocks.shadow[0]->seq.built.device, n, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "The device has run out of memory; use more processes or -mat_spmv_backend host");
  PetscFunctionReturn(PETSC_SUCCESS);
}
