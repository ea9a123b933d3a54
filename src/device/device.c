/*
  device.c - the device of this process: which one, its memory, what moves to it and back

  It is looked for when a matrix first asks. Every byte that moves or is held goes through SpmvDeviceWrite(),
  SpmvDeviceRead() and SpmvDeviceAlloc(), which count.
*/
#include "device.h"
#include <petscviewer.h>

static const SpmvDeviceApi *const DeviceApis[] = {
#define SPMV_DEVICE(name) &SpmvDeviceApi_##name,
#include "../devices.h"
#undef SPMV_DEVICE
};
#define SPMV_DEVICE_APIS ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(DeviceApis))

static SpmvDevice Device;
static PetscBool  DeviceSought; /* whether there is one is known */
static PetscBool  DeviceView;

static PetscLogEvent ToDevice, FromDevice;

/* "cuda, opencl or none" */
static PetscErrorCode DeviceNames(char names[], size_t size)
{
  PetscFunctionBegin;
  names[0] = 0;
  for (PetscInt k = 0; k < SPMV_DEVICE_APIS; k++) PetscCall(SpmvAppend(names, size, "%s%s", k ? ", " : "", DeviceApis[k]->name));
  PetscCall(SpmvAppend(names, size, " or none"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -spmv_device: the API asked for by name, or NULL; none: PETSC_TRUE if no device is to be used */
static PetscErrorCode DeviceAsked(const SpmvDeviceApi **api, PetscBool *none)
{
  char      name[64], names[256];
  PetscBool set, same;

  PetscFunctionBegin;
  *api  = NULL;
  *none = PETSC_FALSE;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-spmv_device", name, sizeof(name), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(name, "none", none));
  for (PetscInt k = 0; k < SPMV_DEVICE_APIS; k++) {
    PetscCall(PetscStrcmp(name, DeviceApis[k]->name, &same));
    if (same) *api = DeviceApis[k];
  }
  PetscCall(DeviceNames(names, sizeof(names)));
  PetscCheck(*api || *none, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "-spmv_device %s is no API of devices; set it to %s",
             name, names);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many bytes more are held, or fewer */
static void DeviceHold(SpmvDevice *d, PetscLogDouble bytes)
{
  d->held += bytes;
  d->peak      = PetscMax(d->peak, d->held);
  d->info.room = d->limit - d->held;
}

/* Device `index` of an API; without -spmv_device_index, the one that PETSc uses, or ranks take turns among the GPUs, or among all if there is none */
static PetscErrorCode DeviceOpen(const SpmvDeviceApi *api, PetscBool asked, PetscInt all, PetscInt gpus)
{
  const PetscInt choices = gpus ? gpus : all;
  PetscReal      limit   = 0;
  PetscInt       index   = -1;
  PetscBool      graphs  = (PetscBool)(api->record != NULL), set;
  SpmvDeviceInfo info;
  void          *handle;

  PetscFunctionBegin;
  if (api->petsc) PetscCall(api->petsc(&index));
  if (index < 0) index = PetscGlobalRank % choices;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-spmv_device_index", &index, NULL));
  PetscCheck(index >= 0 && index < all, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "There is no %s device %" PetscInt_FMT ", there are %" PetscInt_FMT
             "; set -spmv_device_index from 0 to %" PetscInt_FMT,
             api->name, index, all, all - 1);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-spmv_device_memory", &limit, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spmv_device_graph", &graphs, &set));
  PetscCheck(!set || !graphs || api->record, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-spmv_device_graph true: %s records no kernels; leave the option out, or set -spmv_device cuda", api->name);
  PetscCall(api->describe(index, &info));
  if (sizeof(PetscReal) == 8 && !info.real64) {
    PetscCheck(!asked, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "%s has no double; set -spmv_device or -spmv_device_index to another device", info.name);
    PetscCall(PetscInfo(NULL, "%s has no double\n", info.name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(api->open(index, &handle));
  Device = (SpmvDevice){.api    = api,
                        .index  = index,
                        .handle = handle,
                        .info   = info,
                        .limit  = limit > 0 ? (PetscLogDouble)limit : (PetscLogDouble)info.memory,
                        .graphs = graphs};
  DeviceHold(&Device, 0);
  PetscCall(PetscInfo(NULL, "Products may use %s device %" PetscInt_FMT ": %s\n", api->name, index, info.name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceGet - the device of this process

  Output Parameter:
. device - the device, or NULL if there is none and none was asked for by name

  Note:
  `PETSC_ERR_SUP` if -spmv_device names an API that has no device here, `PETSC_ERR_ARG_OUTOFRANGE` if
  -spmv_device_index is none of its devices.
*/
PetscErrorCode SpmvDeviceGet(SpmvDevice **device)
{
  const SpmvDeviceApi *asked;
  PetscBool            none;

  PetscFunctionBegin;
  *device = NULL;
  if (!DeviceSought) {
    PetscCall(DeviceAsked(&asked, &none));
    for (PetscInt k = 0; k < SPMV_DEVICE_APIS && !Device.handle && !none; k++) {
      PetscInt all, gpus;

      if (asked && asked != DeviceApis[k]) continue;
      PetscCall(DeviceApis[k]->count(&all, &gpus));
      PetscCheck(all || !asked, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "-spmv_device %s: this machine has none; %s, or set -spmv_device none", asked->name, asked->remedy);
      if (all) PetscCall(DeviceOpen(DeviceApis[k], (PetscBool)(asked != NULL), all, gpus));
    }
    DeviceSought = PETSC_TRUE;
    if (!Device.handle)
      PetscCall(PetscInfo(NULL, "%s: the host runs all products\n", none ? "-spmv_device none" : "There is no device"));
  }
  if (Device.handle) *device = &Device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceAlloc - memory of a device, freed by SpmvDeviceFree()

  Output Parameter:
. buffer - NULL if memory ran out
*/
PetscErrorCode SpmvDeviceAlloc(SpmvDevice *d, size_t bytes, void **buffer)
{
  PetscFunctionBegin;
  *buffer = NULL;
  if (d->held + (PetscLogDouble)bytes > d->limit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(d->api->alloc(d->handle, bytes, buffer));
  if (!*buffer) PetscFunctionReturn(PETSC_SUCCESS);
  DeviceHold(d, (PetscLogDouble)bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvDeviceFree(SpmvDevice *d, size_t bytes, void **buffer)
{
  PetscFunctionBegin;
  if (!*buffer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(d->api->free(d->handle, buffer));
  *buffer = NULL;
  DeviceHold(d, -(PetscLogDouble)bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void DeviceCount(SpmvTransfers *t, size_t bytes)
{
  if (bytes <= SPMV_TRANSFER_FEW) t->few++;
  else {
    t->other++;
    t->bytes += (PetscLogDouble)bytes;
  }
}

PetscErrorCode SpmvDeviceWrite(SpmvDevice *d, void *buffer, const void *data, size_t bytes, PetscBool *nomem)
{
  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(ToDevice, 0, 0, 0, 0));
  PetscCall(d->api->write(d->handle, buffer, data, bytes, nomem));
  PetscCall(PetscLogEventEnd(ToDevice, 0, 0, 0, 0));
  d->sent += (PetscLogDouble)bytes;
  DeviceCount(&d->to, bytes);
  PetscCall(
    PetscLogCpuToGpu((PetscLogDouble)bytes)); /* counted by a PETSc that was built for devices; another has nothing here */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvDeviceRead(SpmvDevice *d, void *buffer, void *data, size_t bytes)
{
  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(FromDevice, 0, 0, 0, 0));
  PetscCall(d->api->read(d->handle, buffer, data, bytes));
  PetscCall(PetscLogEventEnd(FromDevice, 0, 0, 0, 0));
  d->received += (PetscLogDouble)bytes;
  DeviceCount(&d->from, bytes);
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -spmv_device_view: the devices that the first process sees, then what all processes did with theirs */
static PetscErrorCode DeviceViewAll(void)
{
  PetscLogDouble local[]  = {Device.sent, Device.received, Device.peak, Device.held}, sum[4];
  PetscInt       counts[] = {SpmvPrograms.compiled, SpmvPrograms.loaded, SpmvPrograms.found}, total[3];
  PetscBool      any      = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < SPMV_DEVICE_APIS; k++) {
    PetscInt all, gpus;

    PetscCall(DeviceApis[k]->count(&all, &gpus));
    for (PetscInt i = 0; i < all; i++) {
      SpmvDeviceInfo info;

      PetscCall(DeviceApis[k]->describe(i, &info));
      PetscCall(PetscPrintf(
        PETSC_COMM_WORLD,
        "%s device %" PetscInt_FMT "%s: %s%s, %.1f GB, %zu kB and %zu work items a work group; driver %s; compiler %s\n",
        DeviceApis[k]->name, i, Device.api == DeviceApis[k] && Device.index == i ? " (in use)" : "", info.name,
        info.gpu ? " (GPU)" : "", (double)info.memory / 1e9, info.local / 1024, info.group, info.driver, info.compiler));
      any = PETSC_TRUE;
    }
  }
  if (!any) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "no device\n"));
  PetscCallMPI(MPI_Reduce(local, sum, 4, MPI_DOUBLE, MPI_SUM, 0, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Reduce(counts, total, 3, MPIU_INT, MPI_SUM, 0, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "devices: %.0f bytes sent, %.0f received, %.0f held at most, %.0f now; programs: %" PetscInt_FMT
                        " compiled, %" PetscInt_FMT " from disk, %" PetscInt_FMT " from memory\n",
                        (double)sum[0], (double)sum[1], (double)sum[2], (double)sum[3], total[0], total[1], total[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What SpmvInitializePackage() calls: options that are looked at at the end */
PetscErrorCode SpmvDeviceInitialize(void)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-spmv_device_view", &DeviceView));
  PetscCall(PetscLogEventRegister("SpmvToDevice", MAT_CLASSID, &ToDevice));
  PetscCall(PetscLogEventRegister("SpmvFromDevice", MAT_CLASSID, &FromDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PetscFinalize() calls: closes the device and forgets all, so that a second PetscInitialize() finds everything as new */
PetscErrorCode SpmvDeviceFinalize(void)
{
  PetscFunctionBegin;
  if (DeviceView) PetscCall(DeviceViewAll());
  if (Device.handle) {
    PetscCall(SpmvProgramsReset(&Device));
    PetscCall(Device.api->close(&Device.handle));
  }
  for (PetscInt k = 0; k < SPMV_DEVICE_APIS; k++) PetscCall(DeviceApis[k]->reset());
  PetscCall(SpmvDeviceRunReset());
  PetscCall(PetscMemzero(&Device, sizeof(Device)));
  PetscCall(PetscMemzero(&SpmvPrograms, sizeof(SpmvPrograms)));
  DeviceSought = DeviceView = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
