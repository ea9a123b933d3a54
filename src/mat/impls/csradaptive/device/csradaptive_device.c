/*
  csradaptive_device.c - CSR-Adaptive on devices: knobs, lists of row blocks, which kernels make a product

  The kernels are in csradaptive.cl. A device gets AIJ's arrays, the words of the row blocks and a list of row blocks for
  each kernel. Row blocks have no nodes: rows that share columns are for vectors of a host. One
  of more than NNZ_PER_WG entries, which local memory does not hold, is a single row, and CSR-Vector's.

  The defaults are the paper's, for a FirePro W9100: section III-A, figures 4 and 8, table I. Of num_rows_stream they are
  those of the text, 2 and 3: table I has 1 and 2, which come to the same if CSR-Stream gets the row blocks of more rows
  than that. No other GPU has been asked.
*/
#include "csradaptive_device.h"

static const PetscInt    CsradaptiveWorkgroups[]     = {256, 64, 128, 512, 1, 2, 4, 8, 16, 32};
static const PetscInt    CsradaptiveNnzPerWg[]       = {0, 64, 256, 512, 1024, 1536, 2048, 3072, CSRADAPTIVE_NNZ_MAX};
static const PetscInt    CsradaptiveRowsStream[]     = {0, 1, 2, 3, 4, 8, 16};
static const PetscInt    CsradaptiveMultipliers[]    = {0, 1, 2, 3, 4, 8};
static const PetscInt    CsradaptiveReductions[]     = {CSRADAPTIVE_REDUCTION_LOGARITHMIC, CSRADAPTIVE_REDUCTION_SCALAR};
static const char *const CsradaptiveReductionNames[] = {"logarithmic", "scalar"};
static const PetscInt    CsradaptiveParts[]          = {CSRADAPTIVE_PARTS_KERNEL, CSRADAPTIVE_PARTS_ATOMIC};
static const char *const CsradaptivePartsNames[]     = {"kernel", "atomic"};

static const SpmvParam CsradaptiveDeviceParams[] = {
  [CSRADAPTIVE_DEVICE_WORKGROUP]  = SPMV_CHOICES("device_workgroup", "work items of a work group", CsradaptiveWorkgroups, NULL),
  [CSRADAPTIVE_DEVICE_NNZ_PER_WG] = SPMV_CHOICES(
    "device_nnz_per_wg",
    "entries of a row block of several rows, at most; their products are kept in local memory; 0: 1536, 1024 in single precision",
    CsradaptiveNnzPerWg, NULL),
  [CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM] = SPMV_CHOICES(
    "device_num_rows_stream", "rows from which a row block is served by CSR-Stream, not CSR-Vector, 0: 3, 2 in single precision",
    CsradaptiveRowsStream, NULL),
  [CSRADAPTIVE_DEVICE_NNZ_MULTIPLIER] =
    SPMV_CHOICES("device_nnz_multiplier",
                 "a row of more than this times nnz_per_wg entries is shared by several work groups, 0: 2, 3 in single precision",
                 CsradaptiveMultipliers, NULL),
  [CSRADAPTIVE_DEVICE_REDUCTION] =
    SPMV_CHOICES("device_reduction", "CSR-Stream sums a row by as many work items as there are for each row, or by one",
                 CsradaptiveReductions, CsradaptiveReductionNames),
  [CSRADAPTIVE_DEVICE_PARTS] = SPMV_CHOICES("device_parts",
                                            "the parts of a shared row are added by a second kernel, or atomically (for GPUs: "
                                            "not the same bits each time, and work groups that started must go on)",
                                            CsradaptiveParts, CsradaptivePartsNames),
  [CSRADAPTIVE_DEVICE_LONG]  = CSRADAPTIVE_PARAM_LONG,
  [CSRADAPTIVE_DEVICE_SHORT] = CSRADAPTIVE_PARAM_SHORT,
};

/* Rows of a row block of CSR-Vector, at most */
static inline PetscInt CsradaptiveVectorRows(const PetscInt d[])
{
  return PetscMax(1, d[CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM] - 1);
}

static PetscErrorCode CsradaptiveDeviceResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  const PetscBool single = (PetscBool)(sizeof(PetscReal) == 4);
  PetscInt       *d      = plan->value;

  PetscFunctionBegin;
  (void)csr, (void)info;
  if (!d[CSRADAPTIVE_DEVICE_NNZ_PER_WG]) d[CSRADAPTIVE_DEVICE_NNZ_PER_WG] = single ? 1024 : 1536;
  if (!d[CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM]) d[CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM] = single ? 2 : 3;
  if (!d[CSRADAPTIVE_DEVICE_NNZ_MULTIPLIER]) d[CSRADAPTIVE_DEVICE_NNZ_MULTIPLIER] = single ? 3 : 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static CsradaptiveRules CsradaptiveDeviceRules(const PetscInt d[])
{
  return (CsradaptiveRules){
    .entries     = d[CSRADAPTIVE_DEVICE_NNZ_PER_WG],
    .chunk       = d[CSRADAPTIVE_DEVICE_NNZ_PER_WG] * d[CSRADAPTIVE_DEVICE_NNZ_MULTIPLIER],
    .longer      = d[CSRADAPTIVE_DEVICE_LONG],
    .shorter     = d[CSRADAPTIVE_DEVICE_SHORT],
    .rows_stream = d[CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM],
  };
}

static PetscErrorCode CsradaptiveDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                              size_t size)
{
  const PetscInt        *d     = plan->value;
  const CsradaptiveRules rules = CsradaptiveDeviceRules(d);
  const size_t           group = (size_t)d[CSRADAPTIVE_DEVICE_WORKGROUP];
  const size_t           stream =
    (size_t)d[CSRADAPTIVE_DEVICE_NNZ_PER_WG] + (d[CSRADAPTIVE_DEVICE_REDUCTION] == CSRADAPTIVE_REDUCTION_LOGARITHMIC ? group : 0);
  const size_t    local   = PetscMax(stream, (size_t)CsradaptiveVectorRows(d) * group) * sizeof(PetscScalar) + sizeof(int32_t);
  const PetscBool atomics = (PetscBool)(d[CSRADAPTIVE_DEVICE_PARTS] == CSRADAPTIVE_PARTS_ATOMIC);

  PetscFunctionBegin;
  PetscCall(CsradaptiveAllowsRules(csr, &rules, "-mat_csradaptive_device_nnz_multiplier", why, size));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (group > info->group) {
    PetscCall(SpmvAppend(
      why, size, "%zu work items a work group are more than the %zu of %s; set -mat_csradaptive_device_workgroup to fewer", group,
      info->group, info->name));
  } else if (local > info->local) {
    PetscCall(SpmvAppend(why, size,
                         "%zu bytes of local memory are more than the %zu of %s; set -mat_csradaptive_device_nnz_per_wg, "
                         "-mat_csradaptive_device_workgroup or -mat_csradaptive_device_num_rows_stream to less",
                         local, info->local, info->name));
  } else if (atomics && !info->forward) {
    PetscCall(SpmvAppend(why, size,
                         "%s is no GPU: it is not known that its work groups go on while others wait for them; set "
                         "-mat_csradaptive_device_parts kernel",
                         info->name));
  } else if (atomics && sizeof(PetscReal) == 8 && !info->atomic64) {
    PetscCall(
      SpmvAppend(why, size, "%s does not exchange 64 bits in one piece; set -mat_csradaptive_device_parts kernel", info->name));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which kernel serves row block number k */
static CsradaptiveKernel CsradaptiveDeviceKernel(const CsradaptiveDeviceStorage *b, const CsradaptiveRules *rules, size_t k)
{
  const PetscInt row = CsradaptiveRow(b->block[k]), end = CsradaptiveRow(b->block[k + 1]);

  if (!CsradaptiveFlag(b->block[k]) && b->i[end] - b->i[row] > rules->entries) return CSRADAPTIVE_VECTOR;
  return CsradaptiveKernelOf(b->block[k], b->block[k + 1], rules->rows_stream);
}

/* The lists of row blocks, and where each row that is shared begins on that of CSR-VectorL */
static PetscErrorCode CsradaptiveDeviceLists(CsradaptiveDeviceStorage *b, const CsradaptiveRules *rules)
{
  PetscFunctionBegin;
  PetscCheck(
    b->nblocks < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
    "%zu row blocks are more than 32-bit integers count; set -mat_csradaptive_device_nnz_per_wg to more, or use more processes",
    b->nblocks);
  for (size_t k = 0; k < b->nblocks; k++) {
    b->nlist[CsradaptiveDeviceKernel(b, rules, k)]++;
    b->nshared += CsradaptiveFlag(b->block[k]) && !CsradaptiveWorkgroup(b->block[k]);
  }
  for (int kernel = 0; kernel < CSRADAPTIVE_KERNELS; kernel++) {
    PetscCall(SpmvAlloc(sizeof(int32_t) * b->nlist[kernel], &b->list[kernel]));
    b->nlist[kernel] = 0;
  }
  PetscCall(SpmvAlloc(sizeof(int32_t) * (b->nshared + 1), &b->part));
  b->nshared = 0;
  for (size_t k = 0; k < b->nblocks; k++) {
    const CsradaptiveKernel kernel = CsradaptiveDeviceKernel(b, rules, k);

    if (kernel == CSRADAPTIVE_VECTORL && !CsradaptiveWorkgroup(b->block[k])) b->part[b->nshared++] = (int32_t)b->nlist[kernel];
    b->list[kernel][b->nlist[kernel]++] = (int32_t)k;
  }
  b->part[b->nshared] = (int32_t)b->nlist[CSRADAPTIVE_VECTORL];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceSetValues(const SpmvCSR *csr, void *storage)
{
  CsradaptiveDeviceStorage *b = (CsradaptiveDeviceStorage *)storage;

  PetscFunctionBegin;
  b->i = csr->i;
  b->j = csr->j;
  b->a = csr->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  const CsradaptiveRules    rules = CsradaptiveDeviceRules(plan->value);
  CsradaptiveDeviceStorage *b;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  *storage    = b;
  b->m        = csr->m;
  b->nentries = (size_t)csr->i[csr->m];
  PetscCall(CsradaptiveDeviceSetValues(csr, b));
  PetscCall(CsradaptiveCut(csr, &rules, &b->nblocks, &b->block));
  PetscCall(CsradaptiveDeviceLists(b, &rules));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceDestroy(void **storage)
{
  CsradaptiveDeviceStorage *b = (CsradaptiveDeviceStorage *)*storage;

  PetscFunctionBegin;
  PetscCall(SpmvFree(&b->block));
  for (int kernel = 0; kernel < CSRADAPTIVE_KERNELS; kernel++) PetscCall(SpmvFree(&b->list[kernel]));
  PetscCall(SpmvFree(&b->part));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CsradaptiveDeviceStorage *b = (const CsradaptiveDeviceStorage *)storage;

  PetscFunctionBegin;
  arrays[0] = SPMV_ARRAY("values", b->a, b->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE, .borrowed = PETSC_TRUE);
  arrays[1] = SPMV_ARRAY("columns", b->j, b->nentries, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  arrays[2] = SPMV_ARRAY("row pointers", b->i, (size_t)b->m + 1, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  arrays[3] = SPMV_ARRAY("row blocks", b->block, b->nblocks + 1, sizeof(uint64_t));
  arrays[4] = SPMV_ARRAY("stream", b->list[CSRADAPTIVE_STREAM], b->nlist[CSRADAPTIVE_STREAM], sizeof(int32_t));
  arrays[5] = SPMV_ARRAY("vector", b->list[CSRADAPTIVE_VECTOR], b->nlist[CSRADAPTIVE_VECTOR], sizeof(int32_t));
  arrays[6] = SPMV_ARRAY("vectorl", b->list[CSRADAPTIVE_VECTORL], b->nlist[CSRADAPTIVE_VECTORL], sizeof(int32_t));
  arrays[7] = SPMV_ARRAY("parts", b->part, b->nshared + 1, sizeof(int32_t));
  *narrays  = 8;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const CsradaptiveDeviceStorage *b = (const CsradaptiveDeviceStorage *)storage;

  PetscFunctionBegin;
  line[0] = 0;
  if (!k)
    PetscCall(PetscSNPrintf(line, size, "row blocks %zu: stream %zu, vector %zu, vectorl %zu", b->nblocks,
                            b->nlist[CSRADAPTIVE_STREAM], b->nlist[CSRADAPTIVE_VECTOR], b->nlist[CSRADAPTIVE_VECTORL]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                               SpmvDeviceProduct *product)
{
  const CsradaptiveDeviceStorage *b           = (const CsradaptiveDeviceStorage *)storage;
  const PetscInt                 *d           = plan->value;
  const PetscInt                  vector_rows = CsradaptiveVectorRows(d);
  const size_t                    group = (size_t)d[CSRADAPTIVE_DEVICE_WORKGROUP], nvectorl = b->nlist[CSRADAPTIVE_VECTORL];
  const PetscBool                 atomic = (PetscBool)(d[CSRADAPTIVE_DEVICE_PARTS] == CSRADAPTIVE_PARTS_ATOMIC);
  const SpmvDeviceArg             epoch  = atomic ? SPMV_GIVE_EPOCH : SPMV_GIVE_INT(0); /* who waits for others reads it */

#define CSRADAPTIVE_GIVE(list) \
  SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("row pointers"), SPMV_GIVE_ARRAY("row blocks"), \
    SPMV_GIVE_ARRAY(list), SPMV_GIVE_X, SPMV_GIVE_Y
  PetscFunctionBegin;
  (void)info;
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options),
                          "-DGROUP=%zu -DNNZ_PER_WG=%" PetscInt_FMT " -DVECTOR_ROWS=%" PetscInt_FMT " -DCHUNK=%" PetscInt_FMT
                          " -DLOGARITHMIC=%d -DATOMIC=%d -DINDEX_BITS=%d",
                          group, d[CSRADAPTIVE_DEVICE_NNZ_PER_WG], vector_rows, CsradaptiveDeviceRules(d).chunk,
                          d[CSRADAPTIVE_DEVICE_REDUCTION] == CSRADAPTIVE_REDUCTION_LOGARITHMIC, (int)atomic,
                          (int)(8 * sizeof(PetscInt))));
  SpmvDeviceWork(product, "partial", atomic ? 0 : nvectorl * sizeof(PetscScalar));
  SpmvDeviceWork(product, "sync", atomic && nvectorl ? (1 + nvectorl) * sizeof(uint32_t) : 0);
  SPMV_LAUNCH(product, "csradaptive_stream", b->nlist[CSRADAPTIVE_STREAM], group, PETSC_FALSE, CSRADAPTIVE_GIVE("stream"),
              SPMV_GIVE_BETA);
  SPMV_LAUNCH(product, "csradaptive_vector", b->nlist[CSRADAPTIVE_VECTOR], group, PETSC_FALSE, CSRADAPTIVE_GIVE("vector"),
              SPMV_GIVE_BETA);
  SpmvDeviceAlongside(product); /* the lists have no row in common */
  SPMV_LAUNCH(product, "csradaptive_vectorl", nvectorl, group, PETSC_FALSE, CSRADAPTIVE_GIVE("vectorl"),
              SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_ARRAY("sync"), SPMV_GIVE_INT((PetscInt)nvectorl), SPMV_GIVE_BETA, epoch);
  SpmvDeviceAlongside(product);
  if (!atomic)
    SPMV_LAUNCH(product, "csradaptive_combine", b->nshared, group, PETSC_FALSE, SPMV_GIVE_ARRAY("partial"),
                SPMV_GIVE_ARRAY("parts"), SPMV_GIVE_ARRAY("row blocks"), SPMV_GIVE_ARRAY("vectorl"), SPMV_GIVE_Y, SPMV_GIVE_BETA);
  PetscFunctionReturn(PETSC_SUCCESS);
#undef CSRADAPTIVE_GIVE
}

static const char CsradaptiveSource[] =
#include "csradaptive.cl.h"
  ;

const SpmvDeviceSide CsradaptiveDevice = {
  .side    = {.nparams   = CSRADAPTIVE_DEVICE_NPARAMS,
              .params    = CsradaptiveDeviceParams,
              .borrows   = PETSC_TRUE,
              .resolve   = CsradaptiveDeviceResolve,
              .allows    = CsradaptiveDeviceAllows,
              .build     = CsradaptiveDeviceBuild,
              .setvalues = CsradaptiveDeviceSetValues,
              .arrays    = CsradaptiveDeviceArrays,
              .describe  = CsradaptiveDeviceDescribe,
              .destroy   = CsradaptiveDeviceDestroy},
  .source  = CsradaptiveSource,
  .product = CsradaptiveDeviceProduct,
};
