/*
  target.h - a device as the tuner sees it: what it is, how fast it is assumed to be, how a plan is tried on it
*/
#pragma once
#include "../device/device.h"

/* SpmvRates: of a device; rates.c says where they are from */
typedef struct {
  const char    *name;      /* whose they are */
  PetscLogDouble bandwidth; /* bytes a second from its memory */
  PetscLogDouble cached;    /* and from the cache that all processors share */
  PetscLogDouble cache;     /* bytes of a matrix and its vectors that stay in that cache */
  PetscLogDouble latency;   /* seconds from asking its memory for something to having it, and ... */
  PetscLogDouble hit;       /* ... from asking that cache */
  PetscLogDouble items;     /* work items that it has at a time, at most, on ... */
  PetscLogDouble units;     /* ... so many processors, of which each has ... */
  PetscLogDouble groups;    /* ... so many work groups, at most, 0: not known, and ... */
  PetscLogDouble local;     /* ... so many bytes for all that these share, and ... */
  PetscLogDouble registers; /* ... so many registers of 32 bits; 0: not known */
  PetscLogDouble begin;     /* seconds from one work group to the next on one of them; 0: not known */
  PetscLogDouble lanes;     /* of these, so many keep it busy */
  PetscLogDouble cycles;    /* instructions of work items that it begins in a second, ... */
  PetscLogDouble apart;     /* ... and of those behind branches or barriers */
  PetscLogDouble launch;    /* seconds of a kernel besides its work */
  PetscLogDouble transfer;  /* seconds of a transfer between it and the host, and ... */
  PetscLogDouble byte;      /* ... of each of its bytes */
  PetscLogDouble compile;   /* seconds to compile the kernels of a plan */
} SpmvRates;

/* SpmvTrial: what came of a plan that was tried */
typedef struct {
  PetscLogDouble build;    /* seconds to make the storage and send it, kernels not counted */
  PetscLogDouble product;  /* the median of some products, by a device that has the vectors, ... */
  PetscLogDouble beside;   /* ... and of as many by the fastest storage before, in turns with it; 0: there is none */
  PetscInt       products; /* how many that were */
  PetscBool      nomem;    /* the device has no room for it, and nothing else is set */
} SpmvTrial;

/*
  SpmvTarget: a device, and what tries a plan on it. A test has its own

  attempt() builds, multiplies, and destroys all but the fastest storage so far, which *fastest is; NULL: there is none. release()
  destroys that one
*/
typedef struct _SpmvTarget {
  const char           *api;
  const SpmvDeviceInfo *info;
  SpmvRates             rates;
  PetscErrorCode (*attempt)(const struct _SpmvTarget *target, const SpmvFormat *format, const SpmvCSR *csr, const SpmvPlan *plan,
                            const SpmvPlan *host, PetscInt products, void **fastest, SpmvTrial *trial);
  PetscErrorCode (*release)(void **fastest); /* or NULL */
  void *context;                             /* of attempt() */
} SpmvTarget;

/* rates.c */
extern void           SpmvRatesOf(const SpmvDeviceInfo *info, const SpmvDeviceTold *told, SpmvRates *rates);
extern PetscLogDouble SpmvDeviceSeconds(const SpmvRates *rates, const SpmvDeviceLoad *load, PetscLogDouble vectors,
                                        PetscLogDouble missed);
extern PetscLogDouble SpmvMoveSeconds(const SpmvRates *rates, PetscLogDouble m, PetscLogDouble n);

/* target.c: the device of this process */
extern PetscErrorCode SpmvTargetGet(SpmvTarget *target, PetscBool *found);
