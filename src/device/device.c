/*
  device.c - the device of this process: which one, its memory, what moves to it and back, launches

  It is looked for when a matrix first asks. Every byte that moves or is held goes through SpmvDeviceCopy() and SpmvDeviceAlloc(),
  which count.
*/
#include "device.h"
#include <petscviewer.h>

/*MC
  SpmvDeviceOptions - the options of the OpenCL or CUDA device of this process

  They are of the whole process and take no prefix. Which products the device runs, -mat_spmv_backend says (`MatSpmvOptions`).

  Options Database Keys:
+ -spmv_device
- -spmv_device_*

  Level: intermediate

  Notes:
  The device is looked for when a matrix or a vector first asks. One that is asked for by name and is not there is an error;
  otherwise the host works, and -info says so.

  Bytes beyond -spmv_device_memory are not taken: the host runs the products of a matrix that has no room.

.seealso: `VECACCEL`, `MatSpmvOptions`, `SpmvReportOptions`, `SpmvInitializePackage()`
M*/

static const SpmvDeviceApi *const DeviceApis[] = {
#define SPMV_DEVICE(name) &SpmvDeviceApi_##name,
#include "../devices.h"
#undef SPMV_DEVICE
};
#define SPMV_DEVICE_APIS ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(DeviceApis))

static SpmvDevice Device;
static PetscBool  DeviceSought; /* whether there is one is known */
static PetscBool  DeviceView;

static PetscLogEvent CopyEvents[2]; /* by SpmvDirection */

/* -spmv_device: the API asked for by name, or NULL; none: PETSC_TRUE if no device is to be used */
static PetscErrorCode DeviceAsked(const SpmvDeviceApi **api, PetscBool *none)
{
  char      name[64], names[256] = "";
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
    PetscCall(SpmvAppend(names, sizeof(names), "%s%s", k ? ", " : "", DeviceApis[k]->name));
  }
  PetscCheck(*api || *none, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-spmv_device %s is no API of devices; set it to %s or none", name, names);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many bytes more are held, or fewer */
static void DeviceHold(SpmvDevice *d, PetscLogDouble bytes)
{
  d->held += bytes;
  d->peak      = PetscMax(d->peak, d->held);
  d->info.room = d->limit - d->held;
}

/*
  Opens a device of an API: -spmv_device_index, or the one that PETSc uses, or processes take turns, among GPUs if there are any.
  One without double is passed over if nobody asked for the API by name
*/
static PetscErrorCode DeviceOpen(const SpmvDeviceApi *api, PetscBool asked, PetscInt all, PetscInt gpus, PetscInt petsc)
{
  SpmvDevice d     = {.api = api, .graphs = (PetscBool)(api->record != NULL)};
  PetscReal  limit = 0;
  PetscBool  set;

  PetscFunctionBegin;
  d.index = petsc < 0 ? PetscGlobalRank % (gpus ? gpus : all) : petsc;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-spmv_device_index", &d.index, NULL));
  PetscCheck(d.index >= 0 && d.index < all, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "There is no %s device %" PetscInt_FMT ", there are %" PetscInt_FMT
             "; set -spmv_device_index from 0 to %" PetscInt_FMT,
             api->name, d.index, all, all - 1);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-spmv_device_memory", &limit, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spmv_device_graph", &d.graphs, &set));
  PetscCheck(!set || !d.graphs || api->record, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-spmv_device_graph true: %s records no kernels; leave the option out, or set -spmv_device cuda", api->name);
  PetscCall(api->describe(d.index, &d.info));
  if (sizeof(PetscReal) == 8 && !d.info.real64) {
    PetscCheck(!asked, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "%s has no double; set -spmv_device or -spmv_device_index to another device", d.info.name);
    PetscCall(PetscInfo(NULL, "%s has no double\n", d.info.name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(api->open(d.index, &d.handle));
  d.limit = limit > 0 ? (PetscLogDouble)limit : (PetscLogDouble)d.info.memory;
  DeviceHold(&d, 0);
  Device = d;
  PetscCall(PetscInfo(NULL, "Products may use %s device %" PetscInt_FMT ": %s\n", api->name, d.index, d.info.name));
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
      PetscInt all, gpus, petsc;

      if (asked && asked != DeviceApis[k]) continue;
      PetscCall(DeviceApis[k]->count(&all, &gpus, &petsc));
      PetscCheck(all || !asked, PETSC_COMM_SELF, PETSC_ERR_SUP,
                 "-spmv_device %s: this machine has none; %s, or set -spmv_device none", asked->name, asked->remedy);
      if (all) PetscCall(DeviceOpen(DeviceApis[k], (PetscBool)(asked != NULL), all, gpus, petsc));
    }
    DeviceSought = PETSC_TRUE;
    if (!Device.handle)
      PetscCall(PetscInfo(NULL, "%s: the host runs all products\n", none ? "-spmv_device none" : "There is no device"));
  }
  if (Device.handle) *device = &Device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses an error of an API's; if memory ran out and nomem is not NULL, that is set instead */
PetscErrorCode SpmvDeviceResult(const SpmvDeviceApi *api, const char what[], int code, PetscBool *nomem)
{
  PetscFunctionBegin;
  for (const int *k = api->nomem; nomem && code && *k; k++) {
    if (code != *k) continue;
    *nomem = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: %s gave error %d (%s); set -mat_spmv_backend host to do without",
             api->name, what, code, api->error(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory of a device, freed by SpmvDeviceFree(); NULL if memory ran out */
PetscErrorCode SpmvDeviceAlloc(SpmvDevice *d, size_t bytes, void **buffer)
{
  PetscBool nomem = PETSC_FALSE;

  PetscFunctionBegin;
  *buffer = NULL;
  if (d->held + (PetscLogDouble)bytes > d->limit) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvCallDevice(d, &nomem, alloc, bytes, buffer);
  if (nomem) *buffer = NULL;
  else DeviceHold(d, (PetscLogDouble)bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvDeviceFree(SpmvDevice *d, size_t bytes, void **buffer)
{
  PetscFunctionBegin;
  if (!*buffer) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvCallDevice(d, NULL, free, *buffer);
  *buffer = NULL;
  DeviceHold(d, -(PetscLogDouble)bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies, and counts, between a buffer and an array of the host; SpmvDeviceWrite() and SpmvDeviceRead() are the two directions */
PetscErrorCode SpmvDeviceCopy(SpmvDevice *d, SpmvDirection direction, void *to, const void *from, size_t bytes, PetscBool *nomem)
{
  SpmvTransfers *moved = &d->moved[direction];

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(CopyEvents[direction], 0, 0, 0, 0));
  SpmvCallDevice(d, nomem, copy, direction, to, from, bytes);
  PetscCall(PetscLogEventEnd(CopyEvents[direction], 0, 0, 0, 0));
  moved->all += (PetscLogDouble)bytes;
  if (bytes > SPMV_TRANSFER_FEW) {
    moved->other++;
    moved->bytes += (PetscLogDouble)bytes;
  } else moved->few++;
  if (direction == SPMV_TO_DEVICE) PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes)); /* for a PETSc built for devices */
  else PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceRun - launches a kernel; if memory ran out, nomem is set and nothing was launched

  Note:
  While PETSc logs, this is an event of the kernel's name, and if `wait` its end is waited for, so that the event has its time.
*/
PetscErrorCode SpmvDeviceRun(SpmvDevice *d, void *program, const SpmvDeviceCall *call, PetscBool wait, PetscBool *nomem)
{
  PetscLogEvent event;
  PetscBool     logging;

  PetscFunctionBegin;
  PetscCall(PetscLogIsActive(&logging));
  if (!logging) {
    SpmvCallDevice(d, nomem, launch, program, call);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogEventGetId(call->kernel, &event));
  if (event < 0) PetscCall(PetscLogEventRegister(call->kernel, MAT_CLASSID, &event));
  PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
  PetscCall(PetscLogGpuTimeBegin());
  SpmvCallDevice(d, nomem, launch, program, call);
  if (wait && !*nomem) SpmvCallDevice(d, NULL, finish);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -spmv_device_view: the devices that the first process sees, then what all processes did with theirs */
static PetscErrorCode DeviceViewAll(void)
{
  PetscLogDouble local[7] = {Device.moved[0].all, Device.moved[1].all, Device.peak, Device.held}, sum[7];
  PetscBool      any      = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < SPMV_DEVICE_APIS; k++) {
    PetscInt all, gpus, petsc;

    PetscCall(DeviceApis[k]->count(&all, &gpus, &petsc));
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
  for (int k = 0; k < SPMV_PROGRAMS; k++) local[4 + k] = SpmvPrograms[k];
  PetscCallMPI(MPI_Reduce(local, sum, 4 + SPMV_PROGRAMS, MPI_DOUBLE, MPI_SUM, 0, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "devices: %.0f bytes sent, %.0f received, %.0f held at most, %.0f now; ", sum[0],
                        sum[1], sum[2], sum[3]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "programs: %.0f compiled, %.0f from disk, %.0f from memory\n", sum[4], sum[5], sum[6]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What SpmvInitializePackage() calls: options that are looked at at the end */
PetscErrorCode SpmvDeviceInitialize(void)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-spmv_device_view", &DeviceView));
  PetscCall(PetscLogEventRegister("SpmvToDevice", MAT_CLASSID, &CopyEvents[SPMV_TO_DEVICE]));
  PetscCall(PetscLogEventRegister("SpmvFromDevice", MAT_CLASSID, &CopyEvents[SPMV_FROM_DEVICE]));
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
  PetscCall(PetscMemzero(&Device, sizeof(Device)));
  PetscCall(PetscArrayzero(SpmvPrograms, SPMV_PROGRAMS));
  DeviceSought = DeviceView = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
