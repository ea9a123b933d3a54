/*
  pmf_cut.c - the share of a device, cut to what its memory has room for

  Powers say how many nonzeros the parts of the device have. Where the memory does not hold these, or the vectors of a product
  beside them, the powers are turned down and those of the host up, until it does: by the bytes of a storage that is laid out,
  not built. A device that had all rows has one part then, and each thread of the host but one another.
*/
#include "pmf.h"

#define PMF_CUT_TRIES 8
#define PMF_CUT_LEAST 0.001   /* of all nonzeros: for less no device is asked */
#define PMF_CUT_SPARE 0.97    /* of the room, for padding that differs from share to share */
#define PMF_CUT_WHOLE 1000000 /* what the powers of a cut plan add up to, about: the largest that one may be */
#define PMF_CUT_AMPLE 16      /* bytes of room for each of the matrix, from which on nothing is laid out to see */

/* Bytes that a device holds under a plan, with the vectors of a product */
static PetscErrorCode PmfCutNeeds(const SpmvCSR *csr, const SpmvPlan *plan, PetscLogDouble *bytes)
{
  PmfStorage b;
  SpmvArray  arrays[SPMV_ARRAY_MAX];
  PetscInt   n, results;

  PetscFunctionBegin;
  PetscCall(PmfPredict(csr, plan, &b));
  PetscCall(SpmvFormat_pmf.arrays(&b, &n, arrays));
  results = b.ndevice == b.npieces ? csr->m : b.ell.block ? b.ell.nblockrows
                                                          : b.ell.nsliced + b.ell.nlong;
  *bytes  = (PetscLogDouble)sizeof(PetscScalar) * (PetscLogDouble)(b.ell.npieces + csr->n + results);
  for (PetscInt k = 0; k < n; k++) *bytes += arrays[k].aside || arrays[k].host ? 0 : (PetscLogDouble)arrays[k].count * (PetscLogDouble)arrays[k].size;
  PetscCall(PmfReset(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plan whose first parts, the device's, have a share of the nonzeros; all parts keep their powers among themselves */
static void PmfCutShare(SpmvPlan *plan, PetscInt nparts, PetscInt ndevice, const double power[], double share)
{
  double sum[2] = {0, 0};

  for (PetscInt p = 0; p < nparts; p++) sum[p < ndevice] += power[p];
  plan->device[PMF_DEVICE_PARTS] = ndevice;
  plan->value[PMF_POWERS]        = nparts;
  for (PetscInt p = 0; p < nparts; p++) plan->list[p] = (PetscInt)PetscMax(1, PMF_CUT_WHOLE * (p < ndevice ? share : 1 - share) * power[p] / sum[p < ndevice]);
}

/*
  PmfCutSettle - cuts the share of the device to what it has room for

  Input Parameters:
+ csr  - the matrix
- room - bytes that the device may still hold

  Input/Output Parameter:
. plan - with measured powers, if there are any to measure; left as it is if all fits, if next to nothing does, or if it is not to be cut
*/
PetscErrorCode PmfCutSettle(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscLogDouble room, SpmvPlan *plan)
{
  const PetscLogDouble matrix = (PetscLogDouble)csr->i[csr->m] * (sizeof(PetscScalar) + sizeof(int32_t)) + (PetscLogDouble)(csr->m + csr->n) * sizeof(PetscScalar);
  const PetscLogDouble fixed  = (PetscLogDouble)csr->n * sizeof(PetscScalar); /* x, of any share */
  SpmvPlan             cut    = *plan;
  PetscInt             nparts, ndevice;
  PetscLogDouble       needs;
  double               power[SPMV_LIST_MAX], device = 0, all = 0, share, before;

  PetscFunctionBegin;
  if (!plan->device[PMF_DEVICE_CUT] || room >= PMF_CUT_AMPLE * matrix) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PmfDeviceResolve(&cut, &nparts, &ndevice));
  PetscCall(PmfCutNeeds(csr, plan, &needs));
  for (PetscInt p = 0; p < nparts; p++) {
    power[p] = plan->value[PMF_POWERS] ? (double)plan->list[p] : 1;
    all += power[p];
    device += p < ndevice ? power[p] : 0;
  }
  share = before = device / all;
  if (ndevice == nparts) { /* the host had none */
    ndevice = 1;
    nparts  = PetscMin(SPMV_LIST_MAX, PetscMax(2, plan->threads));
    for (PetscInt p = 0; p < nparts; p++) power[p] = 1;
  }
  for (PetscInt k = 0; k < PMF_CUT_TRIES && needs > room; k++) {
    if (room > fixed) share *= PMF_CUT_SPARE * (double)((room - fixed) / (needs - fixed));
    if (room <= fixed || share < PMF_CUT_LEAST) break; /* who sends the storage will say so */
    PmfCutShare(&cut, nparts, ndevice, power, share);
    PetscCall(PmfCutNeeds(csr, &cut, &needs));
  }
  if (needs > room || share == before) PetscFunctionReturn(PETSC_SUCCESS);
  *plan = cut;
  PetscCall(PetscInfo(NULL, "%s has room for %.0f bytes: its share of the nonzeros is cut from %.1f %% to %.1f %%\n", info->name, (double)room, 100 * before, 100 * share));
  PetscFunctionReturn(PETSC_SUCCESS);
}
