/*
  register.c - what PETSc calls when it loads the library: registers every type of mattypes.h, and forgets all at the end
*/
#include "mat/interface/spmvmat.h"
#include "device/device.h"
#include "vec/vecaccel.h"
#include <pthread.h>

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petscspmv(void);

PetscLogEvent SPMV_Build, SPMV_Update, SPMV_Tune;
SpmvCounts    SpmvTotals;

static PetscBool SpmvInitialized = PETSC_FALSE;
static char      SpmvCountsFile[PETSC_MAX_PATH_LEN]; /* -spmv_view_counts, "" for none */

/* Every type's format and whether its citation was registered */
static struct {
  const SpmvFormat *format;
  PetscBool         cited;
} SpmvFormats[] = {
#define SPMV_FORMAT(name) {&SpmvFormat_##name, PETSC_FALSE},
#include "mattypes.h"
#undef SPMV_FORMAT
};

/* The format of one of our types, by its short, sequential or parallel name; NULL if the type is not ours */
PetscErrorCode SpmvFormatFind(const char type[], const SpmvFormat **format)
{
  const size_t prefix = strlen(MATSEQAIJ); /* that of MATMPIAIJ as well */

  PetscFunctionBegin;
  *format = NULL;
  if (!type) PetscFunctionReturn(PETSC_SUCCESS);
  if (!strncmp(type, MATSEQAIJ, prefix) || !strncmp(type, MATMPIAIJ, prefix)) type += prefix;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(SpmvFormats); k++) {
    if (!strcmp(type, SpmvFormats[k].format->name)) *format = SpmvFormats[k].format;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a format's paper to what -citations prints, once */
PetscErrorCode SpmvFormatCite(const SpmvFormat *format)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(SpmvFormats); k++) {
    if (SpmvFormats[k].format == format && format->citation)
      PetscCall(PetscCitationsRegister(format->citation, &SpmvFormats[k].cited));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -spmv_view_counts: the counters of all matrices, summed over the processes, appended to a file by the first one */
static PetscErrorCode SpmvViewCounts(void)
{
  const SpmvCounts  t       = SpmvTotals;
  const char *const names[] = {"builds",    "refreshes", "products",  "deferred", "aij",       "tunings",
                               "fallbacks", "sweeps",    "sweepsaij", "solves",   "solvesaij", "floats"};
  PetscInt64        local[] = {t.builds,    t.refreshes, t.products,  t.deferred, t.aij,       t.tunings,
                               t.fallbacks, t.sweeps,    t.sweepsaij, t.solves,   t.solvesaij, t.floats};
  enum { N = PETSC_STATIC_ARRAY_LENGTH(local) };
  PetscInt64 sum[N];
  FILE      *f;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Reduce(local, sum, N, MPIU_INT64, MPI_SUM, 0, PETSC_COMM_WORLD));
  if (PetscGlobalRank) PetscFunctionReturn(PETSC_SUCCESS);
  f = fopen(SpmvCountsFile, "a");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot append to %s of -spmv_view_counts; name a file that can be written",
             SpmvCountsFile);
  for (int k = 0; k < N; k++) fprintf(f, "%s %" PetscInt64_FMT "%c", names[k], sum[k], k < N - 1 ? ' ' : '\n');
  fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The library stays in memory (-z nodelete): what is static must be as new when PETSc is initialised again */
static PetscErrorCode SpmvFinalizePackage(void)
{
  PetscFunctionBegin;
  PetscCall(SpmvLiveFinalize());
  if (SpmvCountsFile[0]) PetscCall(SpmvViewCounts());
  SpmvCountsFile[0] = 0;
  PetscCall(SpmvSummaryFinalize());
  PetscCall(SpmvVecFinalize());
  PetscCall(SpmvDeviceFinalize());
  PetscCall(SpmvParentReset());
  SpmvWordsReset();
  PetscCall(PetscMemzero(&SpmvTotals, sizeof(SpmvTotals)));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(SpmvFormats); k++) SpmvFormats[k].cited = PETSC_FALSE;
  SpmvInitialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options of the whole process: name, default, help. Who needs one reads it, later */
static const char *const ProcessOptions[][3] = {
  {"-spmv_device", "first", "Devices that may be used: cuda, opencl or none; without it, the first of these that has one"},
  {"-spmv_device_index", "own", "Which of them; without it, PETSc's own, or ranks take turns"},
  {"-spmv_device_memory", "all", "Bytes of its memory to use at most"},
  {"-spmv_device_staging", "262144",
   "Bytes of each of four pieces, at most, of a transfer through page-locked memory; larger ones, and with 0 all, the driver "
   "copies"},
  {"-spmv_device_graph", "auto",
   "Whether the kernels of a product are recorded and launched as one; without it, where they can be"},
  {"-spmv_device_cache", "auto", "Folder of compiled kernels, or none; without it, petscspmv/kernels in the user's cache folder"},
  {"-spmv_device_view", "no", "At the end: lists the devices, bytes moved and held, and operations on vectors"},
  {"-spmv_vec_workgroup", "auto", "Work items of a work group in operations on vectors; without it, 256 on a GPU, 64 elsewhere"},
  {"-spmv_summary", "no", "At the end: time of products, sweeps and solves by whose kernel, and what storages cost and saved"},
  {"-spmv_advise", "no",
   "The same, and in words: where the time of the run went, and which option would be next; keeps PETSc's log"},
  {"-spmv_advise_least", "0.05", "Share of the run, from 0 to 1, below which nothing is said of it"},
  {"-mat_spmv_tune_calibrate", "no",
   "If the user has no file of this machine's rates: measures them now, which takes about 25 seconds, and keeps them in "
   "petscspmv/machine"},
  {"-spmv_view_counts", "no", "File that the counters of all matrices are appended to at the end"},
};

/* Name k = 0, 1, ... of them without its dash; NULL: no more */
const char *SpmvProcessOption(size_t k)
{
  return k < PETSC_STATIC_ARRAY_LENGTH(ProcessOptions) ? ProcessOptions[k][0] + 1 : NULL;
}

/* For -help. PETSc prints a section once: it needs a name of its own */
static PetscErrorCode SpmvListOptions(void)
{
  char      value[PETSC_MAX_PATH_LEN];
  PetscBool help;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasHelp(NULL, &help));
  if (!help) PetscFunctionReturn(PETSC_SUCCESS);
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "petscspmv options of the whole process", "petscspmv");
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(ProcessOptions); k++)
    PetscCall(PetscOptionsString(ProcessOptions[k][0], ProcessOptions[k][2], "petscspmv", ProcessOptions[k][1], value,
                                 sizeof(value), NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_FORMAT(name) \
  static PetscErrorCode MatCreate_SeqAIJ_##name(Mat A) \
  { \
    return MatCreate_Spmv(A, &SpmvParentSeq, &SpmvFormat_##name); \
  } \
  static PetscErrorCode MatCreate_MPIAIJ_##name(Mat A) \
  { \
    return MatCreate_Spmv(A, &SpmvParentMPI, &SpmvFormat_##name); \
  }
#include "mattypes.h"
#undef SPMV_FORMAT

/* What a child of fork() has not: the threads of its parent, and its device */
static void SpmvForked(void)
{
  SpmvThreadsForked();
  SpmvDeviceForked();
}

/*@C
  SpmvInitializePackage - registers the matrix and vector types, log events and options of this library

  Logically Collective

  Level: developer

  Notes:
  PETSc calls it when the library is loaded by -dll_append, and in a program that is linked with the library: such a program need
  not call it. One that calls `PetscInitialize()` again after `PetscFinalize()`, or is given -dll_prepend, calls it itself, after
  `PetscInitialize()`.

  `PETSC_ERR_LIB` if the PETSc in use is not the one that the library was compiled for.

.seealso: `MATSPMV`, `VECACCEL`, `MatSpmvOptions`, `SpmvDeviceOptions`, `SpmvReportOptions`
@*/
PetscErrorCode SpmvInitializePackage(void)
{
  static PetscBool     watched;
  const PetscErrorCode ierr = SpmvInitialized ? PETSC_SUCCESS : SpmvCheckPetsc(); /* before PetscFunctionBegin: see there */

  if (ierr || SpmvInitialized) return ierr;
  PetscFunctionBegin;
  if (!watched) PetscCheck(!pthread_atfork(NULL, NULL, SpmvForked), PETSC_COMM_SELF, PETSC_ERR_MEM, "There is no memory");
  watched = PETSC_TRUE;
  PetscCall(MatInitializePackage());
#define SPMV_FORMAT(name) \
  PetscCall(MatRegister(MATSEQAIJ #name, MatCreate_SeqAIJ_##name)); \
  PetscCall(MatRegister(MATMPIAIJ #name, MatCreate_MPIAIJ_##name)); \
  PetscCall(MatRegisterRootName(#name, MATSEQAIJ #name, MATMPIAIJ #name)); \
  PetscCall(MatSeqAIJRegister(MATSEQAIJ #name, MatConvertFrom_Spmv));
#include "mattypes.h"
#undef SPMV_FORMAT
  PetscCall(SpmvRegisterExact());
  PetscCall(SpmvRegisterFactors());
  PetscCall(PetscLogEventRegister("MatSpmvBuild", MAT_CLASSID, &SPMV_Build));
  PetscCall(PetscLogEventRegister("MatSpmvTune", MAT_CLASSID, &SPMV_Tune));
  PetscCall(PetscLogEventRegister("MatSpmvUpdate", MAT_CLASSID, &SPMV_Update));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-spmv_view_counts", SpmvCountsFile, sizeof(SpmvCountsFile), NULL));
  PetscCall(SpmvListOptions());
  PetscCall(SpmvWordsCheckTypes());
  PetscCall(SpmvCalibrateInitialize());
  PetscCall(SpmvSummaryInitialize());
  PetscCall(SpmvDeviceInitialize());
  PetscCall(SpmvVecInitialize());
  PetscCall(PetscRegisterFinalize(SpmvFinalizePackage));
  SpmvInitialized = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_petscspmv(void)
{
  return SpmvInitializePackage();
}
