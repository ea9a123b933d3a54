/*
  product.c - the products of a storage on a device

  Vectors that live on the device stay there. For those on the host there are places of their own on the device: a product
  sends x (and y, where it is added to) and receives y. A joint product (joint.c) has both on the host, sends x and receives the
  rows of the device.

  Where the API can, the kernels of a product are recorded and asked for as one from then on (a graph of CUDA's), with all that
  they are given: for the places of vectors of the host at once, for others when x, y and beta come for the second time. Vectors
  are known by their addresses, so who frees one need not tell. Kernels that are given the number of the product are not recorded.
  While PETSc logs, kernels that were recorded are one event, named after the first and the number of the others:
  csradaptive_vectorl+3.
*/
#include "ondevice.h"

/* The place of a vector of the host on the device, made at the first product, and its values there if they are given */
static PetscErrorCode OnDevicePlace(SpmvOnDevice *on, const char name[], PetscInt n, const PetscScalar data[], void **place,
                                    PetscBool *nomem)
{
  const SpmvArray vector = SPMV_ARRAY(name, data, (size_t)n, sizeof(PetscScalar));

  PetscFunctionBegin;
  if (!*nomem) PetscCall(SpmvOnDeviceSend(on, 1, &vector, PETSC_FALSE, nomem));
  if (!*nomem) *place = SpmvOnDeviceFind(on, name)->buffer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A launch with what it is given */
PetscErrorCode SpmvOnDeviceCallSet(SpmvOnDevice *on, const SpmvDeviceLaunch *l, PetscBool beta, SpmvDeviceCall *c)
{
  static void *const none = NULL;

  PetscFunctionBegin;
  PetscCheck(l->groups <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu work groups are more than a device launches; use more processes or larger tiles", l->groups);
  *c = (SpmvDeviceCall){.kernel = l->kernel, .groups = l->groups, .group = l->group, .local = l->local, .nargs = l->nargs};
  for (PetscInt k = 0; k < l->nargs; k++) {
    const SpmvDeviceArg  *arg   = &l->arg[k];
    const PetscInt        value = arg->kind == SPMV_ARG_BETA ? (PetscInt)beta : arg->value;
    const OnDeviceBuffer *b;

    c->size[k] = sizeof(void *);
    switch (arg->kind) {
    case SPMV_ARG_X: c->arg[k] = &on->x; break;
    case SPMV_ARG_Y: c->arg[k] = &on->y; break;
    case SPMV_ARG_ARRAY:
      b         = SpmvOnDeviceFind(on, arg->name);
      c->arg[k] = b ? &b->buffer : &none;
      break;
    case SPMV_ARG_EPOCH:
      c->arg[k]  = &on->epoch;
      c->size[k] = sizeof(on->epoch);
      break;
    default:
      PetscCheck(value >= INT32_MIN && value <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "%" PetscInt_FMT
                 " does not fit the 32-bit integers of device kernels; use more processes or -mat_spmv_backend host",
                 value);
      c->value[k] = (int32_t)value;
      c->arg[k]   = &c->value[k];
      c->size[k]  = sizeof(int32_t);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernels of a product that are launched: what each of them waits for is counted among these */
static PetscErrorCode OnDeviceCalls(SpmvOnDevice *on, PetscBool beta, PetscInt *ncalls, SpmvDeviceCall calls[])
{
  uint32_t call[SPMV_DEVICE_LAUNCH_MAX] = {0}; /* the bit of each kernel's call; 0: it has none */
  PetscInt n                            = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < on->product.nlaunches; k++) {
    const SpmvDeviceLaunch *l = &on->product.launch[k];

    if (!l->groups || (l->overwrites && beta)) continue;
    PetscCall(SpmvOnDeviceCallSet(on, l, beta, &calls[n]));
    for (PetscInt b = 0; b < k; b++) calls[n].waits |= l->waits >> b & 1 ? call[b] : 0;
    call[k] = (uint32_t)1 << n++;
  }
  *ncalls = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Forgets a graph, which may still run */
static PetscErrorCode GraphForget(SpmvOnDevice *on, SpmvGraph *graph)
{
  PetscFunctionBegin;
  if (!graph->recorded) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvReleaseDevice(on->device, finish);
  SpmvReleaseDevice(on->device, forget, graph->recorded);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The graph of this product; not `seen` if there was none before, or so long ago that others have taken its place */
static PetscErrorCode GraphFind(SpmvOnDevice *on, PetscBool beta, SpmvGraph **graph, PetscBool *seen)
{
  SpmvGraph *oldest = on->graph, *found = NULL;

  PetscFunctionBegin;
  for (SpmvGraph *g = on->graph; g < on->graph + SPMV_GRAPHS_MAX && !found; g++) {
    if (g->epoch && g->x == on->x && g->y == on->y && g->beta == beta) found = g;
    if (g->epoch < oldest->epoch) oldest = g;
  }
  *seen = (PetscBool)(found != NULL);
  if (!found) {
    found = oldest;
    PetscCall(GraphForget(on, found));
    *found = (SpmvGraph){.x = on->x, .y = on->y, .beta = beta};
  }
  found->epoch = on->epoch;
  *graph       = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When nothing is multiplied any more */
PetscErrorCode SpmvGraphsForget(SpmvOnDevice *on)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < SPMV_GRAPHS_MAX; k++) PetscCall(GraphForget(on, &on->graph[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The kernels of a product, with the vectors on the device

  Memory that runs out does so before the first kernel: what the others want was there before. Where it does not and y has
  been added to, there is no way back: the device says `half`.
*/
static PetscErrorCode OnDeviceRun(SpmvOnDevice *on, PetscBool beta, PetscBool *nomem)
{
  SpmvDeviceCall calls[SPMV_DEVICE_LAUNCH_MAX];
  SpmvGraph     *graph = NULL;
  PetscInt       n     = 0;
  PetscBool      seen  = PETSC_FALSE;

  PetscFunctionBegin;
  on->epoch++;
  if (on->device->graphs && on->product.nlaunches > 1 && !on->product.numbered) {
    PetscCall(GraphFind(on, beta, &graph, &seen));
    if (graph->recorded) {
      PetscCall(SpmvDeviceReplay(on->device, graph->recorded, graph->name, nomem));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(OnDeviceCalls(on, beta, &n, calls));
  if (n > 1 && graph && (seen || (on->xhost && on->yhost))) {
    SpmvCallDevice(on->device, nomem, record, on->program, n, calls, &graph->recorded);
    PetscCall(PetscSNPrintf(graph->name, sizeof(graph->name), "%s+%" PetscInt_FMT, calls[0].kernel, n - 1));
    if (!*nomem) PetscCall(SpmvDeviceReplay(on->device, graph->recorded, graph->name, nomem));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* While PETSc logs, the end of a kernel is waited for, or its time would be counted where y is received */
  for (PetscInt k = 0; k < n && !*nomem; k++) {
    PetscCall(SpmvDeviceRun(on->device, on->program, &calls[k], (PetscBool)!on->joint, nomem));
    if (*nomem && k && beta && !on->yhost) on->device->half = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpmvOnDeviceMultiply() while the device is entered */
static PetscErrorCode OnDeviceMultiply(SpmvOnDevice *on, const PetscScalar x[], void *xbuffer, PetscScalar y[], void *ybuffer,
                                       PetscBool beta, PetscBool *nomem)
{
  const PetscBool add = (PetscBool)(beta && !on->joint); /* by the kernels */
  SpmvDevice     *d   = on->device;

  PetscFunctionBegin;
  on->x     = xbuffer;
  on->y     = ybuffer;
  on->xhost = (PetscBool)!xbuffer;
  on->yhost = (PetscBool)!ybuffer;
  if (!xbuffer) PetscCall(OnDevicePlace(on, "x", on->n, x, &on->x, nomem));
  if (!ybuffer) PetscCall(OnDevicePlace(on, "y", on->m, add ? y : NULL, &on->y, nomem));
  if (!*nomem) PetscCall(OnDeviceRun(on, add, nomem));
  if (d->failed) *nomem = PETSC_TRUE; /* whoever noticed */
  if (*nomem || ybuffer) PetscFunctionReturn(PETSC_SUCCESS);
  if (on->joint) PetscCall(SpmvJointFinish(on->joint, d, on->y, x, y, beta, nomem));
  else PetscCall(SpmvDeviceCopy(d, SPMV_FROM_DEVICE, y, on->y, (size_t)on->m * sizeof(PetscScalar), nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvOnDeviceMultiply - y <- beta y + A x, where each vector is on the device or on the host

  Input Parameters:
+ on      - the storage
. x       - on the host; not looked at if there is an xbuffer
. xbuffer - on the device, or NULL
. ybuffer - on the device, or NULL
- beta    - whether y is added to

  Input/Output Parameter:
. y - on the host; not looked at if there is a ybuffer

  Output Parameter:
. nomem - PETSC_TRUE if the device is out of memory, or has failed and is tolerant; y is then as it was, if it
          is added to, unless the device says `half`

  Notes:
  With y on the device the kernels may still be running at the return; what is asked of the device later comes after them.

  Of a joint product both vectors must be on the host; see SpmvOnDeviceIsJoint().
*/
PetscErrorCode SpmvOnDeviceMultiply(SpmvOnDevice *on, const PetscScalar x[], void *xbuffer, PetscScalar y[], void *ybuffer,
                                    PetscBool beta, PetscBool *nomem)
{
  SPMV_DESTROY_BY(SpmvDeviceLeave) SpmvDevice *entered = NULL;
  SpmvDevice                                  *d       = on->device;

  PetscFunctionBegin;
  PetscCheck(!on->joint || (!xbuffer && !ybuffer), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The host has some of the rows of this product, so x and y must be there");
  *nomem  = PETSC_FALSE;
  d->half = PETSC_FALSE;
  PetscCall(SpmvDeviceEnter(d, &entered));
  if (entered) PetscCall(OnDeviceMultiply(on, x, xbuffer, y, ybuffer, beta, nomem));
  if (d->failed) *nomem = PETSC_TRUE;
  if (d->failed && ybuffer) d->half = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the host makes some of the rows */
PetscBool SpmvOnDeviceIsJoint(const SpmvOnDevice *on)
{
  return (PetscBool)(on->joint != NULL);
}

/*
  For measuring: n products more, y <- A x, in the places of vectors of the host, with what the last one left there or, in the
  place of an x that there was not yet, ones; returns when they have ended. nomem: the device ran out of memory or, while it is
  tolerant, failed
*/
PetscErrorCode SpmvOnDeviceRepeat(SpmvOnDevice *on, PetscInt n, PetscBool *nomem)
{
  SPMV_DESTROY_BY(SpmvDeviceLeave) SpmvDevice *entered = NULL;
  SPMV_TEMPORARY PetscScalar                  *ones    = NULL;

  PetscFunctionBegin;
  *nomem = PETSC_FALSE;
  PetscCheck(!on->joint, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host has some of the rows of these products: the kernels of the device alone are no product");
  PetscCall(SpmvDeviceEnter(on->device, &entered));
  on->xhost = on->yhost = PETSC_TRUE;
  if (!SpmvOnDeviceFind(on, "x")) {
    PetscCall(PetscMalloc1(on->n, &ones));
    for (PetscInt k = 0; k < on->n; k++) ones[k] = 1;
  }
  PetscCall(OnDevicePlace(on, "x", on->n, ones, &on->x, nomem));
  if (!*nomem) PetscCall(OnDevicePlace(on, "y", on->m, NULL, &on->y, nomem));
  for (PetscInt k = 0; k < n && !*nomem; k++) PetscCall(OnDeviceRun(on, PETSC_FALSE, nomem));
  if (!*nomem) SpmvCallDevice(on->device, nomem, finish);
  if (on->device->failed) *nomem = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
