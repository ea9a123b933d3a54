/*
  cmrs_device.c - the device side of cmrs: its knobs, what a plan leaves open, the kernel that makes a product

  The kernel is in cmrs.cl. A device adds the entries of a strip by their words alone, so a storage for one has values, words
  and strips, and no steps, chunks or shares of threads.
*/
#include "cmrs.h"

#define CMRS_LOCAL_BYTES    64 /* that a work item has of the buffer, by default: the paper's 8 doubles of a GTX 480, */
#define CMRS_HEIGHT_DEFAULT 12 /* and its 12 floats */

static const PetscInt CmrsWorkgroups[] = {128, 32, 64, 256, 512}; /* section 4: 128 is the least that reads memory at full speed */

static const SpmvParam CmrsDeviceParams[] = {
  [CMRS_DEVICE_WORKGROUP] = SPMV_CHOICES("workgroup", "work items of a work group, of which 32 have a strip", CmrsWorkgroups, NULL),
};

/*
  CmrsDeviceResolve - what a plan for a device leaves open, but for the width of words

  Input/Output Parameter:
. plan - with backend device

  Note:
  `PETSC_ERR_ARG_OUTOFRANGE` if the host's order is asked for. By default entries are sorted by columns, as in the paper. Its
  best heights of a GTX 480 are taken rather than the lower ones of a K20M, since GPUs of today have more local memory for
  each work item than both. None has been asked.
*/
PetscErrorCode CmrsDeviceResolve(SpmvPlan *plan)
{
  PetscInt *p = plan->value;

  PetscFunctionBegin;
  PetscCheck(p[CMRS_ORDER] != CMRS_ORDER_INTERLEAVED, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Order interleaved is for vectors of a host; set -mat_cmrs_order to auto, rows, columns or padded for a device");
  if (!plan->device[CMRS_DEVICE_WORKGROUP]) plan->device[CMRS_DEVICE_WORKGROUP] = CmrsWorkgroups[0]; /* a plan that was never given device knobs */
  if (p[CMRS_ORDER] == CMRS_ORDER_AUTO) p[CMRS_ORDER] = CMRS_ORDER_COLUMNS;
  if (!p[CMRS_HEIGHT] && p[CMRS_ORDER] != CMRS_ORDER_PADDED) p[CMRS_HEIGHT] = PetscMin(CMRS_HEIGHT_DEFAULT, CMRS_LOCAL_BYTES / (PetscInt)sizeof(PetscScalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CmrsDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info, SpmvDeviceProduct *product)
{
  const CmrsStorage *c      = (const CmrsStorage *)storage;
  const PetscBool    padded = (PetscBool)(c->order == CMRS_ORDER_PADDED);
  const size_t       group = (size_t)plan->device[CMRS_DEVICE_WORKGROUP], warps = group / CMRS_GROUP;
  const size_t       local = warps * (size_t)((padded ? CMRS_MODULO : CMRS_GROUP) * (c->height | 1)) * sizeof(PetscScalar);
  PetscInt           most  = 0;

  PetscFunctionBegin;
  PetscCheck(group <= info->group, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu work items a work group are more than the %zu of %s; set -mat_cmrs_device_workgroup to fewer", group, info->group, info->name);
  PetscCheck(local <= info->local, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu bytes of local memory are more than the %zu of %s; set -mat_cmrs_device_workgroup or -mat_cmrs_height to less", local, info->local, info->name);
  PetscCheck(c->m <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " rows are more than 32-bit integers count; use more processes or -mat_spmv_backend host", c->m);
  for (PetscInt s = 0; padded && s < c->strips; s++) most = PetscMax(most, (c->strip[s + 1] - c->strip[s]) / CMRS_GROUP);
  PetscCall(PetscMemzero(product, sizeof(*product)));
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options), "-DHEIGHT=%" PetscInt_FMT " -DGROUP=%zu -DPADDED=%d -DALIGN=%d -DWORD_BITS=%d -DINDEX_BITS=%d", c->height, group, (int)padded, (int)(!padded && c->align > 1), (int)(8 * c->wordsize), (int)(8 * sizeof(PetscInt))));
  SPMV_LAUNCH(product, "cmrs_product", SpmvGroups((size_t)c->strips, warps), group, PETSC_FALSE, SPMV_GIVE_ARRAY("values"), SPMV_GIVE_ARRAY("words"), SPMV_GIVE_ARRAY("strips"), SPMV_GIVE_ARRAY("items"), SPMV_GIVE_X, SPMV_GIVE_Y, SPMV_GIVE_INT(c->strips), SPMV_GIVE_INT(c->m), SPMV_GIVE_INT(most), SPMV_GIVE_BETA);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char CmrsSource[] =
#include "cmrs.cl.h"
  ;

const SpmvDeviceFormat CmrsDevice = {
  .source  = CmrsSource,
  .nparams = CMRS_DEVICE_NPARAMS,
  .params  = CmrsDeviceParams,
  .product = CmrsDeviceProduct,
};
