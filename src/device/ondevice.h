/*
  ondevice.h - a storage on a device, as ondevice.c, product.c and convert.c see it
*/
#pragma once
#include "device.h"

/* A buffer on the device and what it holds */
typedef struct {
  const char *name;
  size_t      bytes;
  void       *buffer; /* NULL: nothing */
} OnDeviceBuffer;

/* SpmvShared: a product of which the host makes some rows */
typedef struct {
  const SpmvFormat *format;
  PetscInt          m;       /* rows of the matrix */
  PetscInt          n;       /* rows of the device */
  PetscInt         *rows;    /* [n] increasing */
  PetscScalar      *results; /* [n] what the device has made of them */
  SpmvPlan          plan;    /* of the host's storage, as built */
  void             *storage; /* of the host's rows */
  SpmvApplyFn      *apply;
  PetscInt          nz, all; /* entries of the host's rows, of all rows */
  PetscInt          threads; /* that put the results in their places */
} SpmvShared;

/* SpmvRowsPart: some rows of a matrix, as one of their own; the arrays are NULL if it is the whole matrix */
typedef struct {
  SpmvCSR      csr;
  PetscInt    *i, *j;
  PetscScalar *a;
} SpmvRowsPart;

struct _n_SpmvOnDevice {
  SpmvDevice       *device;
  const SpmvFormat *format;
  SpmvPlan          plan; /* as built */
  void             *storage;
  SpmvDeviceProduct product;
  void             *program;
  PetscInt          nbuffers;
  OnDeviceBuffer    buffer
    [2 * SPMV_ARRAY_MAX +
     2 *
       SPMV_DEVICE_WORK_MAX]; /* arrays of the storage in the order of arrays(), work arrays of products, and while it is converted what that takes */
  OnDeviceBuffer x, y;        /* places of vectors that live on the host */
  void          *xnow, *ynow; /* the vectors of this product */
  PetscInt       nx, ny;      /* their lengths */
  uint32_t       epoch;       /* products so far */
  SpmvGraphs     graphs;
  SpmvShared    *shared; /* NULL: the storage has all rows of the matrix */
};

/* A kernel with its arguments; the pointers of call lead into the other members */
typedef struct {
  SpmvDeviceCall call;
  int32_t        value[SPMV_DEVICE_ARG_MAX];
  const void    *arg[SPMV_DEVICE_ARG_MAX];
  size_t         size[SPMV_DEVICE_ARG_MAX];
} OnDeviceCall;

/* ondevice.c */
extern PetscErrorCode SpmvOnDeviceAlloc(SpmvOnDevice *on, const char name[], size_t bytes, OnDeviceBuffer *b, PetscBool *nomem);
extern PetscErrorCode SpmvOnDeviceClear(SpmvOnDevice *on, OnDeviceBuffer *b, PetscBool *nomem);

/* product.c */
extern PetscErrorCode SpmvOnDeviceCallSet(const SpmvOnDevice *on, const SpmvDeviceLaunch *l, PetscBool beta, OnDeviceCall *c);

/* shared.c */
extern PetscErrorCode SpmvSharedCreate(const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan, const SpmvPlan *host,
                                       SpmvShared **shared);
extern PetscErrorCode SpmvSharedGetPart(const SpmvShared *shared, const SpmvCSR *csr, SpmvRowsPart *part);
extern PetscErrorCode SpmvSharedRestorePart(SpmvRowsPart *part);
extern PetscErrorCode SpmvSharedSetValues(SpmvShared *shared, const SpmvCSR *csr);
extern PetscErrorCode SpmvSharedFinish(SpmvShared *shared, SpmvDevice *device, void *results, const PetscScalar x[],
                                       PetscScalar y[], PetscBool beta);
extern PetscErrorCode SpmvSharedDescribe(const SpmvShared *shared, const SpmvPlan *plan, char line[], size_t size);
extern PetscErrorCode SpmvSharedDestroy(SpmvShared **shared);

/* convert.c */
extern PetscErrorCode SpmvOnDeviceConvert(SpmvOnDevice *on, PetscBool values_only, PetscBool *nomem);
