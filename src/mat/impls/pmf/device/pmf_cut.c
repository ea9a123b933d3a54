/*
  pmf_cut.c - which rows of a joint product the device has: the first parts, cut to what its memory has room for

  Powers say how many nonzeros the device's parts have. Where the device has no room for these and the vectors of a product, its
  powers are lowered and the host's raised until it has, unless that leaves it next to none. The bytes are those of a storage that
  is laid out, but not built. A device that had all rows has one part then, and each thread of the host another one.
*/
#include "pmf_device.h"

#define PMF_CUT_TRIES 8
#define PMF_CUT_LEAST 0.001   /* of all nonzeros: with less the device is not worth asking */
#define PMF_CUT_SPARE 0.97    /* of the room, because other rows have other padding */
#define PMF_CUT_WHOLE 1000000 /* what the powers of a cut plan add up to, about: the largest that one may be */
#define PMF_CUT_AMPLE 16      /* with so many times the bytes of the matrix, there is room for any layout */

/* The order of all rows, cut into the parts; the device has those at places [0, end) */
static PetscErrorCode PmfCutParts(const SpmvCSR *csr, const SpmvPlan *plan, PmfOrder *order, PetscInt *end)
{
  const PetscInt parts = plan->value[PMF_DEVICE_PARTS];

  PetscFunctionBegin;
  *order = PmfOrderOf(csr, plan->value, parts ? plan->value[PMF_POWERS] : 1, parts ? plan->list : NULL);
  PetscCall(PmfOrderCreate(csr, order));
  *end = order->cut[PetscMax(1, parts)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device's rows; see SpmvJointRows.split(). The host gets where its parts were cut: its matrix lacks the device's entries */
PetscErrorCode PmfSplit(const SpmvCSR *csr, const SpmvPlan *plan, SpmvPlan *host, PetscInt *nrows, PetscInt *rows[])
{
  const PetscInt parts = plan->value[PMF_DEVICE_PARTS];
  SPMV_DESTROY_BY(PmfOrderDestroy)
  PmfOrder order = {.cut = NULL};

  PetscFunctionBegin;
  PetscCall(PmfCutParts(csr, plan, &order, nrows));
  PetscCall(PetscMalloc1(*nrows, rows));
  for (PetscInt k = 0; k < *nrows; k++) (*rows)[k] = order.row[k];
  PetscCall(PetscSortInt(*nrows, *rows));
  PetscCall(PetscArrayzero(host->list, SPMV_LIST_MAX));
  host->list[0] = -*nrows;
  for (PetscInt p = parts; p < order.nparts; p++) host->list[p - parts + 1] = order.cut[p] - order.cut[p + 1];
  host->value[PMF_POWERS] = order.nparts - parts + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that a device holds under a plan, with the vectors of a product, and what it converts */
static PetscErrorCode PmfCutNeeds(const SpmvCSR *csr, const SpmvPlan *plan, PetscLogDouble *bytes)
{
  SPMV_DESTROY_BY(PmfOrderDestroy)
  PmfOrder order = {.cut = NULL};
  SPMV_DESTROY_BY(SpmvOwnedDestroy)
  SpmvOwned own = {.side = &PmfDevice.side};
  SpmvArray arrays[SPMV_ARRAY_MAX];
  PetscInt  n, end, entries = 0;

  PetscFunctionBegin;
  PetscCall(PmfCutParts(csr, plan, &order, &end));
  PetscCall(PmfEllLayOut(csr, &order, end, plan->value, &own.storage));
  PetscCall(PmfEllArrays(own.storage, &n, arrays));
  *bytes = SpmvArraysRead(n, arrays) + (PetscLogDouble)sizeof(PetscScalar) * ((PetscLogDouble)((PmfEll *)own.storage)->nchunks +
                                                                              (PetscLogDouble)csr->n + (PetscLogDouble)end);
  if (plan->value[PMF_DEVICE_CONVERT] != SPMV_CONVERT_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < end; k++) entries += PmfLength(csr, &order, order.row[k]);
  *bytes += SpmvConvertNeeds(entries) + SpmvArraysOwn(n, arrays) - SpmvArraysRead(n, arrays); /* what is aside is sent */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the powers of a plan that is to be cut; the device's parts keep their proportions, and so do the host's */
PetscErrorCode PmfCutToRoom(const SpmvCSR *csr, const SpmvDeviceInfo *info, SpmvPlan *plan)
{
  const PetscLogDouble x = (PetscLogDouble)csr->n * sizeof(PetscScalar), y = (PetscLogDouble)csr->m * sizeof(PetscScalar);
  const PetscLogDouble entries = (PetscLogDouble)csr->i[csr->m] * (sizeof(PetscScalar) + sizeof(int32_t)), room = info->room;
  SpmvPlan             given = *plan, cut = *plan;
  PetscInt            *parts = &given.value[PMF_DEVICE_PARTS], *nparts = &given.value[PMF_POWERS];
  PetscLogDouble       needs;
  double               sum[2] = {0, 0}, fraction, before; /* of all powers: what the device's parts have */

  PetscFunctionBegin;
  if (!plan->value[PMF_DEVICE_CUT] || room >= PMF_CUT_AMPLE * (entries + x + y)) PetscFunctionReturn(PETSC_SUCCESS);
  if (csr->m >= INT32_MAX || *parts > *nparts) PetscFunctionReturn(PETSC_SUCCESS); /* PmfDeviceAllows() refuses it */
  PetscCall(PmfCutNeeds(csr, plan, &needs));
  if (!*parts) { /* the host had none */
    *parts  = 1;
    *nparts = PetscMin(SPMV_LIST_MAX, PetscMax(2, plan->threads));
    for (PetscInt p = 0; p < SPMV_LIST_MAX; p++) given.list[p] = p < *nparts;
  }
  for (PetscInt p = 0; p < *nparts; p++) sum[p < *parts] += (double)given.list[p];
  fraction = before = plan->value[PMF_DEVICE_PARTS] ? sum[1] / (sum[0] + sum[1]) : 1;
  for (PetscInt k = 0; k < PMF_CUT_TRIES && needs > room; k++) {
    if (room > x) fraction *= PMF_CUT_SPARE * (double)((room - x) / (needs - x));
    if (room <= x || fraction < PMF_CUT_LEAST) break; /* the one who sends the storage will say so */
    cut = given;
    for (PetscInt p = 0; p < *nparts; p++) {
      const double whole = PMF_CUT_WHOLE * (p < *parts ? fraction : 1 - fraction);

      cut.list[p] = (PetscInt)PetscMax(1, whole * (double)given.list[p] / sum[p < *parts]);
    }
    PetscCall(PmfCutNeeds(csr, &cut, &needs));
  }
  if (needs > room || fraction == before) PetscFunctionReturn(PETSC_SUCCESS);
  *plan = cut;
  PetscCall(PetscInfo(NULL, "%s has room for %.0f bytes: its share of the nonzeros is cut from %.1f %% to %.1f %%\n", info->name,
                      (double)room, 100 * before, 100 * fraction));
  PetscFunctionReturn(PETSC_SUCCESS);
}
