/*
  csradaptive_device.c - CSR-Adaptive on devices: knobs, lists of row blocks, which kernels make a product

  A device gets AIJ's arrays and a list of row blocks for each kernel of csradaptive.cl, of all that a kernel has to know of one,
  in place of the words. There are no nodes: they are for vectors of a host. A row block of more than CsradaptiveMost() entries is
  a single row, and CSR-Vector's.

  The defaults are the paper's, for a FirePro W9100: section III-A, figures 4 and 8, table I. Of num_rows_stream they are
  those of the text, 2 and 3: table I has 1 and 2, which come to the same if CSR-Stream gets the row blocks of more rows
  than that. On an H200 3072 for NNZ_PER_WG was 1.05 to 1.09 times as fast for 17 million entries, with the kernel before this
  one; small matrices have too few row blocks of that size.
*/
#include "csradaptive_device.h"

#define SINGLE PetscDefined(USE_REAL_SINGLE)

static const PetscInt    CsradaptiveWorkgroups[]  = {256, 64, 128, 512, 1, 2, 4, 8, 16, 32};
static const PetscInt    CsradaptiveNnzPerWg[]    = {SINGLE ? 1024 : 1536, SINGLE ? 1536 : 1024, 64, 256, 512, 2048, 3072, 4096};
static const PetscInt    CsradaptiveRowsStream[]  = {SINGLE ? 2 : 3, SINGLE ? 3 : 2, 1, 4, 8, 16};
static const PetscInt    CsradaptiveMultipliers[] = {SINGLE ? 3 : 2, SINGLE ? 2 : 3, 1, 4, 8};
static const PetscInt    CsradaptiveReductions[]  = {CSRADAPTIVE_LOGARITHMIC, CSRADAPTIVE_SCALAR};
static const char *const CsradaptiveReductionNames[] = {"logarithmic", "scalar"};
static const PetscInt    CsradaptiveParts[]          = {CSRADAPTIVE_PARTS_KERNEL, CSRADAPTIVE_PARTS_ATOMIC};
static const char *const CsradaptivePartsNames[]     = {"kernel", "atomic"};

static const SpmvParam CsradaptiveDeviceParams[] = {
  [CSRADAPTIVE_NNZ_PER_WG] = SPMV_CHOICES(
    "device_nnz_per_wg", "products that local memory has room for; a row block of several rows has at most 31 entries fewer",
    CsradaptiveNnzPerWg, NULL, SPMV_KNOB_TILE),
  [CSRADAPTIVE_NUM_ROWS_STREAM] =
    SPMV_CHOICES("device_num_rows_stream", "rows from which a row block is served by CSR-Stream, not CSR-Vector",
                 CsradaptiveRowsStream, NULL, SPMV_KNOB_TILE),
  [CSRADAPTIVE_NNZ_MULTIPLIER] = SPMV_CHOICES(
    "device_nnz_multiplier", "a row of more than this times the most entries of a row block is shared by several work groups",
    CsradaptiveMultipliers, NULL, SPMV_KNOB_TILE),
  [CSRADAPTIVE_DEVICE_WORKGROUP] =
    SPMV_CHOICES("device_workgroup", "work items of a work group", CsradaptiveWorkgroups, NULL, SPMV_KNOB_TILE),
  [CSRADAPTIVE_DEVICE_REDUCTION] =
    SPMV_CHOICES("device_reduction", "CSR-Stream sums a row by as many work items as there are for each row, or by one",
                 CsradaptiveReductions, CsradaptiveReductionNames, SPMV_KNOB_LOCAL),
  [CSRADAPTIVE_DEVICE_PARTS] =
    SPMV_CHOICES("device_parts",
                 "the parts of a shared row are added by a second kernel, or atomically (GPUs only: not the same bits each time)",
                 CsradaptiveParts, CsradaptivePartsNames),
};

/* Rows of a row block of CSR-Vector, at most */
static PetscInt CsradaptiveVectorRows(const PetscInt d[])
{
  return PetscMax(1, d[CSRADAPTIVE_NUM_ROWS_STREAM] - 1);
}

static PetscErrorCode CsradaptiveDeviceAllows(const SpmvCSR *csr, const SpmvDeviceInfo *info, const SpmvPlan *plan, char why[],
                                              size_t size)
{
  const PetscInt *d      = plan->value;
  const size_t    group  = (size_t)d[CSRADAPTIVE_DEVICE_WORKGROUP];
  const size_t    sums   = d[CSRADAPTIVE_DEVICE_REDUCTION] == CSRADAPTIVE_LOGARITHMIC ? group : 0;
  const size_t    stream = (size_t)CsradaptiveSlots(d[CSRADAPTIVE_NNZ_PER_WG]), vector = (size_t)CsradaptiveVectorRows(d) * group;
  const PetscBool streams = (PetscBool)(stream + sums > vector); /* that kernel needs most */

  PetscFunctionBegin;
  PetscCall(CsradaptiveAllows(csr, info, plan, why, size));
  PetscCall(SpmvDeviceFits(info, group, (streams ? sums : 0) * sizeof(PetscScalar) + sizeof(int32_t),
                           (streams ? stream : vector) * sizeof(PetscScalar), "csradaptive",
                           "-mat_csradaptive_device_nnz_per_wg, -mat_csradaptive_device_workgroup or "
                           "-mat_csradaptive_device_num_rows_stream",
                           why, size));
  if (why[0] || d[CSRADAPTIVE_DEVICE_PARTS] != CSRADAPTIVE_PARTS_ATOMIC) PetscFunctionReturn(PETSC_SUCCESS);
  if (!info->forward && info->gpu) {
    PetscCall(SpmvAppend(why, size, "%s has no fences of device scope, which OpenCL has from 2.0 on", info->name));
  } else if (!info->forward) {
    PetscCall(SpmvAppend(why, size, "%s is no GPU: its work groups may stop while others wait for them", info->name));
  } else if (sizeof(PetscReal) == 8 && !info->atomic64) {
    PetscCall(SpmvAppend(why, size, "%s has no 64-bit atomics", info->name));
  }
  if (why[0]) PetscCall(SpmvAppend(why, size, "; set -mat_csradaptive_device_parts kernel"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists of row blocks, and where each row that is shared begins on that of CSR-VectorL */
static PetscErrorCode CsradaptiveDeviceLists(CsradaptiveDeviceStorage *s)
{
  const CsradaptiveBlocks *b                    = &s->rows;
  size_t                   n[CSRADAPTIVE_LISTS] = {0}, shared = 0;

  PetscFunctionBegin;
  PetscCheck(b->nblocks < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%zu row blocks are more than 32-bit integers count; set -mat_csradaptive_device_nnz_per_wg to more, or use more "
             "processes",
             b->nblocks);
  for (int kernel = 0; kernel < CSRADAPTIVE_LISTS; kernel++)
    PetscCall(SpmvAlloc(sizeof(CsradaptiveListed) * b->amount[kernel].blocks, &s->list[kernel]));
  PetscCall(SpmvAlloc(sizeof(int32_t) * (b->amount[CSRADAPTIVE_VECTORL].rows + 1), &s->part));
  for (size_t k = 0; k < b->nblocks; k++) {
    const CsradaptiveKernel kernel = CsradaptiveKernelAt(b, k);
    const PetscInt          row = CsradaptiveRow(b->block[k]), rows = CsradaptiveRow(b->block[k + 1]) - row;
    PetscInt                number = rows, first = b->i[row], end = b->i[row + rows];

    if (kernel == CSRADAPTIVE_VECTORL) {
      number = CsradaptiveWorkgroup(b->block[k]);
      first += number * b->chunk;
      end = b->i[row + 1] - first < b->chunk ? b->i[row + 1] : first + b->chunk;
      if (!number) s->part[shared++] = (int32_t)n[kernel];
    }
    s->list[kernel][n[kernel]++] = (CsradaptiveListed){.row     = (uint64_t)row << 32 | (uint64_t)number,
                                                       .entries = (uint64_t)(end - first) << 48 | (uint64_t)first};
  }
  s->part[shared] = (int32_t)n[CSRADAPTIVE_VECTORL];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  CsradaptiveDeviceStorage *s;
  SpmvPlan                  cut = *plan;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  *storage                          = s;
  cut.value[CSRADAPTIVE_NNZ_PER_WG] = CsradaptiveMost(plan->value);
  PetscCall(CsradaptiveCut(csr, &cut, PETSC_FALSE, cut.value[CSRADAPTIVE_NNZ_PER_WG], &s->rows));
  PetscCall(CsradaptiveDeviceLists(s));
  PetscCall(SpmvFree(&s->rows.block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The words of a storage that is half built */
static PetscErrorCode CsradaptiveDeviceDestroy(void *storage)
{
  PetscFunctionBegin;
  PetscCall(SpmvFree(&((CsradaptiveDeviceStorage *)storage)->rows.block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  static const char *const        name[CSRADAPTIVE_LISTS] = {"stream", "vector", "vectorl"};
  const CsradaptiveDeviceStorage *s                       = (const CsradaptiveDeviceStorage *)storage;
  const CsradaptiveAmount        *amount                  = s->rows.amount;

  PetscFunctionBegin;
  PetscCall(CsradaptiveBorrowed(storage, narrays, arrays));
  for (int kernel = 0; kernel < CSRADAPTIVE_LISTS; kernel++)
    arrays[(*narrays)++] = SPMV_ARRAY(name[kernel], s->list[kernel], amount[kernel].blocks, sizeof(CsradaptiveListed));
  arrays[(*narrays)++] = SPMV_ARRAY("parts", s->part, amount[CSRADAPTIVE_VECTORL].rows + 1, sizeof(int32_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(CsradaptiveDeviceArrays(storage, &n, arrays));
  PetscCall(CsradaptiveDescribe((const CsradaptiveBlocks *)storage, n, arrays, k, line, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info,
                                               SpmvDeviceProduct *product)
{
  const CsradaptiveBlocks *b       = &((const CsradaptiveDeviceStorage *)storage)->rows;
  const PetscInt          *d       = plan->value;
  const size_t             group   = (size_t)d[CSRADAPTIVE_DEVICE_WORKGROUP];
  const size_t             vectorl = b->amount[CSRADAPTIVE_VECTORL].blocks, shared = b->amount[CSRADAPTIVE_VECTORL].rows;
  const PetscBool          atomic = (PetscBool)(d[CSRADAPTIVE_DEVICE_PARTS] == CSRADAPTIVE_PARTS_ATOMIC);
  const SpmvDeviceArg      epoch  = atomic ? SPMV_GIVE_EPOCH : SPMV_GIVE_INT(0); /* who waits for others reads it */

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options),
                          "-DGROUP=%zu -DSLOTS=%" PetscInt_FMT " -DVECTOR_ROWS=%" PetscInt_FMT
                          " -DLOGARITHMIC=%d -DATOMIC=%d -DLINE=%d -DGAP=%d -DAT_ONCE=%zu",
                          group, CsradaptiveSlots(d[CSRADAPTIVE_NNZ_PER_WG]), CsradaptiveVectorRows(d),
                          d[CSRADAPTIVE_DEVICE_REDUCTION] == CSRADAPTIVE_LOGARITHMIC, (int)atomic, CSRADAPTIVE_LINE,
                          CSRADAPTIVE_GAP, CsradaptiveAtOnce(d)));
  SpmvDeviceWork(product, "partial", atomic ? 0 : vectorl * sizeof(PetscScalar));
  SpmvDeviceWork(product, "sync", atomic && vectorl ? (1 + vectorl) * sizeof(uint32_t) : 0);
  SPMV_LAUNCH(product, "csradaptive_vectorl", vectorl, group, PETSC_FALSE, SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"),
              SPMV_GIVE_ARRAY("vectorl"), SPMV_GIVE_X, SPMV_GIVE_Y, SPMV_GIVE_BETA, SPMV_GIVE_ARRAY("partial"),
              SPMV_GIVE_ARRAY("sync"), SPMV_GIVE_INT((PetscInt)vectorl), epoch);
  SPMV_LAUNCH(product, "csradaptive_vector", b->amount[CSRADAPTIVE_VECTOR].blocks, group, PETSC_FALSE, SPMV_GIVE_ARRAY("values"),
              SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("row pointers"), SPMV_GIVE_ARRAY("vector"), SPMV_GIVE_X, SPMV_GIVE_Y,
              SPMV_GIVE_BETA);
  SpmvDeviceLocal(product, (size_t)CsradaptiveVectorRows(d) * group * sizeof(PetscScalar));
  SpmvDeviceAtOnce(product); /* the lists have no row in common */
  SPMV_LAUNCH(product, "csradaptive_stream", b->amount[CSRADAPTIVE_STREAM].blocks, group, PETSC_FALSE, SPMV_GIVE_ARRAY("values"),
              SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("row pointers"), SPMV_GIVE_ARRAY("stream"), SPMV_GIVE_X, SPMV_GIVE_Y,
              SPMV_GIVE_BETA);
  SpmvDeviceLocal(product, (size_t)CsradaptiveSlots(d[CSRADAPTIVE_NNZ_PER_WG]) * sizeof(PetscScalar));
  SpmvDeviceAtOnce(product);
  if (!atomic) {
    SPMV_LAUNCH(product, "csradaptive_combine", shared, group, PETSC_FALSE, SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_ARRAY("parts"),
                SPMV_GIVE_ARRAY("vectorl"), SPMV_GIVE_Y, SPMV_GIVE_BETA);
    SpmvDeviceAfter(product, "csradaptive_vectorl");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char CsradaptiveSource[] =
#include "csradaptive.cl.h"
  ;

const SpmvDeviceSide CsradaptiveDevice = {
  .side    = {.nparams   = CSRADAPTIVE_DEVICE_NPARAMS,
              .params    = CsradaptiveDeviceParams,
              .borrows   = PETSC_TRUE,
              .allows    = CsradaptiveDeviceAllows,
              .build     = CsradaptiveDeviceBuild,
              .setvalues = CsradaptiveSetValues,
              .arrays    = CsradaptiveDeviceArrays,
              .describe  = CsradaptiveDeviceDescribe,
              .destroy   = CsradaptiveDeviceDestroy},
  .source  = CsradaptiveSource,
  .load    = CsradaptiveDeviceLoad,
  .product = CsradaptiveDeviceProduct,
};
