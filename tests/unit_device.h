/*
  unit_device.h - for tests of the tuner and the estimate without a device: what devices are told to be, and a matrix
*/
#pragma once
#include "spmvtest.h"

/* What a device is, and how fast it is told to be */
static const struct {
  SpmvDeviceInfo info;
  SpmvDeviceTold told;
} Devices[] = {
  {{.name     = "H100",
    .driver   = "CUDA 12.4",
    .compiler = "NVRTC 12.4 for sm_90",
    .memory   = (size_t)80 << 30,
    .room     = 80e9,
    .local    = 49152,
    .large    = 232448,
    .cache    = (size_t)50 << 20,
    .group    = 1024,
    .units    = 132,
    .gpu      = PETSC_TRUE,
    .forward  = PETSC_TRUE,
    .real64   = PETSC_TRUE,
    .atomic64 = PETSC_TRUE},
   {"NVIDIA", 1.98e9, 3.35e12}},
  {{.name     = "H200",
    .driver   = "CUDA 13.0",
    .compiler = "NVRTC 13.0 for sm_90",
    .memory   = (size_t)140 << 30,
    .room     = 140e9,
    .local    = 49152,
    .large    = 232448,
    .cache    = 62914560,
    .group    = 1024,
    .units    = 132,
    .gpu      = PETSC_TRUE,
    .forward  = PETSC_TRUE,
    .real64   = PETSC_TRUE,
    .atomic64 = PETSC_TRUE},
   {"NVIDIA", 1.98e9, 4.814e12}},
  {{.name     = "MI250X",
    .driver   = "3590",
    .compiler = "OpenCL 2.0",
    .memory   = (size_t)64 << 30,
    .room     = 64e9,
    .local    = 65536,
    .cache    = 16384,
    .group    = 256,
    .units    = 110,
    .gpu      = PETSC_TRUE,
    .forward  = PETSC_TRUE,
    .real64   = PETSC_TRUE,
    .atomic64 = PETSC_TRUE},
   {"Advanced Micro Devices, Inc.", 1.7e9, 0}},
  {{.name     = "Max 1550",
    .driver   = "23",
    .compiler = "OpenCL 3.0",
    .memory   = (size_t)64 << 30,
    .room     = 64e9,
    .local    = 131072,
    .cache    = (size_t)208 << 20,
    .group    = 1024,
    .units    = 512,
    .gpu      = PETSC_TRUE,
    .forward  = PETSC_TRUE,
    .real64   = PETSC_TRUE,
    .atomic64 = PETSC_TRUE},
   {"Intel(R) Corporation", 1.6e9, 0}},
  {{.name     = "a processor",
    .driver   = "3.1",
    .compiler = "PoCL",
    .memory   = (size_t)16 << 30,
    .room     = 16e9,
    .local    = 1 << 20,
    .cache    = 32 << 20,
    .group    = 4096,
    .units    = 8,
    .real64   = PETSC_TRUE},
   {"AuthenticAMD", 3.5e9, 0}},
};
enum { H100, H200, MI250X, MAX1550, POCL, DEVICES };

/* A device that is not there, with its rates */
static inline SpmvTarget DeviceTarget(int device)
{
  SpmvTarget t = {.api = "test", .info = &Devices[device].info};

  SpmvRatesOf(t.info, &Devices[device].told, &t.rates);
  return t;
}

/* m rows of `length` entries around the diagonal, and every 100-th row of twice as many */
static inline PetscErrorCode Band(PetscInt m, PetscInt length, SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = m};
  PetscCall(SpmvTestCSRAlloc(m, 2 * m * length, t));
  for (PetscInt r = 0; r < m; r++) {
    const PetscInt n = r % 100 ? length : 2 * length;

    t->i[r] = nz;
    for (PetscInt k = 0; k < n && r + 2 * k < m; k++) {
      t->j[nz]   = r + 2 * k;
      t->a[nz++] = 1 + (PetscReal)(r % 7);
    }
  }
  t->i[m] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}
