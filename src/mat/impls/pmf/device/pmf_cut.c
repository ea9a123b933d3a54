/*
  pmf_cut.c - which rows the device has of a product that it shares with threads of the host: the first parts, cut to what its memory
  has room for

  Powers say how many nonzeros the parts of the device have. Where the memory does not hold these, or the vectors of a product
  beside them, the powers are turned down and those of the host up, until it does: by the bytes of a storage that is laid out,
  not built. A device that had all rows has one part then, and each thread of the host but one another.
*/
#include "pmf_device.h"

#define PMF_CUT_TRIES 8
#define PMF_CUT_LEAST 0.001   /* of all nonzeros: for less no device is asked */
#define PMF_CUT_SPARE 0.97    /* of the room, for padding that differs from share to share */
#define PMF_CUT_WHOLE 1000000 /* what the powers of a cut plan add up to, about: the largest that one may be */
#define PMF_CUT_AMPLE 16      /* bytes of room for each of the matrix, from which on nothing is laid out to see */

/* The order of all rows, cut into the parts; the device has those at places [0, end); rest: as of PmfOrderCreate() */
static PetscErrorCode PmfCutParts(const SpmvCSR *csr, const SpmvCSR *rest, const SpmvPlan *plan, PmfOrder *order, PetscInt *end)
{
  const PetscInt parts = plan->value[PMF_DEVICE_PARTS];

  PetscFunctionBegin;
  *order = PmfOrderOf(plan->value, parts ? plan->value[PMF_POWERS] : 1, parts ? plan->list : NULL);
  PetscCall(PmfOrderCreate(csr, rest, order));
  *end = order->cut[PetscMax(1, parts)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the device; see SpmvJointRows.split(). The host is told where its parts were cut: its matrix has no entries of the device */
PetscErrorCode PmfSplit(const SpmvCSR *csr, const SpmvPlan *plan, SpmvPlan *host, PetscInt *nrows, PetscInt *rows[])
{
  const PetscInt parts = plan->value[PMF_DEVICE_PARTS];
  PmfOrder       order;

  PetscFunctionBegin;
  PetscCall(PmfCutParts(csr, csr, plan, &order, nrows));
  PetscCall(PetscMalloc1(*nrows, rows));
  for (PetscInt k = 0; k < *nrows; k++) (*rows)[k] = order.row[k];
  PetscCall(PetscSortInt(*nrows, *rows));
  PetscCall(PetscArrayzero(host->list, SPMV_LIST_MAX));
  host->list[0] = -*nrows;
  for (PetscInt p = parts; p < order.nparts; p++) host->list[p - parts + 1] = order.cut[p] - order.cut[p + 1];
  host->value[PMF_POWERS] = order.nparts - parts + 1;
  PetscCall(PmfOrderDestroy(&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that a device holds under a plan, with the vectors of a product */
static PetscErrorCode PmfCutNeeds(const SpmvCSR *csr, const SpmvPlan *plan, PetscLogDouble *bytes)
{
  PmfEll    e = {0};
  PmfHalves halves;
  PmfOrder  order = PmfOrderOf(plan->value, 1, NULL);
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n, end = 0;

  PetscFunctionBegin;
  PetscCall(PmfHalvesCreate(csr, &order, &halves));
  PetscCall(PmfCutParts(csr, &halves.csr[1], plan, &order, &end));
  PetscCall(PmfEllLayOut(&halves, &order, end, plan->value, &e));
  PetscCall(PmfEllArrays(&e, &n, arrays));
  *bytes = SpmvArraysRead(n, arrays) + (PetscLogDouble)sizeof(PetscScalar) * (PetscLogDouble)(e.npieces + csr->n + end);
  PetscCall(PmfEllReset(&e));
  PetscCall(PmfOrderDestroy(&order));
  PetscCall(PmfHalvesDestroy(&halves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Cuts the share of the device to what it has room for. A plan is left as it is if all fits, if next to nothing does, or if it is not
  to be cut; otherwise its powers are replaced, which the parts of the device, and those of the host, keep among themselves
*/
PetscErrorCode PmfCutToRoom(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  const PetscLogDouble x = (PetscLogDouble)csr->n * sizeof(PetscScalar), y = (PetscLogDouble)csr->m * sizeof(PetscScalar);
  const PetscLogDouble matrix = (PetscLogDouble)csr->i[csr->m] * (sizeof(PetscScalar) + sizeof(int32_t)) + x + y,
                       room   = info->room;
  SpmvPlan       given = *plan, cut = *plan;
  PetscInt      *parts = &given.value[PMF_DEVICE_PARTS], *nparts = &given.value[PMF_POWERS];
  PetscLogDouble needs;
  double         sum[2] = {0, 0}, share, before;

  PetscFunctionBegin;
  if (!plan->value[PMF_DEVICE_CUT] || room >= PMF_CUT_AMPLE * matrix || csr->m >= INT32_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (*parts > *nparts) PetscFunctionReturn(PETSC_SUCCESS); /* as PmfDeviceAllows() will say */
  PetscCall(PmfCutNeeds(csr, plan, &needs));
  if (!*parts) { /* the host had none */
    *parts  = 1;
    *nparts = PetscMin(SPMV_LIST_MAX, PetscMax(2, plan->threads));
    for (PetscInt p = 0; p < SPMV_LIST_MAX; p++) given.list[p] = p < *nparts;
  }
  for (PetscInt p = 0; p < *nparts; p++) sum[p < *parts] += (double)given.list[p];
  share = before = plan->value[PMF_DEVICE_PARTS] ? sum[1] / (sum[0] + sum[1]) : 1;
  for (PetscInt k = 0; k < PMF_CUT_TRIES && needs > room; k++) {
    if (room > x) share *= PMF_CUT_SPARE * (double)((room - x) / (needs - x));
    if (room <= x || share < PMF_CUT_LEAST) break; /* who sends the storage will say so */
    cut = given;
    for (PetscInt p = 0; p < *nparts; p++) {
      cut.list[p] =
        (PetscInt)PetscMax(1, PMF_CUT_WHOLE * (p < *parts ? share : 1 - share) * (double)given.list[p] / sum[p < *parts]);
    }
    PetscCall(PmfCutNeeds(csr, &cut, &needs));
  }
  if (needs > room || share == before) PetscFunctionReturn(PETSC_SUCCESS);
  *plan = cut;
  PetscCall(PetscInfo(NULL, "%s has room for %.0f bytes: its share of the nonzeros is cut from %.1f %% to %.1f %%\n", info->name,
                      (double)room, 100 * before, 100 * share));
  PetscFunctionReturn(PETSC_SUCCESS);
}
