/*
  isa.c - which instruction sets this machine runs, and which kernels of a format are for it
*/
#include "../tune/tune.h" /* SpmvCandidate[0]: a format with kernels, for those that have none of their own */

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
#elif defined(__x86_64__)
  #define SPMV_CPU(feature) __builtin_cpu_supports(feature)
#else
  #define SPMV_CPU(feature) 0
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

/*
  SpmvKernelsGet - the products of a format for an instruction set

  Input Parameters:
+ format - the format
- wanted - an SpmvIsa, or SPMV_ISA_COUNT for the best that the machine supports and the format has

  Output Parameters:
+ kernels - its products
- isa     - the instruction set they are for

  Notes:
  `spmv`, which has no kernels of its own, has the instruction sets of the other formats.

  `PETSC_ERR_SUP` if `wanted` names one that the machine or the format lacks: what was asked for by name is not replaced.
*/
PetscErrorCode SpmvKernelsGet(const SpmvFormat *format, PetscInt wanted, const SpmvKernels **kernels, SpmvIsa *isa)
{
  PetscFunctionBegin;
  if (!format->host || !format->host->kernels) format = SpmvCandidate[0];
  if (wanted == SPMV_ISA_COUNT) {
    do wanted--;
    while (!SpmvIsaSupported((SpmvIsa)wanted) || !format->host->kernels[wanted]->apply);
  }
  PetscCheck(SpmvIsaSupported((SpmvIsa)wanted), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "This machine does not run %s code; set -mat_spmv_isa auto", SpmvIsaName(wanted));
  PetscCheck(format->host->kernels[wanted]->apply, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Format %s was compiled without %s kernels; set -mat_spmv_isa auto", format->name, SpmvIsaName(wanted));
  *kernels = format->host->kernels[wanted];
  *isa     = (SpmvIsa)wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}
