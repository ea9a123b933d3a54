/*
  product.c - the products of a storage on a device

  Vectors that live on the device stay there. For those on the host there are places of their own on the device: a product
  sends x (and y, where it is added to) and receives y. A shared product (shared.c) has both on the host, sends x and
  receives the rows of the device.

  Where the API can, the kernels of a product are recorded and asked for as one from then on (a graph of CUDA's). What they
  are given is recorded with them, so that there is a graph for each x, y and beta: at once for the places of vectors of the
  host, and when they come for the second time for others. The number of the product changes each time: products
  that need it, of kernels that wait for each other, are not recorded.
*/
#include "ondevice.h"

/* The place of a vector of n scalars that lives on the host, allocated at the first product */
static PetscErrorCode OnDeviceVector(SpmvOnDevice *on, PetscInt n, OnDeviceBuffer *b, PetscBool *nomem)
{
  const size_t bytes = (size_t)n * sizeof(PetscScalar);

  PetscFunctionBegin;
  if (b->bytes == bytes && (b->buffer || !bytes)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvGraphsForget(&on->graphs, on->device)); /* they have where it was */
  PetscCall(SpmvDeviceFree(on->device, b->bytes, &b->buffer));
  PetscCall(SpmvOnDeviceAlloc(on, "vector", bytes, b, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A launch with what it is given */
PetscErrorCode SpmvOnDeviceCallSet(const SpmvOnDevice *on, const SpmvDeviceLaunch *l, PetscBool beta, OnDeviceCall *c)
{
  static void *const none = NULL;

  PetscFunctionBegin;
  c->call = (SpmvDeviceCall){.kernel = l->kernel,
                             .groups = l->groups,
                             .group  = l->group,
                             .step   = l->step,
                             .nargs  = l->nargs,
                             .arg    = c->arg,
                             .size   = c->size};
  for (PetscInt k = 0; k < l->nargs; k++) {
    c->size[k] = sizeof(int32_t);
    switch (l->arg[k].kind) {
    case SPMV_ARG_INT:
      PetscCheck(l->arg[k].value >= INT32_MIN && l->arg[k].value <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "%" PetscInt_FMT
                 " does not fit the 32-bit integers of device kernels; use more processes or -mat_spmv_backend host",
                 l->arg[k].value);
      c->value[k] = (int32_t)l->arg[k].value;
      c->arg[k]   = &c->value[k];
      break;
    case SPMV_ARG_BETA:
      c->value[k] = (int32_t)beta;
      c->arg[k]   = &c->value[k];
      break;
    case SPMV_ARG_EPOCH: c->arg[k] = &on->epoch; break;
    default:
      c->size[k] = sizeof(void *);
      c->arg[k]  = l->arg[k].kind == SPMV_ARG_X ? &on->xnow : l->arg[k].kind == SPMV_ARG_Y ? &on->ynow : &none;
      for (PetscInt b = 0; b < on->nbuffers && l->arg[k].kind == SPMV_ARG_ARRAY; b++) {
        if (!strcmp(on->buffer[b].name, l->arg[k].name)) c->arg[k] = &on->buffer[b].buffer;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all that the kernels are given is the same in each product */
static PetscBool OnDeviceConstant(const SpmvDeviceProduct *product)
{
  for (PetscInt l = 0; l < product->nlaunches; l++) {
    for (PetscInt k = 0; k < product->launch[l].nargs; k++) {
      if (product->launch[l].arg[k].kind == SPMV_ARG_EPOCH) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/*
  The kernels of a product, with the vectors on the device

  Memory that runs out does so before the first kernel: what the others want was there before. Where it does not and y has
  been added to, there is no way back.
*/
static PetscErrorCode OnDeviceRun(SpmvOnDevice *on, PetscBool beta, PetscBool *nomem)
{
  const SpmvDeviceApi *api = on->device->api;
  OnDeviceCall         c[SPMV_DEVICE_LAUNCH_MAX];
  SpmvDeviceCall       calls[SPMV_DEVICE_LAUNCH_MAX];
  void               **graph = NULL;
  PetscInt             n     = 0;
  PetscBool            logging, seen = PETSC_FALSE;

  PetscFunctionBegin;
  on->epoch++;
  PetscCall(PetscLogIsActive(&logging)); /* then each kernel has its event */
  if (on->device->graphs && !logging && on->product.nlaunches > 1 && OnDeviceConstant(&on->product)) {
    PetscCall(SpmvGraphsFind(&on->graphs, on->device, on->xnow, on->ynow, beta, &graph, &seen));
    if (*graph) {
      PetscCall(api->replay(on->device->handle, *graph, nomem));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  for (PetscInt k = 0; k < on->product.nlaunches; k++) {
    const SpmvDeviceLaunch *l = &on->product.launch[k];

    if (!l->groups || (l->overwrites && beta)) continue;
    PetscCall(SpmvOnDeviceCallSet(on, l, beta, &c[n]));
    calls[n] = c[n].call;
    n++;
  }
  if (n > 1 && graph && (seen || (on->xnow == on->x.buffer && on->ynow == on->y.buffer))) {
    PetscCall(api->record(on->device->handle, on->program, n, calls, graph, nomem));
    if (!*nomem) PetscCall(api->replay(on->device->handle, *graph, nomem));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* With logging, the end of a kernel is waited for, or its time would be counted where y is received */
  for (PetscInt k = 0; k < n && !*nomem; k++) {
    PetscCall(SpmvDeviceRun(on->device, on->program, &calls[k], (PetscBool)(logging && !on->shared), nomem));
    PetscCheck(!*nomem || !k || !beta || on->ynow == on->y.buffer, PETSC_COMM_SELF, PETSC_ERR_MEM,
               "%s has run out of memory between the kernels of a product that adds to a vector; use more processes or "
               "-mat_spmv_backend host",
               on->device->info.name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvOnDeviceMultiply - y <- beta y + A x, where each vector is on the device or on the host

  Input Parameters:
+ on      - the storage
. nx      - length of x
. x       - on the host; not looked at if there is an xbuffer
. xbuffer - on the device, or NULL
. ny      - length of y
. ybuffer - on the device, or NULL
- beta    - whether y is added to

  Input/Output Parameter:
. y - on the host; not looked at if there is a ybuffer

  Output Parameter:
. nomem - PETSC_TRUE if the device is out of memory; y is then as it was, if it is added to

  Notes:
  With y on the device the kernels may still be running at the return; whatever asks the device for something later comes after them.

  Of a product that the host has a share in, see SpmvOnDeviceIsShared(), both vectors must be on the host.
*/
PetscErrorCode SpmvOnDeviceMultiply(SpmvOnDevice *on, PetscInt nx, const PetscScalar x[], void *xbuffer, PetscInt ny,
                                    PetscScalar y[], void *ybuffer, PetscBool beta, PetscBool *nomem)
{
  const PetscBool add = beta && !on->shared ? PETSC_TRUE : PETSC_FALSE; /* by the kernels */

  PetscFunctionBegin;
  PetscCheck(!on->shared || (!xbuffer && !ybuffer), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The host has a share in this product, so x and y must be there");
  *nomem = PETSC_FALSE;
  on->nx = nx;
  on->ny = on->shared ? on->shared->n : ny;
  if (!xbuffer) PetscCall(OnDeviceVector(on, on->nx, &on->x, nomem));
  if (!ybuffer) PetscCall(OnDeviceVector(on, on->ny, &on->y, nomem));
  if (!*nomem && !xbuffer) PetscCall(SpmvDeviceWrite(on->device, on->x.buffer, x, on->x.bytes, nomem));
  if (!*nomem && !ybuffer && add) PetscCall(SpmvDeviceWrite(on->device, on->y.buffer, y, on->y.bytes, nomem));
  on->xnow = xbuffer ? xbuffer : on->x.buffer;
  on->ynow = ybuffer ? ybuffer : on->y.buffer;
  if (!*nomem) PetscCall(OnDeviceRun(on, add, nomem));
  if (*nomem || ybuffer) PetscFunctionReturn(PETSC_SUCCESS);
  if (on->shared) PetscCall(SpmvSharedFinish(on->shared, on->device, on->y.buffer, x, y, beta));
  else PetscCall(SpmvDeviceRead(on->device, on->y.buffer, y, on->y.bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with both vectors on the host; y is as it was if memory ran out */
PetscErrorCode SpmvOnDeviceApply(SpmvOnDevice *on, PetscInt nx, const PetscScalar x[], PetscInt ny, PetscScalar y[],
                                 PetscBool beta, PetscBool *nomem)
{
  PetscFunctionBegin;
  PetscCall(SpmvOnDeviceMultiply(on, nx, x, NULL, ny, y, NULL, beta, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the host makes some of the rows */
PetscBool SpmvOnDeviceIsShared(const SpmvOnDevice *on)
{
  return (PetscBool)(on->shared != NULL);
}

/*
  For measuring: n products more, y <- A x, in the places of vectors of the host, with what the last product left there, zeros if
  there was none; returns when they have ended
*/
PetscErrorCode SpmvOnDeviceRepeat(SpmvOnDevice *on, PetscInt n)
{
  OnDeviceBuffer *const vectors[2] = {&on->x, &on->y};
  const PetscInt        length[2]  = {on->nx, on->ny};
  PetscBool             nomem      = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(!on->shared, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The host has a share in these products: the kernels of the device alone are no product");
  PetscCheck(on->epoch, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "There was no product yet, so no vectors are there; multiply first");
  for (int k = 0; k < 2 && !nomem; k++) {
    const PetscBool missing = (PetscBool)!vectors[k]->buffer;

    PetscCall(OnDeviceVector(on, length[k], vectors[k], &nomem));
    if (missing && vectors[k]->buffer) PetscCall(SpmvOnDeviceClear(on, vectors[k], &nomem));
  }
  on->xnow = on->x.buffer;
  on->ynow = on->y.buffer;
  for (PetscInt k = 0; k < n && !nomem; k++) PetscCall(OnDeviceRun(on, PETSC_FALSE, &nomem));
  PetscCheck(!nomem, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s has run out of memory; use more processes or -mat_spmv_backend host",
             on->device->info.name);
  PetscCall(on->device->api->finish(on->device->handle));
  PetscFunctionReturn(PETSC_SUCCESS);
}
