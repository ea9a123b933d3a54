/*
  ondevice.h - a storage on a device, as product.c and convert.c see it
*/
#pragma once
#include "device.h"

/* A buffer on the device and what it holds */
typedef struct {
  const char *name;
  size_t      bytes;
  void       *buffer; /* NULL: nothing */
} OnDeviceBuffer;

struct _n_SpmvOnDevice {
  SpmvDevice       *device;
  const SpmvFormat *format;
  const void       *storage;
  SpmvDeviceProduct product;
  void             *program;
  PetscInt          nbuffers;
  OnDeviceBuffer    buffer[SPMV_ARRAY_MAX + 2 * SPMV_DEVICE_WORK_MAX]; /* arrays of the storage in the order of arrays(), then work arrays of products, and while it is converted those of that */
  OnDeviceBuffer    x, y;                                              /* places of vectors that live on the host */
  void             *xnow, *ynow;                                       /* the vectors of this product */
  PetscInt          nx, ny;                                            /* their lengths */
  uint32_t          epoch;                                             /* products so far */
  SpmvGraphs        graphs;
  SpmvShared       *shared;
};

/* A kernel with its arguments; the pointers of call lead into the other members */
typedef struct {
  SpmvDeviceCall call;
  int32_t        value[SPMV_DEVICE_ARG_MAX];
  const void    *arg[SPMV_DEVICE_ARG_MAX];
  size_t         size[SPMV_DEVICE_ARG_MAX];
} OnDeviceCall;

/* product.c */
extern PetscErrorCode SpmvOnDeviceAlloc(SpmvOnDevice *on, const char name[], size_t bytes, OnDeviceBuffer *b, PetscBool *full);
extern PetscErrorCode SpmvOnDeviceCallSet(const SpmvOnDevice *on, const SpmvDeviceLaunch *l, PetscBool beta, OnDeviceCall *c);

/* convert.c */
extern PetscErrorCode SpmvOnDeviceConvert(SpmvOnDevice *on, PetscBool values_only, PetscBool *full);
