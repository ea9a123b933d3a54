/*
  csradaptive_host.c - CSR-Adaptive on this processor: knobs, what a product costs
*/
#include "csradaptive_host.h"
#include "../../../../host/machine.h"

static const SpmvParam CsradaptiveParams[] = {
  [CSRADAPTIVE_NNZ_PER_WG] =
    SPMV_RANGE("nnz_per_wg", "entries of a row block of several rows, at most", 2048, 8, CSRADAPTIVE_NNZ_MAX, SPMV_KNOB_TILE),
  [CSRADAPTIVE_NUM_ROWS_STREAM] =
    SPMV_RANGE("num_rows_stream", "rows from which a row block is served by CSR-Stream, not CSR-Vector", 64, 1,
               4 * CSRADAPTIVE_NNZ_MAX, SPMV_KNOB_TILE),
  [CSRADAPTIVE_NNZ_MULTIPLIER] =
    SPMV_RANGE("nnz_multiplier", "a row of more than this times nnz_per_wg entries is shared by several row blocks", 2, 1, 64),
};

static PetscErrorCode CsradaptiveBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  CsradaptiveStorage *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *storage   = s;
  s->threads = plan->threads;
  s->large   = (PetscBool)(csr->i[csr->m] >= SpmvMachineGet()->cached);
  s->learnt  = (PetscBool)(csr->m < SpmvMachineGet()->learnt);
  PetscCall(CsradaptiveCut(csr, plan, PETSC_TRUE, CSRADAPTIVE_STREAM_MAX, &s->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CSRADAPTIVE_SLOW             1.2 /* from memory: 19 finite element matrices, two of GAMG's coarse levels, Zen 4 */
#define CSRADAPTIVE_CYCLES_BLOCK     130.0
#define CSRADAPTIVE_CYCLES_BUILD     0.8 /* of an entry, and ... */
#define CSRADAPTIVE_CYCLES_BUILD_ROW 5.0 /* ... of a row */

/* Cycles of Zen 4, fitted to 82 matrices: of a row block, of the entries and rows of each kernel, of the entries of nodes */
static PetscErrorCode CsradaptiveWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  const PetscLogDouble     nz = (PetscLogDouble)rows->i[rows->m], m = (PetscLogDouble)rows->m;
  CsradaptiveBlocks        b = {0};
  const CsradaptiveAmount *a = b.amount;

  PetscFunctionBegin;
  PetscCall(CsradaptiveCut(rows, plan, PETSC_TRUE, CSRADAPTIVE_STREAM_MAX, &b));
  PetscCall(SpmvFree(&b.block));
  work->bytes +=
    nz * (sizeof(PetscScalar) + sizeof(PetscInt)) + m * sizeof(PetscInt) + (PetscLogDouble)b.nblocks * sizeof(uint64_t);
  work->cycles += CSRADAPTIVE_CYCLES_BLOCK * (PetscLogDouble)b.nblocks;
  work->cycles += 1.5 * (PetscLogDouble)a[CSRADAPTIVE_STREAM].entries + 1.0 * (PetscLogDouble)a[CSRADAPTIVE_STREAM].rows;
  work->cycles += 1.05 * (PetscLogDouble)(a[CSRADAPTIVE_VECTOR].entries + a[CSRADAPTIVE_VECTORL].entries);
  work->cycles += 9.3 * (PetscLogDouble)(a[CSRADAPTIVE_VECTOR].rows + a[CSRADAPTIVE_VECTORL].rows) +
                  0.76 * (PetscLogDouble)a[CSRADAPTIVE_NODES].entries;
  work->slow = CSRADAPTIVE_SLOW;
  work->build += CSRADAPTIVE_CYCLES_BUILD * nz + CSRADAPTIVE_CYCLES_BUILD_ROW * m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_KERNELS CsradaptiveKernels
#include "../../../../kernels.h"

static PetscErrorCode CsradaptiveArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CsradaptiveBlocks *b = (const CsradaptiveBlocks *)storage;

  PetscFunctionBegin;
  PetscCall(CsradaptiveBorrowed(b, narrays, arrays));
  arrays[(*narrays)++] = SPMV_ARRAY("row blocks", b->block, b->nblocks + 1, sizeof(uint64_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveHostDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(CsradaptiveArrays(storage, &n, arrays));
  PetscCall(CsradaptiveDescribe((const CsradaptiveBlocks *)storage, n, arrays, k, line, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SpmvHostSide CsradaptiveHost = {
  .side    = {.nparams   = CSRADAPTIVE_NPARAMS,
              .params    = CsradaptiveParams,
              .borrows   = PETSC_TRUE,
              .allows    = CsradaptiveAllows,
              .work      = CsradaptiveWork,
              .build     = CsradaptiveBuild,
              .setvalues = CsradaptiveSetValues,
              .arrays    = CsradaptiveArrays,
              .describe  = CsradaptiveHostDescribe},
  .kernels = CsradaptiveKernels,
};
