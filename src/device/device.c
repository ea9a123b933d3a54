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

/* Bytes: with x and y of 0.5 MB products take 0.8 times as long as with pieces of 1 MB (H100) */
#define DEVICE_STAGING (1 << 18)

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
  PetscReal  limit = 0, piece = DEVICE_STAGING;
  PetscBool  set, staged;

  PetscFunctionBegin;
  d.index = petsc < 0 ? PetscGlobalRank % (gpus ? gpus : all) : petsc;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-spmv_device_index", &d.index, NULL));
  PetscCheck(d.index >= 0 && d.index < all, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "There is no %s device %" PetscInt_FMT ", there are %" PetscInt_FMT
             "; set -spmv_device_index from 0 to %" PetscInt_FMT,
             api->name, d.index, all, all - 1);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-spmv_device_memory", &limit, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-spmv_device_staging", &piece, &staged));
  PetscCheck(piece >= 0 && piece <= 1 << 30, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%g bytes of page-locked memory are not from 0 to %d; set -spmv_device_staging to a value between", (double)piece,
             1 << 30);
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
  if (api->pin && (staged || d.info.gpu)) d.piece = (size_t)piece; /* a processor reads all memory of the host */
  d.limit = limit > 0 ? (PetscLogDouble)limit : (PetscLogDouble)d.info.memory;
  DeviceHold(&d, 0);
  Device = d;
  PetscCall(PetscInfo(NULL, "Products may use %s device %" PetscInt_FMT ": %s\n", api->name, d.index, d.info.name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceGet - the device of this process

  Output Parameter:
. device - the device, which may have failed, or NULL if there is none and none was asked for by name

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

/* Refuses an error of an API's; not of a device that has failed and is tolerant */
PetscErrorCode SpmvDeviceResult(const SpmvDeviceApi *api, const char what[], int code)
{
  PetscFunctionBegin;
  if (Device.failed && Device.tolerant) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_LIB, "%s: %s gave error %d (%s); set -mat_spmv_backend host to do without",
             api->name, what, code, api->error(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceFailed - a function of a device's API gave an error

  If memory ran out and nomem is not NULL, that is set. Else the device has failed, and is not used any more: that is an error,
  or, while the device is tolerant, nomem is set, unless it is NULL
*/
PetscErrorCode SpmvDeviceFailed(SpmvDevice *d, const char what[], int code, PetscBool *nomem)
{
  PetscFunctionBegin;
  if (nomem) *nomem = PETSC_TRUE;
  for (const int *k = d->api->nomem; nomem && *k; k++) {
    if (code == *k) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!d->failed)
    PetscCall(
      PetscSNPrintf(d->failure, sizeof(d->failure), "%s: %s gave error %d (%s)", d->api->name, what, code, d->api->error(code)));
  d->failed = PETSC_TRUE;
  if (d->tolerant) PetscFunctionReturn(PETSC_SUCCESS);
  d->told = PETSC_TRUE;
  PetscCall(SpmvDeviceResult(d->api, what, code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceEnter - before many calls of a device's API: what each of them would do is done once

  entered: the device, for SPMV_DESTROY_BY(SpmvDeviceLeave) to leave it; NULL if it has failed
*/
PetscErrorCode SpmvDeviceEnter(SpmvDevice *d, SpmvDevice **entered)
{
  int code;

  PetscFunctionBegin;
  *entered = NULL;
  if (d->failed) PetscFunctionReturn(PETSC_SUCCESS);
  code = d->api->enter ? d->api->enter(d->handle) : 0;
  if (code) PetscCall(SpmvDeviceFailed(d, "enter()", code, NULL));
  else *entered = d;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SpmvDeviceLeave(SpmvDevice **entered)
{
  SpmvDevice *d = *entered;

  *entered = NULL;
  if (d && d->api->leave) (void)d->api->leave(d->handle);
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
  SpmvReleaseDevice(d, free, *buffer);
  *buffer = NULL;
  DeviceHold(d, -(PetscLogDouble)bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Copies, and counts, between a buffer and an array of the host; SpmvDeviceWrite() and SpmvDeviceRead() are the two directions.
  The array may be written to at the return; while PETSc logs, the copy has ended, so that the event has its time
*/
PetscErrorCode SpmvDeviceCopy(SpmvDevice *d, SpmvDirection direction, void *to, const void *from, size_t bytes, PetscBool *nomem)
{
  SpmvTransfers *moved  = &d->moved[direction];
  PetscBool      failed = PETSC_FALSE, logging;

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogIsActive(&logging));
  PetscCall(PetscLogEventBegin(CopyEvents[direction], 0, 0, 0, 0));
  PetscCall(SpmvStagedCopy(d, direction, to, from, bytes, logging, &failed));
  PetscCall(PetscLogEventEnd(CopyEvents[direction], 0, 0, 0, 0));
  if (failed) {
    if (!nomem) d->told = PETSC_TRUE;
    PetscCheck(nomem, PETSC_COMM_SELF, d->failed ? PETSC_ERR_LIB : PETSC_ERR_MEM, "%s has %s: what it holds is lost",
               d->info.name, d->failed ? "failed" : "run out of memory");
    *nomem = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  moved->all += (PetscLogDouble)bytes;
  if (bytes > SPMV_TRANSFER_FEW) {
    moved->other++;
    moved->bytes += (PetscLogDouble)bytes;
  } else moved->few++;
  if (direction == SPMV_TO_DEVICE) PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes)); /* for a PETSc built for devices */
  else PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* While PETSc logs, an event of this name begins, or ends */
static PetscErrorCode DeviceEvent(const char name[], PetscBool begins)
{
  PetscLogEvent event;

  PetscFunctionBegin;
  PetscCall(PetscLogEventGetId(name, &event));
  if (event < 0) PetscCall(PetscLogEventRegister(name, MAT_CLASSID, &event));
  if (begins) {
    PetscCall(PetscLogEventBegin(event, 0, 0, 0, 0));
    PetscCall(PetscLogGpuTimeBegin());
  } else {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogEventEnd(event, 0, 0, 0, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvDeviceRun - launches a kernel; if memory ran out, nomem is set and nothing was launched

  Note:
  While PETSc logs, this is an event of the kernel's name, and if `wait` its end is waited for, so that the event has its time.
*/
PetscErrorCode SpmvDeviceRun(SpmvDevice *d, void *program, const SpmvDeviceCall *call, PetscBool wait, PetscBool *nomem)
{
  PetscBool logging;

  PetscFunctionBegin;
  PetscCall(PetscLogIsActive(&logging));
  if (logging) PetscCall(DeviceEvent(call->kernel, PETSC_TRUE));
  SpmvCallDevice(d, nomem, launch, program, call);
  if (logging && wait && !*nomem) SpmvCallDevice(d, nomem, finish);
  if (logging) PetscCall(DeviceEvent(call->kernel, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches kernels that were recorded; while PETSc logs, they are one event, of this name, and their end is waited for */
PetscErrorCode SpmvDeviceReplay(SpmvDevice *d, void *graph, const char name[], PetscBool *nomem)
{
  PetscBool logging;

  PetscFunctionBegin;
  PetscCall(PetscLogIsActive(&logging));
  if (logging) PetscCall(DeviceEvent(name, PETSC_TRUE));
  SpmvCallDevice(d, nomem, replay, graph);
  if (logging && !*nomem) SpmvCallDevice(d, nomem, finish);
  if (logging) PetscCall(DeviceEvent(name, PETSC_FALSE));
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

static int GoneEnter(void *device)
{
  return -1;
}

static const char *GoneError(int code)
{
  return "this process is a fork() of the one that opened the device";
}

static PetscErrorCode GoneClose(void **device)
{
  *device = NULL;
  return PETSC_SUCCESS;
}

/*
  In the child of a fork(): what the device has is the parent's, and a call of its API may wait for ever for threads that the
  parent alone has. So the device has failed, and its API is one that refuses each call
*/
void SpmvDeviceForked(void)
{
  static SpmvDeviceApi gone;

  if (!Device.handle || Device.api == &gone) return;
  gone          = *Device.api;
  gone.enter    = GoneEnter;
  gone.leave    = NULL;
  gone.error    = GoneError;
  gone.close    = GoneClose;
  gone.nomem[0] = 0;
  Device.api    = &gone;
  Device.failed = PETSC_TRUE;
  Device.told   = PETSC_FALSE;
  (void)snprintf(Device.failure, sizeof(Device.failure), "%s", GoneError(0));
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
    if (Device.failed) Device.tolerant = 1;
    PetscCall(SpmvStagingReset(&Device));
    PetscCall(SpmvProgramsReset(&Device));
    PetscCall(Device.api->close(&Device.handle));
  }
  PetscCall(PetscMemzero(&Device, sizeof(Device)));
  PetscCall(PetscArrayzero(SpmvPrograms, SPMV_PROGRAMS));
  DeviceSought = DeviceView = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
