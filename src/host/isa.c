/*
  isa.c - which instruction sets this machine runs, and which kernels of a format are for it
*/
#include "dense/dense.h"

static const char *const IsaNames[] = {
#define SPMV_ISA(NAME, name, flags, runs) #name,
#include "../isas.h"
#undef SPMV_ISA
};

const char *SpmvIsaName(PetscInt isa)
{
  return isa < SPMV_ISA_COUNT ? IsaNames[isa] : "auto";
}

#if defined(SPMV_CPU_FAKE) /* make test-avx512 */
  #define SPMV_CPU(feature) 1
  #define SPMV_FAST_GATHER  1
#elif defined(__x86_64__)
  #include <cpuid.h>
  #define SPMV_CPU(feature) __builtin_cpu_supports(feature)
  #define SPMV_FAST_GATHER  (__builtin_cpu_is("intel") && IsaHasHalf())

/*
  AVX512-FP16, by its bit: compilers before GCC 12 and Clang 14 do not know the name. The processor is asked once: in a virtual
  machine each time takes 20 microseconds or more
*/
static int IsaHasHalf(void)
{
  static int known = -1;
  unsigned   a, b, c, d = 0;
  int        has = __atomic_load_n(&known, __ATOMIC_RELAXED);

  if (has >= 0) return has;
  has = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
  __atomic_store_n(&known, has, __ATOMIC_RELAXED);
  return has;
}
#else
  #define SPMV_CPU(feature) 0
  #define SPMV_FAST_GATHER  0
#endif

PetscBool SpmvIsaSupported(SpmvIsa isa)
{
  const int supported[] = {
#define SPMV_ISA(NAME, name, flags, runs) runs,
#include "../isas.h"
#undef SPMV_ISA
  };

  return (PetscBool)(supported[isa] != 0);
}

/* Whether the library has code for an instruction set: all *_simd.c are compiled alike */
static PetscBool SpmvIsaCompiled(PetscInt isa)
{
  return (PetscBool)(SpmvDenseKernelsOf[isa]->reach != NULL);
}

/*
  SpmvIsaGet - the instruction set of kernels

  Input Parameter:
. wanted - an SpmvIsa, or SPMV_ISA_COUNT for the best that this machine runs and the library has

  Output Parameter:
. isa - the instruction set

  Note:
  `PETSC_ERR_SUP` if `wanted` names one that the machine or the library lacks: what was asked for by name is not replaced.
*/
PetscErrorCode SpmvIsaGet(PetscInt wanted, SpmvIsa *isa)
{
  PetscFunctionBegin;
  if (wanted == SPMV_ISA_COUNT) {
    do wanted--;
    while (!SpmvIsaSupported((SpmvIsa)wanted) || !SpmvIsaCompiled(wanted));
  }
  PetscCheck(SpmvIsaSupported((SpmvIsa)wanted), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "This machine does not run %s code; set -mat_spmv_isa auto", SpmvIsaName(wanted));
  PetscCheck(SpmvIsaCompiled(wanted), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "libpetscspmv was compiled without %s kernels; set -mat_spmv_isa auto", SpmvIsaName(wanted));
  *isa = (SpmvIsa)wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products of a format that has some; `wanted` as at SpmvIsaGet() */
PetscErrorCode SpmvKernelsGet(const SpmvFormat *format, PetscInt wanted, const SpmvKernels **kernels)
{
  SpmvIsa isa;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(wanted, &isa));
  *kernels = format->host->kernels[isa];
  PetscFunctionReturn(PETSC_SUCCESS);
}
