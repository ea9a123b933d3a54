/*
  pmf_plan.c - what a plan makes of a matrix: parts, runs, the sizes of arrays
*/
#include "pmf.h"
#include "../../../host/machine.h"

/* Only AVX-512 has an instruction that takes eight of sixteen numbers */
#if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX)
  #define PMF_PIECES_PRESET(isa) ((isa) == SPMV_AVX512 ? PMF_PIECES_ANY : PMF_PIECES_NONE)
#else
  #define PMF_PIECES_PRESET(isa) PMF_PIECES_NONE
#endif

static PetscErrorCode PmfHalvesDestroy(PmfHalves *h)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(PetscFree3(h->i[k], h->j[k], h->at[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block of row r has columns r / block * block to (r / block + 1) * block - 1 (as printed, `mod` stands for the division, and > for >=) */
static PetscErrorCode PmfHalvesCreate(const SpmvCSR *csr, PetscInt block, PmfHalves *h)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscMalloc3(csr->m + 1, &h->i[k], csr->i[csr->m], &h->j[k], csr->i[csr->m], &h->at[k]));
    h->csr[k]  = (SpmvCSR){.m = csr->m, .n = csr->n, .rbs = 1, .cbs = 1, .i = h->i[k], .j = h->j[k]};
    h->i[k][0] = 0;
  }
  for (PetscInt r = 0; r < csr->m; r++) {
    PetscInt end[2] = {h->i[0][r], h->i[1][r]};

    for (PetscInt e = csr->i[r]; e < csr->i[r + 1]; e++) {
      const int k = csr->j[e] / block != r / block;

      h->j[k][end[k]]    = csr->j[e];
      h->at[k][end[k]++] = (uint32_t)e;
    }
    for (int k = 0; k < 2; k++) h->i[k][r + 1] = end[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows that are split over the pieces */
static PetscErrorCode PmfFindSplit(const SpmvCSR *csr, PetscInt limit, PmfStorage *b)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < csr->m; r++) b->nsplit += csr->i[r + 1] - csr->i[r] > limit;
  if (!b->nsplit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc((size_t)b->nsplit * sizeof(int32_t), &b->split));
  for (PetscInt r = 0, s = 0; r < csr->m; r++) {
    if (csr->i[r + 1] - csr->i[r] > limit) b->split[s++] = (int32_t)r;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The runs of piece p */
static PetscErrorCode PmfLayoutPiece(PmfLayout *layout, const PmfOrder *order, PetscInt p)
{
  const PmfStorage *b      = layout->b;
  const PetscInt    origin = b->partition == PMF_BY_PMF ? 0 : order->cut[p], end = order->cut[p + 1];

  PetscFunctionBegin;
  if (layout->blocks) PetscCall(PmfLayoutBlocks(layout, order->cut[p], end));
  for (PetscInt k = order->cut[p], stop; k < end; k = stop) {
    stop = b->window == PMF_WINDOW_GLOBAL ? end : PetscMin(end, origin + ((k - origin) / b->window + 1) * b->window);
    PetscCall(PmfLayoutSegment(layout, order, k, stop));
  }
  for (PetscInt s = 0; s < b->nsplit; s++) PetscCall(PmfLayoutFragment(layout, p, s));
  PetscCall(PmfLayoutClose(layout));
  b->piece[p + 1] = (int32_t)b->nruns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is printed of the parts */
static PetscErrorCode PmfSetParts(const SpmvCSR *csr, const PmfLayout *layout, const PmfOrder *order, PmfStorage *b)
{
  PetscFunctionBegin;
  b->nparts = layout->blocks ? 2 : order->nparts;
  PetscCall(PetscCalloc1(b->nparts, &b->part));
  for (PetscInt p = 0; p < b->nparts && !layout->blocks; p++) b->part[p] = PmfPartOf(csr, order, p);
  for (size_t k = 0; k < b->nruns && layout->blocks; k++) {
    const PmfRun *run  = &layout->run[k];
    PmfPart      *part = &b->part[run->steps[PMF_DIAGONAL] == 0];

    part->rows += run->flags & PMF_FRAGMENT ? 0 : run->rows;
    part->elements += PMF_LANES * PmfSlices(run) * (PmfFullSteps(run) + PmfMaskedSteps(run));
  }
  if (layout->blocks) {
    b->part[0].rows += b->ell.nblockrows;
    b->part[0].elements += b->ell.diagonals.n;
    b->part[1].rows += b->ell.nsliced + b->ell.nlong;
    b->part[1].elements += b->ell.slices.n + b->ell.longs.n;
  }
  for (PetscInt p = 0; p < b->nparts && layout->blocks; p++) b->part[p].entries = (size_t)(p ? layout->rest : layout->blocks)->i[csr->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Beside a device: the rows of the host's pieces that no run is the first to write, so that the tasks that have the pieces clear them */
static PetscErrorCode PmfFindClear(const PmfLayout *layout, const PmfOrder *order, PmfStorage *b)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(b->npieces + 1, &b->clears));
  for (int fill = 0; fill < 2; fill++) {
    if (fill) PetscCall(SpmvAlloc((size_t)n * sizeof(int32_t), &b->clear));
    n = 0;
    for (PetscInt p = b->ndevice; p < b->npieces; p++) {
      for (PetscInt k = order->cut[p]; k < order->cut[p + 1]; k++) {
        if (!layout->blocks && PmfLength(layout->rest, order->limit, order->row[k])) continue;
        if (fill) b->clear[n] = order->row[k];
        n++;
      }
      b->clears[p + 1] = n;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PmfResolveOpen(const SpmvCSR *csr, SpmvPlan *plan)
{
  PetscFunctionBegin;
  (void)csr;
  if (plan->value[PMF_WINDOW] == PMF_WINDOW_AUTO) plan->value[PMF_WINDOW] = PMF_WINDOW_PRESET;
  if (plan->value[PMF_PIECES] == PMF_PIECES_AUTO) plan->value[PMF_PIECES] = plan->value[PMF_PARTITION] == PMF_BY_DIAGONAL ? PMF_PIECES_NONE : PMF_PIECES_PRESET(plan->isa);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PmfResolve - what a plan makes of a matrix: parts, runs, sizes of arrays

  Input Parameter:
. csr - the matrix

  Input/Output Parameter:
. plan - what is left open is replaced

  Output Parameters:
+ b      - all but the arrays that hold entries and rows; the runs are in the layout
. halves - filled with PMF_BY_DIAGONAL
- layout - refers to csr or halves
*/
PetscErrorCode PmfResolve(const SpmvCSR *csr, SpmvPlan *plan, PmfStorage *b, PmfHalves *halves, PmfLayout *layout)
{
  const PetscBool    device  = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE);
  const SpmvMachine *machine = SpmvMachineGet();
  const PetscInt    *p = plan->value, nz = csr->i[csr->m];
  PetscInt           npieces = p[PMF_POWERS] ? p[PMF_POWERS] : plan->threads, limit = PETSC_MAX_INT, *power;
  PmfOrder           order;

  PetscFunctionBegin;
  PetscCheck(csr->m < INT32_MAX && csr->n < INT32_MAX && (PetscInt64)nz < UINT32_MAX / 4, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Local block of %" PetscInt_FMT " x %" PetscInt_FMT " with %" PetscInt_FMT " nonzeros is more than 32-bit indices count; use more processes or -mat_type aij", csr->m, csr->n, nz);
  PetscCall(PmfResolveOpen(csr, plan));
  PetscCheck(p[PMF_PARTITION] != PMF_BY_DIAGONAL || p[PMF_PIECES] == PMF_PIECES_NONE, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Beside blocks on the diagonal, entries that are side by side in a slice need not be so in their row, so no steps share pieces of x; set -mat_pmf_pieces to auto or none");
  if (device) PetscCall(PmfDeviceResolve(plan, &npieces, &b->ndevice));
  else if (npieces > 1) limit = PetscMax(PMF_SPLIT_MIN, nz / (PMF_SPLIT * npieces)); /* rows are whole beside a device, which has its own way with long ones */
  b->m         = csr->m;
  b->n         = csr->n;
  b->partition = (PmfPartition)p[PMF_PARTITION];
  b->window    = p[PMF_WINDOW];
  b->block     = p[PMF_BLOCK];
  b->npieces   = npieces;
  b->threads   = PetscMin(npieces, plan->threads);
  b->early     = nz < machine->cached ? PMF_EARLY_NONE : nz < machine->uncached ? PMF_EARLY_ALL
                                                                                : PMF_EARLY_GATHERED;
  b->listsize  = csr->m <= UINT16_MAX + 1 || b->window != PMF_WINDOW_GLOBAL ? sizeof(uint16_t) : sizeof(int32_t);
  *layout      = (PmfLayout){.rest = csr, .b = b, .wide = (PetscBool)(p[PMF_COLUMNS] == PMF_COLUMNS_INT32), .pieces = p[PMF_PIECES]};
  if (b->partition == PMF_BY_DIAGONAL) {
    PetscCall(PmfHalvesCreate(csr, b->block, halves));
    layout->blocks = &halves->csr[0];
    layout->rest   = &halves->csr[1];
    b->empty       = PETSC_TRUE;
  }
  PetscCall(PmfFindSplit(layout->rest, limit, b));
  PetscCall(PetscMalloc1(npieces, &power));
  for (PetscInt k = 0; k < npieces; k++) power[k] = p[PMF_POWERS] ? plan->list[k] : 1; /* threads of a host are equally fast; powers differ between devices and hosts */
  PetscCall(PmfOrderCreate(csr, layout->rest, b->partition, b->window, b->block, npieces, power, limit, &order));
  PetscCall(PetscFree(power));
  PetscCall(PetscMalloc1(csr->m, &layout->row));
  PetscCall(PetscCalloc1(npieces + 1, &b->piece));
  if (b->ndevice == npieces) layout->pieces = PMF_PIECES_NONE; /* a device has its own way */
  PmfLayoutSettle(layout, &order);
  plan->value[PMF_PIECES] = layout->pieces;
  for (PetscInt k = b->ndevice; k < npieces; k++) PetscCall(PmfLayoutPiece(layout, &order, k));
  if (device) {
    b->ell.height = plan->device[PMF_DEVICE_SLICE];
    b->ell.block  = layout->blocks ? b->block : 0;
    PetscCall(PmfEllLayOut(layout->rest, layout->blocks, &order, order.cut[b->ndevice], plan->device[PMF_DEVICE_LONG], layout->wide, &b->ell));
    PetscCall(PmfFindClear(layout, &order, b));
    b->share = PmfShareOf(&order, 0, b->ndevice);
  }
  PetscCall(PmfSetParts(csr, layout, &order, b));
  PetscCall(PmfOrderDestroy(&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what a resolution made besides the storage */
PetscErrorCode PmfResolved(PmfHalves *halves, PmfLayout *layout)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(layout->row));
  PetscCall(PetscFree(layout->run));
  PetscCall(PmfHalvesDestroy(halves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  PmfPredict - the sizes of the storage that PmfBuild() would make

  Input Parameters:
+ csr  - the matrix
- plan - as for PmfBuild()

  Output Parameter:
. b - counts and runs; to be destroyed with PmfReset()
*/
PetscErrorCode PmfPredict(const SpmvCSR *csr, const SpmvPlan *plan, PmfStorage *b)
{
  SpmvPlan  resolved = *plan;
  PmfHalves halves   = {0};
  PmfLayout layout;

  PetscFunctionBegin;
  *b = (PmfStorage){0};
  PetscCall(PmfResolve(csr, &resolved, b, &halves, &layout));
  PetscCall(PmfResolved(&halves, &layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}
