/*
  ondevice.h - a storage on a device, as ondevice.c, product.c and joint.c see it
*/
#pragma once
#include "device.h"

/* A buffer on the device and what it holds */
typedef struct {
  const char *name;
  size_t      bytes;
  void       *buffer; /* NULL: nothing */
} OnDeviceBuffer;

/* Arrays of a storage and of what it is converted from, work arrays of products and of the conversion, the vectors of the host */
#define ON_DEVICE_BUFFERS (2 * SPMV_ARRAY_MAX + 2 * SPMV_DEVICE_WORK_MAX + 2)

/* SpmvJoint: what a joint product has besides the device's storage: the host's */
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
} SpmvJoint;

/* SpmvGraph: a product that was asked for, with its kernels if the API has recorded them */
#define SPMV_GRAPHS_MAX 64 /* GMRES multiplies its 30 vectors in turn, and some more at a restart */
typedef struct {
  const void *x, *y; /* on the device */
  PetscBool   beta;
  void       *recorded; /* NULL: not yet */
  uint32_t    epoch;    /* of the last such product; 0: there was none */
  char        name[64]; /* of its event */
} SpmvGraph;

struct _n_SpmvOnDevice {
  SpmvDevice       *device;
  const SpmvFormat *format;
  SpmvPlan          plan; /* as built */
  PetscInt          m, n; /* rows of the device, columns */
  void             *storage;
  SpmvDeviceProduct product;
  void             *program;
  PetscInt          nbuffers;
  OnDeviceBuffer    buffer[ON_DEVICE_BUFFERS];
  void             *x, *y;        /* the vectors of this product, on the device */
  PetscBool         xhost, yhost; /* whether they are the places of vectors of the host */
  uint32_t          epoch;        /* products so far */
  SpmvGraph         graph[SPMV_GRAPHS_MAX];
  SpmvJoint        *joint; /* NULL: the storage has all rows of the matrix */
};

/* ondevice.c */
extern OnDeviceBuffer *SpmvOnDeviceFind(SpmvOnDevice *on, const char name[]);
extern PetscErrorCode  SpmvOnDeviceSend(SpmvOnDevice *on, PetscInt n, const SpmvArray arrays[], PetscBool values_only,
                                        PetscBool *nomem);

/* product.c */
extern PetscErrorCode SpmvOnDeviceCallSet(SpmvOnDevice *on, const SpmvDeviceLaunch *l, PetscBool beta, SpmvDeviceCall *c);
extern PetscErrorCode SpmvGraphsForget(SpmvOnDevice *on);

/* joint.c */
extern PetscErrorCode SpmvJointCreate(const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan, const SpmvPlan *host,
                                      SpmvJoint **joint);
extern PetscErrorCode SpmvJointSetValues(SpmvJoint *joint, const SpmvCSR *csr);
extern PetscErrorCode SpmvRowsCreate(const SpmvCSR *csr, PetscInt m, const PetscInt from[], SpmvCSR *rows);
extern void           SpmvRowsDestroy(SpmvCSR *rows);
extern PetscErrorCode SpmvJointFinish(SpmvJoint *joint, SpmvDevice *device, void *results, const PetscScalar x[], PetscScalar y[],
                                      PetscBool beta, PetscBool *nomem);
extern PetscErrorCode SpmvJointDescribe(const SpmvJoint *joint, const SpmvPlan *plan, char line[], size_t size);
extern PetscErrorCode SpmvJointDestroy(SpmvJoint **joint);
