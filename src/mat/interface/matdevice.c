/*
  matdevice.c - a storage of a Mat on the device: whether it goes there, sending it, its products

  The plan of a storage says for which backend it was built. A storage for a device serves products there only; where the
  device cannot take it, the storage is built again for the host, and the Mat stays there until its settings change.
  Transposed products on a device read a storage of A^T: one that adds to y in any order would not give the same bits twice.
*/
#include "spmvmat.h"
#include "../../device/device.h"
#include "../../vec/vecaccel.h"

#define SPMV_DEVICE_ENTRIES \
  1000000 /* -mat_spmv_backend auto: fewer are not worth the way to a GPU. A guess: no GPU has been asked */

/*
  MatSpmvBackend - which backend a storage is to be built for

  Input Parameters:
+ s       - the shadow
- entries - of the matrix

  Output Parameter:
. backend - SPMV_BACKEND_HOST or SPMV_BACKEND_DEVICE

  Notes:
  Both blocks of a parallel Mat have the backend that its processes agreed on, however few entries there are.

  Between formats the tuner chooses for the host, unless the user asks for a device: then the first that has kernels for it serves.

  `PETSC_ERR_SUP` if the user asks for a device and the format has no kernels for one; errors as of SpmvDeviceGet().
*/
PetscErrorCode MatSpmvBackend(const SpmvShadow *s, PetscInt entries, PetscInt *backend)
{
  const PetscInt asked = s->settings.request.backend;
  SpmvDevice    *device;

  PetscFunctionBegin;
  *backend = SPMV_BACKEND_HOST;
  if (asked == SPMV_BACKEND_HOST || s->agreed == SPMV_BACKEND_HOST || s->seq.hostonly || s->bound)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (asked == SPMV_BACKEND_AUTO && (!s->type->host || (s->agreed == SPMV_BACKEND_AUTO && entries < SPMV_DEVICE_ENTRIES)))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (s->type->host && !s->type->device) {
    PetscCheck(asked != SPMV_BACKEND_DEVICE, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Format %s has no kernels for devices; set -mat_spmv_backend to host or auto, or take another -mat_type",
               s->type->name);
    PetscCall(PetscInfo(NULL, "Format %s has no kernels for devices: the host runs its products\n", s->type->name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvDeviceGet(&device));
  if (device && (asked == SPMV_BACKEND_DEVICE || device->info.gpu)) *backend = SPMV_BACKEND_DEVICE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A device that ran out of memory is asked no more, as long as the settings stay: said once for each Mat */
PetscErrorCode MatSpmvOutOfMemory(SpmvShadow *s, const SpmvKey *key, const char format[])
{
  SpmvDevice *device;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR,
                         "Warning: %s has no room for a %s storage of %" PetscInt_FMT " x %" PetscInt_FMT
                         " rows and columns with %" PetscInt_FMT
                         " nonzeros beside the %.0f bytes that are there: the host runs its products; use more processes, or set "
                         "-mat_spmv_backend host\n",
                         device->info.name, format, key->m, key->n, key->nz, (double)device->held));
  s->seq.hostonly = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of a product: the buffer of one that lives on the device, or the array of another. One that finds no room there has no buffer */
typedef struct {
  Vec                v;
  PetscBool          reads; /* x */
  void              *buffer;
  const PetscScalar *read;  /* of x */
  PetscScalar       *array; /* of z */
} DeviceVec;

static PetscErrorCode DeviceVecGetX(Vec x, PetscBool joint, DeviceVec *d)
{
  PetscFunctionBegin;
  *d = (DeviceVec){.v = x, .reads = PETSC_TRUE};
  if (!joint) PetscCall(SpmvVecGetDeviceRead(x, &d->buffer));
  if (!d->buffer) PetscCall(VecGetArrayRead(x, &d->read));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DeviceVecGetZ(Vec z, PetscBool joint, PetscBool beta, DeviceVec *d)
{
  PetscFunctionBegin;
  *d = (DeviceVec){.v = z};
  if (!joint) PetscCall(SpmvVecGetDeviceWrite(z, beta, &d->buffer));
  if (!d->buffer) PetscCall((beta ? VecGetArray : VecGetArrayWrite)(z, &d->array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DeviceVecRestore(DeviceVec *d, PetscBool beta, PetscBool written)
{
  PetscFunctionBegin;
  if (d->buffer && d->reads) PetscCall(SpmvVecRestoreDeviceRead(d->v, &d->buffer));
  else if (d->buffer) PetscCall(SpmvVecRestoreDeviceWrite(d->v, beta, written, &d->buffer));
  else if (d->reads) PetscCall(VecRestoreArrayRead(d->v, &d->read));
  else PetscCall((beta ? VecRestoreArray : VecRestoreArrayWrite)(d->v, &d->array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvOnDeviceProduct - z <- beta z + op(A) x by the device; vectors that live there do not move

  Input Parameters:
+ on   - what the device has of A or A^T
. x    - its local entries are multiplied
- beta - whether z is added to

  Input/Output Parameter:
. z - the result

  Output Parameter:
. nomem - PETSC_TRUE if memory ran out; z is as it was then, if it is added to
*/
PetscErrorCode SpmvOnDeviceProduct(SpmvOnDevice *on, Vec x, Vec z, PetscBool beta, PetscBool *nomem)
{
  const PetscBool joint = SpmvOnDeviceIsJoint(on);
  DeviceVec       dx, dz;

  PetscFunctionBegin;
  PetscCall(DeviceVecGetX(x, joint, &dx));
  PetscCall(DeviceVecGetZ(z, joint, beta, &dz));
  PetscCall(SpmvOnDeviceMultiply(on, dx.read, dx.buffer, dz.array, dz.buffer, beta, nomem));
  PetscCall(DeviceVecRestore(&dx, beta, PETSC_FALSE));
  PetscCall(DeviceVecRestore(&dz, beta, (PetscBool) !*nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The API of the device of this process, "none" if there is none */
PetscErrorCode SpmvDeviceName(const char **name)
{
  SpmvDevice *device;

  PetscFunctionBegin;
  PetscCall(SpmvDeviceGet(&device));
  *name = device ? device->api->name : "none";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvGetTransfers_Spmv - for tests: what this process has moved to its device and back since the device was opened, for all Mats
  and Vecs. Found under the name MatSpmvGetTransfers_C

  Output Parameter:
. counts - to the device: transfers of a few scalars, others, the bytes of others; then the same from the device; zeros if there is none
*/
PetscErrorCode MatSpmvGetTransfers_Spmv(Mat A, PetscLogDouble counts[6])
{
  SpmvDevice *device;

  PetscFunctionBegin;
  (void)A;
  PetscCall(SpmvDeviceGet(&device));
  for (int k = 0; k < 2; k++) {
    const SpmvTransfers t = !device ? (SpmvTransfers){0} : k ? device->from : device->to;

    counts[3 * k]     = (PetscLogDouble)t.few;
    counts[3 * k + 1] = (PetscLogDouble)t.other;
    counts[3 * k + 2] = t.bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatSpmvDeviceRepeat_Spmv - for measuring: n products more of a sequential Mat whose last one was a device's, with its vectors as they
  are there. Found under the name MatSpmvDeviceRepeat_C

  Note:
  `PETSC_ERR_ARG_WRONGSTATE` if no product of `A` has been a device's.
*/
PetscErrorCode MatSpmvDeviceRepeat_Spmv(Mat A, PetscInt n)
{
  Mat         blocks[2];
  PetscBool   parallel;
  SpmvShadow *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, blocks, &parallel));
  s = blocks[0] ? (SpmvShadow *)blocks[0]->spptr : NULL;
  PetscCheck(!parallel && s && s->seq.built.device, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The products of this matrix are not run by a device; set -mat_spmv_backend device and multiply first");
  PetscCall(SpmvOnDeviceRepeat(s->seq.built.device, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
