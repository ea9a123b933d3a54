/*
  csradaptive_device.c - the device side of csradaptive: its knobs, the lists of row blocks, which kernels make a product

  The kernels are in csradaptive.cl. A device gets AIJ's arrays, the words of the row blocks and a list of row blocks for
  each kernel. Row blocks are cut by the knobs below, without nodes: rows that share columns are for vectors of a host. One
  of more than NNZ_PER_WG entries, which local memory does not hold, is a single row, and CSR-Vector's.

  The defaults are the paper's, for a FirePro W9100: section III-A, figures 4 and 8, table I. Of num_rows_stream they are
  those of the text, 2 and 3: table I has 1 and 2, which come to the same if CSR-Stream gets the row blocks of more rows
  than that. No other GPU has been asked.
*/
#include "csradaptive.h"

static const PetscInt    CsradaptiveWorkgroups[]     = {256, 64, 128, 512, 1, 2, 4, 8, 16, 32};
static const PetscInt    CsradaptiveNnzPerWg[]       = {0, 64, 256, 512, 1024, 1536, 2048, 3072, CSRADAPTIVE_NNZ_MAX};
static const PetscInt    CsradaptiveRowsStream[]     = {0, 1, 2, 3, 4, 8, 16};
static const PetscInt    CsradaptiveMultipliers[]    = {0, 1, 2, 3, 4, 8};
static const PetscInt    CsradaptiveReductions[]     = {CSRADAPTIVE_REDUCTION_LOGARITHMIC, CSRADAPTIVE_REDUCTION_SCALAR};
static const char *const CsradaptiveReductionNames[] = {"logarithmic", "scalar"};
static const PetscInt    CsradaptiveParts[]          = {CSRADAPTIVE_PARTS_KERNEL, CSRADAPTIVE_PARTS_ATOMIC};
static const char *const CsradaptivePartsNames[]     = {"kernel", "atomic"};

static const SpmvParam CsradaptiveDeviceParams[] = {
  [CSRADAPTIVE_DEVICE_WORKGROUP]       = SPMV_CHOICES("workgroup", "work items of a work group", CsradaptiveWorkgroups, NULL),
  [CSRADAPTIVE_DEVICE_NNZ_PER_WG]      = SPMV_CHOICES("nnz_per_wg", "entries of a row block of several rows, at most; their products are kept in local memory; 0: 1536, 1024 in single precision", CsradaptiveNnzPerWg, NULL),
  [CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM] = SPMV_CHOICES("num_rows_stream", "rows from which a row block is served by CSR-Stream, not CSR-Vector, 0: 3, 2 in single precision", CsradaptiveRowsStream, NULL),
  [CSRADAPTIVE_DEVICE_NNZ_MULTIPLIER]  = SPMV_CHOICES("nnz_multiplier", "a row of more than this times nnz_per_wg entries is shared by several work groups, 0: 2, 3 in single precision", CsradaptiveMultipliers, NULL),
  [CSRADAPTIVE_DEVICE_REDUCTION]       = SPMV_CHOICES("reduction", "CSR-Stream sums a row by as many work items as there are for each row, or by one", CsradaptiveReductions, CsradaptiveReductionNames),
  [CSRADAPTIVE_DEVICE_PARTS]           = SPMV_CHOICES("parts", "the parts of a shared row are added by a second kernel, or atomically (for GPUs: not the same bits each time, and work groups that started must go on)", CsradaptiveParts, CsradaptivePartsNames),
};

/* What the host calls the same has to be left alone: it would say something else than what is built */
static PetscErrorCode CsradaptiveDeviceTake(SpmvPlan *plan, PetscInt knob, PetscInt device_knob, PetscInt preset)
{
  const SpmvParam *param = &SpmvFormat_csradaptive.params[knob];
  PetscInt        *host = &plan->value[knob], *device = &plan->device[device_knob];

  PetscFunctionBegin;
  if (!*device) *device = preset;
  PetscCheck(*host == param->preset || *host == *device, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A %s of %" PetscInt_FMT " is for the host; leave -mat_csradaptive_%s alone, and set -mat_csradaptive_device_%s for a device", param->name, *host, param->name, param->name);
  *host = *device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  CsradaptiveDeviceResolve - what a plan for a device leaves open

  Input/Output Parameter:
. plan - with backend device; what host and device call the same is the device's on return

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if the host's is set.
*/
PetscErrorCode CsradaptiveDeviceResolve(SpmvPlan *plan)
{
  const PetscBool single = (PetscBool)(sizeof(PetscReal) == 4);

  PetscFunctionBegin;
  if (!plan->device[CSRADAPTIVE_DEVICE_WORKGROUP]) plan->device[CSRADAPTIVE_DEVICE_WORKGROUP] = CsradaptiveWorkgroups[0]; /* a plan that was never given device knobs */
  PetscCall(CsradaptiveDeviceTake(plan, CSRADAPTIVE_NNZ_PER_WG, CSRADAPTIVE_DEVICE_NNZ_PER_WG, single ? 1024 : 1536));
  PetscCall(CsradaptiveDeviceTake(plan, CSRADAPTIVE_NUM_ROWS_STREAM, CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM, single ? 2 : 3));
  PetscCall(CsradaptiveDeviceTake(plan, CSRADAPTIVE_NNZ_MULTIPLIER, CSRADAPTIVE_DEVICE_NNZ_MULTIPLIER, single ? 3 : 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists of row blocks, and where each row that is shared begins on that of CSR-VectorL */
PetscErrorCode CsradaptiveDeviceLists(CsradaptiveStorage *b)
{
  size_t next[3] = {0, 0, 0}, shared = 0;

  PetscFunctionBegin;
  PetscCheck(b->nblocks < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu row blocks are more than 32-bit integers count; set -mat_csradaptive_device_nnz_per_wg to more, or use more processes", b->nblocks);
  for (size_t k = 0; k < b->nblocks; k++) b->nshared += CsradaptiveFlag(b->block[k]) && !CsradaptiveWorkgroup(b->block[k]);
  for (int kernel = 0; kernel < 3; kernel++) PetscCall(SpmvAlloc(sizeof(int32_t) * b->nlist[kernel], &b->list[kernel]));
  PetscCall(SpmvAlloc(sizeof(int32_t) * (b->nshared + 1), &b->part));
  for (size_t k = 0; k < b->nblocks; k++) {
    const CsradaptiveKernel kernel = CsradaptiveKernelOf(b, k);

    if (kernel == CSRADAPTIVE_VECTORL && !CsradaptiveWorkgroup(b->block[k])) b->part[shared++] = (int32_t)next[kernel];
    b->list[kernel][next[kernel]++] = (int32_t)k;
  }
  b->part[shared] = (int32_t)next[CSRADAPTIVE_VECTORL];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceCheck(const PetscInt d[], PetscInt vector_rows, const SpmvDeviceInfo *info)
{
  const size_t group  = (size_t)d[CSRADAPTIVE_DEVICE_WORKGROUP];
  const size_t stream = (size_t)d[CSRADAPTIVE_DEVICE_NNZ_PER_WG] + (d[CSRADAPTIVE_DEVICE_REDUCTION] == CSRADAPTIVE_REDUCTION_LOGARITHMIC ? group : 0);
  const size_t local  = PetscMax(stream, (size_t)vector_rows * group) * sizeof(PetscScalar) + sizeof(int32_t);

  PetscFunctionBegin;
  PetscCheck(group <= info->group, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu work items a work group are more than the %zu of %s; set -mat_csradaptive_device_workgroup to fewer", group, info->group, info->name);
  PetscCheck(local <= info->local, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu bytes of local memory are more than the %zu of %s; set -mat_csradaptive_device_nnz_per_wg, -mat_csradaptive_device_workgroup or -mat_csradaptive_device_num_rows_stream to less", local, info->local, info->name);
  if (d[CSRADAPTIVE_DEVICE_PARTS] == CSRADAPTIVE_PARTS_KERNEL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(info->forward, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s is no GPU: it is not known that its work groups go on while others wait for them; set -mat_csradaptive_device_parts kernel", info->name);
  PetscCheck(sizeof(PetscReal) == 4 || info->atomic64, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s does not exchange 64 bits in one piece; set -mat_csradaptive_device_parts kernel", info->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CsradaptiveDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info, SpmvDeviceProduct *product)
{
  const CsradaptiveStorage *b           = (const CsradaptiveStorage *)storage;
  const PetscInt           *d           = plan->device;
  const PetscInt            vector_rows = PetscMax(1, d[CSRADAPTIVE_DEVICE_NUM_ROWS_STREAM] - 1);
  const size_t              group = (size_t)d[CSRADAPTIVE_DEVICE_WORKGROUP], nvectorl = b->nlist[CSRADAPTIVE_VECTORL];
  const PetscBool           atomic = (PetscBool)(d[CSRADAPTIVE_DEVICE_PARTS] == CSRADAPTIVE_PARTS_ATOMIC);
  const SpmvDeviceArg       epoch  = atomic ? SPMV_GIVE_EPOCH : SPMV_GIVE_INT(0); /* who waits for others reads it */

#define CSRADAPTIVE_GIVE(list) SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("columns"), SPMV_GIVE_ARRAY("row pointers"), SPMV_GIVE_ARRAY("row blocks"), SPMV_GIVE_ARRAY(list), SPMV_GIVE_X, SPMV_GIVE_Y
  PetscFunctionBegin;
  PetscCall(CsradaptiveDeviceCheck(d, vector_rows, info));
  PetscCall(PetscMemzero(product, sizeof(*product)));
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options), "-DGROUP=%zu -DNNZ_PER_WG=%" PetscInt_FMT " -DVECTOR_ROWS=%" PetscInt_FMT " -DCHUNK=%" PetscInt_FMT " -DLOGARITHMIC=%d -DATOMIC=%d -DINDEX_BITS=%d", group, b->nnz_per_wg, vector_rows, b->chunk, d[CSRADAPTIVE_DEVICE_REDUCTION] == CSRADAPTIVE_REDUCTION_LOGARITHMIC, (int)atomic, (int)(8 * sizeof(PetscInt))));
  SpmvDeviceWork(product, "partial", atomic ? 0 : nvectorl * sizeof(PetscScalar));
  SpmvDeviceWork(product, "sync", atomic && nvectorl ? (1 + nvectorl) * sizeof(uint32_t) : 0);
  SPMV_LAUNCH(product, "csradaptive_stream", b->nlist[CSRADAPTIVE_STREAM], group, PETSC_FALSE, CSRADAPTIVE_GIVE("stream"), SPMV_GIVE_BETA);
  SPMV_LAUNCH(product, "csradaptive_vector", b->nlist[CSRADAPTIVE_VECTOR], group, PETSC_FALSE, CSRADAPTIVE_GIVE("vector"), SPMV_GIVE_BETA);
  SpmvDeviceAlongside(product); /* the lists have no row in common */
  SPMV_LAUNCH(product, "csradaptive_vectorl", nvectorl, group, PETSC_FALSE, CSRADAPTIVE_GIVE("vectorl"), SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_ARRAY("sync"), SPMV_GIVE_INT((PetscInt)nvectorl), SPMV_GIVE_BETA, epoch);
  SpmvDeviceAlongside(product);
  if (!atomic) SPMV_LAUNCH(product, "csradaptive_combine", b->nshared, group, PETSC_FALSE, SPMV_GIVE_ARRAY("partial"), SPMV_GIVE_ARRAY("parts"), SPMV_GIVE_ARRAY("row blocks"), SPMV_GIVE_ARRAY("vectorl"), SPMV_GIVE_Y, SPMV_GIVE_BETA);
  PetscFunctionReturn(PETSC_SUCCESS);
#undef CSRADAPTIVE_GIVE
}

static const char CsradaptiveSource[] =
#include "csradaptive.cl.h"
  ;

const SpmvDeviceFormat CsradaptiveDevice = {
  .source  = CsradaptiveSource,
  .nparams = CSRADAPTIVE_DEVICE_NPARAMS,
  .params  = CsradaptiveDeviceParams,
  .product = CsradaptiveDeviceProduct,
};
