/*
  csradaptive_host.c - CSR-Adaptive on this processor: knobs, row blocks, what is printed
*/
#include "csradaptive_host.h"
#include "../../../../host/machine.h"

enum { /* the knobs, in the order of CsradaptiveParams */
       CSRADAPTIVE_NNZ_PER_WG,
       CSRADAPTIVE_NUM_ROWS_STREAM,
       CSRADAPTIVE_NNZ_MULTIPLIER,
       CSRADAPTIVE_LONG,
       CSRADAPTIVE_SHORT,
       CSRADAPTIVE_NPARAMS
};

static const SpmvParam CsradaptiveParams[] = {
  [CSRADAPTIVE_NNZ_PER_WG] =
    SPMV_RANGE("nnz_per_wg", "entries of a row block of several rows, at most", 2048, 8, CSRADAPTIVE_NNZ_MAX, SPMV_KNOB_TILE),
  [CSRADAPTIVE_NUM_ROWS_STREAM] =
    SPMV_RANGE("num_rows_stream", "rows from which a row block is served by CSR-Stream, not CSR-Vector", 64, 1,
               4 * CSRADAPTIVE_NNZ_MAX, SPMV_KNOB_TILE),
  [CSRADAPTIVE_NNZ_MULTIPLIER] =
    SPMV_RANGE("nnz_multiplier", "a row of more than this times nnz_per_wg entries is shared by several row blocks", 2, 1, 64),
  [CSRADAPTIVE_LONG]  = CSRADAPTIVE_PARAM_LONG,
  [CSRADAPTIVE_SHORT] = CSRADAPTIVE_PARAM_SHORT,
};

static CsradaptiveRules CsradaptiveRulesOf(const SpmvPlan *plan)
{
  const PetscInt *p = plan->value;

  return (CsradaptiveRules){
    .entries     = p[CSRADAPTIVE_NNZ_PER_WG],
    .chunk       = p[CSRADAPTIVE_NNZ_PER_WG] * p[CSRADAPTIVE_NNZ_MULTIPLIER],
    .longer      = p[CSRADAPTIVE_LONG],
    .shorter     = p[CSRADAPTIVE_SHORT],
    .nodes       = PETSC_TRUE,
    .rows_stream = p[CSRADAPTIVE_NUM_ROWS_STREAM],
  };
}

static PetscErrorCode CsradaptiveAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                        size_t size)
{
  const CsradaptiveRules rules = CsradaptiveRulesOf(plan);

  PetscFunctionBegin;
  (void)info;
  PetscCall(CsradaptiveAllowsRules(csr, &rules, "-mat_csradaptive_nnz_multiplier", why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storage has no values of its own: it is told where AIJ's are now */
static PetscErrorCode CsradaptiveSetValues(const SpmvCSR *csr, void *storage)
{
  CsradaptiveStorage *b = (CsradaptiveStorage *)storage;

  PetscFunctionBegin;
  b->i = csr->i;
  b->j = csr->j;
  b->a = csr->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  const CsradaptiveRules rules = CsradaptiveRulesOf(plan);
  CsradaptiveStorage    *b;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  *storage       = b;
  b->m           = csr->m;
  b->n           = csr->n;
  b->nentries    = (size_t)csr->i[csr->m];
  b->rows_stream = rules.rows_stream;
  b->chunk       = rules.chunk;
  b->threads     = plan->threads;
  b->large       = (PetscBool)(csr->i[csr->m] >= SpmvMachineGet()->cached);
  b->learnt      = (PetscBool)(csr->m < SpmvMachineGet()->learnt);
  PetscCall(CsradaptiveSetValues(csr, b));
  PetscCall(CsradaptiveCut(csr, &rules, &b->nblocks, &b->block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDestroy(void **storage)
{
  CsradaptiveStorage *b = (CsradaptiveStorage *)*storage;

  PetscFunctionBegin;
  PetscCall(SpmvFree(&b->block));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CsradaptiveStorage *b = (const CsradaptiveStorage *)storage;

  PetscFunctionBegin;
  arrays[0] = SPMV_ARRAY("values", b->a, b->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE, .borrowed = PETSC_TRUE);
  arrays[1] = SPMV_ARRAY("columns", b->j, b->nentries, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  arrays[2] = SPMV_ARRAY("row pointers", b->i, (size_t)b->m + 1, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  arrays[3] = SPMV_ARRAY("row blocks", b->block, b->nblocks + 1, sizeof(uint64_t));
  *narrays  = 4;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CSRADAPTIVE_CYCLES_BLOCK 130.0
#define CSRADAPTIVE_CYCLES_BUILD 2.0 /* of an entry */

/* Cycles of Zen 4, fitted to 82 matrices: of a row block, of the entries and rows of each kernel, of the entries of nodes */
static PetscErrorCode CsradaptiveWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  const CsradaptiveRules rules = CsradaptiveRulesOf(plan);
  const PetscLogDouble   nz = (PetscLogDouble)rows->i[rows->m], m = (PetscLogDouble)rows->m;
  CsradaptiveAmounts     a;

  PetscFunctionBegin;
  CsradaptiveCount(rows, &rules, &a);
  work->bytes +=
    nz * (sizeof(PetscScalar) + sizeof(PetscInt)) + m * sizeof(PetscInt) + (PetscLogDouble)a.nblocks * sizeof(uint64_t);
  work->cycles += CSRADAPTIVE_CYCLES_BLOCK * (PetscLogDouble)a.nblocks;
  work->cycles += 1.5 * (PetscLogDouble)a.entries[CSRADAPTIVE_STREAM] + 1.0 * (PetscLogDouble)a.rows[CSRADAPTIVE_STREAM];
  work->cycles += 1.05 * (PetscLogDouble)(a.entries[CSRADAPTIVE_VECTOR] + a.entries[CSRADAPTIVE_VECTORL]);
  work->cycles +=
    9.3 * (PetscLogDouble)(a.rows[CSRADAPTIVE_VECTOR] + a.rows[CSRADAPTIVE_VECTORL]) + 0.76 * (PetscLogDouble)a.nodeentries;
  work->build += CSRADAPTIVE_CYCLES_BUILD * nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row blocks of each kernel, and what they add to CSR */
static PetscErrorCode CsradaptiveDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const CsradaptiveStorage *b                          = (const CsradaptiveStorage *)storage;
  size_t                    count[CSRADAPTIVE_KERNELS] = {0};
  SpmvArray                 arrays[SPMV_ARRAY_MAX];
  PetscInt                  narrays;
  double                    own;

  PetscFunctionBegin;
  line[0] = 0;
  if (k) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t q = 0; q < b->nblocks; q++) count[CsradaptiveKernelAt(b, q)]++;
  PetscCall(CsradaptiveArrays(b, &narrays, arrays));
  own = SpmvArraysOwn(narrays, arrays);
  PetscCall(PetscSNPrintf(line, size, "row blocks %zu: stream %zu, vector %zu, vectorl %zu; %.0f bytes, %.3f %% of CSR",
                          b->nblocks, count[CSRADAPTIVE_STREAM], count[CSRADAPTIVE_VECTOR], count[CSRADAPTIVE_VECTORL], own,
                          100 * own / (SpmvArraysRead(narrays, arrays) - own)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_KERNELS CsradaptiveKernels
#include "../../../../kernels.h"

const SpmvHostSide CsradaptiveHost = {
  .side    = {.nparams   = CSRADAPTIVE_NPARAMS,
              .params    = CsradaptiveParams,
              .borrows   = PETSC_TRUE,
              .allows    = CsradaptiveAllows,
              .work      = CsradaptiveWork,
              .build     = CsradaptiveBuild,
              .setvalues = CsradaptiveSetValues,
              .arrays    = CsradaptiveArrays,
              .describe  = CsradaptiveDescribe,
              .destroy   = CsradaptiveDestroy},
  .kernels = CsradaptiveKernels,
};
