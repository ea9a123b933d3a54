/*
  pmf_device.c - the device side of pmf: its knobs, what a plan leaves open, which kernels make a product

  The kernels are in pmf.cl. Parts come in the order of their powers: the first ones are the device's, the others are for
  threads of the host, which work on them at the same time (SpmvKernels.share). Rows are in one part as a whole.

  Source: as pmf.c; section 6. There a thread drives each GPU; here one device is a process's, and the thread that drives
  it is the one that calls for the product. We differ: with -mat_pmf_partition diagonal the paper has all blocks on GPUs
  and the rest on processors (test 2 of 7.2.2), both adding to the same rows; here each part of the rows has its blocks.
*/
#include "pmf.h"

static const PetscInt    PmfWorkgroups[] = {128, 64, 256, 512, 32};
static const PetscInt    PmfHeights[]    = {32, 1, 8, 16, 64, 128};
static const PetscInt    PmfLongs[]      = {256, 32, 64, 128, 512, 1024, 4096};
static const PetscInt    PmfParts[]      = {0, 1, 2, 3, 4};
static const char *const PmfPartNames[]  = {"all", "1", "2", "3", "4"};
static const PetscInt    PmfCuts[]       = {1, 0};
static const char *const PmfCutNames[]   = {"yes", "no"};

static const SpmvParam PmfDeviceParams[] = {
  [PMF_DEVICE_WORKGROUP] = SPMV_CHOICES("workgroup", "work items of a work group", PmfWorkgroups, NULL),
  [PMF_DEVICE_SLICE]     = SPMV_CHOICES("slice", "rows of a slice, which lie side by side and are padded to its longest", PmfHeights, NULL),
  [PMF_DEVICE_LONG]      = SPMV_CHOICES("long", "entries of a row above which work groups share it", PmfLongs, NULL),
  [PMF_DEVICE_PARTS]     = SPMV_CHOICES("parts", "how many of the parts the device has, the first ones; host threads have the others at the same time. Without -mat_pmf_powers these are measured at each build, so that who has a row, and its last bit, may change", PmfParts, PmfPartNames),
  [PMF_DEVICE_CUT]       = SPMV_CHOICES("cut", "a share of the device that its memory has no room for is cut to what it has room for, and threads of the host have the rest; no: the host has all then", PmfCuts, PmfCutNames),
};

/*
  PmfDeviceResolve - the parts of a plan for a device

  Input/Output Parameter:
. plan - with backend device; knobs of a device that were never given are replaced

  Output Parameters:
+ npieces - parts
- ndevice - those that the device has, the first ones

  Notes:
  Without powers there is a part for each thread of the host besides the one that drives the device, or one for that.

  `PETSC_ERR_ARG_OUTOFRANGE` if the device is to have more parts than there are.
*/
PetscErrorCode PmfDeviceResolve(SpmvPlan *plan, PetscInt *npieces, PetscInt *ndevice)
{
  PetscInt      *d      = plan->device;
  const PetscInt powers = plan->value[PMF_POWERS], parts = d[PMF_DEVICE_PARTS];

  PetscFunctionBegin;
  if (!d[PMF_DEVICE_WORKGROUP]) d[PMF_DEVICE_WORKGROUP] = PmfWorkgroups[0]; /* a plan that was never given device knobs */
  if (!d[PMF_DEVICE_SLICE]) d[PMF_DEVICE_SLICE] = PmfHeights[0];
  if (!d[PMF_DEVICE_LONG]) d[PMF_DEVICE_LONG] = PmfLongs[0];
  *npieces = powers ? powers : parts ? parts + PetscMax(1, plan->threads - 1)
                                     : 1;
  *ndevice = parts ? parts : *npieces;
  PetscCheck(*ndevice <= *npieces, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A device cannot have %" PetscInt_FMT " of %" PetscInt_FMT " parts; set -mat_pmf_device_parts to fewer or give -mat_pmf_powers more values", parts, *npieces);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PmfDeviceProduct(const void *storage, const SpmvPlan *plan, const SpmvDeviceInfo *info, SpmvDeviceProduct *product)
{
  const PmfStorage *b     = (const PmfStorage *)storage;
  const PmfEll     *e     = &b->ell;
  const PetscInt   *d     = plan->device;
  const size_t      group = (size_t)d[PMF_DEVICE_WORKGROUP], local = group * sizeof(PetscScalar);

  PetscFunctionBegin;
  PetscCheck(group <= info->group, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu work items a work group are more than the %zu of %s; set -mat_pmf_device_workgroup to fewer", group, info->group, info->name);
  PetscCheck(local <= info->local, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu bytes of local memory are more than the %zu of %s; set -mat_pmf_device_workgroup to fewer", local, info->local, info->name);
  PetscCall(PetscMemzero(product, sizeof(*product)));
  PetscCall(PetscSNPrintf(product->options, sizeof(product->options), "-DGROUP=%zu -DHEIGHT=%" PetscInt_FMT " -DNARROW=%d -DLISTED=%d -DBLOCK=%" PetscInt_FMT, group, e->height, (int)e->narrow, b->ndevice == b->npieces || e->block, e->block));
  if (b->ndevice < b->npieces) {
    product->shared   = PETSC_TRUE;
    product->nresults = e->block ? e->nblockrows : e->nsliced + e->nlong;
    product->rows     = e->block ? NULL : e->row;
  }
  if (e->npieces) {
    SpmvDeviceWork(product, "sums", (size_t)e->npieces * sizeof(PetscScalar));
  }
  if (e->block) SPMV_LAUNCH(product, "pmf_diagonals", SpmvGroups((size_t)e->nblockrows, group), group, PETSC_FALSE, SPMV_GIVE_ARRAY("diagonal values"), SPMV_GIVE_ARRAY("diagonals"), SPMV_GIVE_ARRAY("offsets"), SPMV_GIVE_ARRAY("diagonal masks"), SPMV_GIVE_X, SPMV_GIVE_Y, SPMV_GIVE_INT(e->nblockrows), SPMV_GIVE_BETA);
  SPMV_LAUNCH(product, "pmf_pieces", (size_t)e->npieces, group, PETSC_FALSE, SPMV_GIVE_ARRAY("long values"), SPMV_GIVE_ARRAY("long columns"), SPMV_GIVE_ARRAY("pieces"), SPMV_GIVE_X, SPMV_GIVE_ARRAY("sums"));
  if (e->block) SpmvDeviceAlongside(product); /* with the diagonals, which the others add to */
  SPMV_LAUNCH(product, "pmf_slices", SpmvGroups((size_t)e->nsliced, group), group, PETSC_FALSE, SPMV_GIVE_ARRAY("slice values"), SPMV_GIVE_ARRAY("slice columns"), SPMV_GIVE_ARRAY("steps"), SPMV_GIVE_ARRAY("bases"), SPMV_GIVE_ARRAY("lengths"), SPMV_GIVE_ARRAY("slice rows"), SPMV_GIVE_X, SPMV_GIVE_Y, SPMV_GIVE_INT(e->nsliced), SPMV_GIVE_BETA);
  if (!e->block) SpmvDeviceAlongside(product);
  SPMV_LAUNCH(product, "pmf_longs", SpmvGroups((size_t)e->nlong, group), group, PETSC_FALSE, SPMV_GIVE_ARRAY("long rows"), SPMV_GIVE_ARRAY("sums"), SPMV_GIVE_ARRAY("slice rows"), SPMV_GIVE_Y, SPMV_GIVE_INT(e->nsliced), SPMV_GIVE_INT(e->nlong), SPMV_GIVE_BETA);
  if (e->block) SpmvDeviceAlongside(product);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char PmfSource[] =
#include "pmf.cl.h"
  ;

const SpmvDeviceFormat PmfDevice = {
  .source  = PmfSource,
  .nparams = PMF_DEVICE_NPARAMS,
  .params  = PmfDeviceParams,
  .product = PmfDeviceProduct,
  .settle  = PmfCutSettle,
  .shares  = PETSC_TRUE,
  .parts   = PMF_DEVICE_PARTS,
  .powers  = PMF_POWERS,
};
