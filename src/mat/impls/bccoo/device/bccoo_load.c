/*
  bccoo_load.c - what a product by a device takes: a tile of blocks for each work item, or several
*/
#include "bccoo_device.h"
#include "../bccoo_shapes.h"
#include "../../../../spmvload.h"
#include <math.h>

/* Instructions: of a block, by strategy, of an entry of it, of a sum that is transposed, of a tile for each row of a block, and
   of a work group. Fitted to 164 plans of laplace7 on PoCL within a factor of 1.75; for GPUs guesses */
static const double BccooLoadBlocks[] = {30, 30, 33, 17};
#define BCCOO_LOAD_ENTRY     1.0
#define BCCOO_LOAD_ONLINE    30.0
#define BCCOO_LOAD_TILE      51.0
#define BCCOO_LOAD_GROUP     3000.0
#define BCCOO_LOAD_START     4   /* loads that wait for each other before the first block (H200) */
#define BCCOO_LOAD_FLIGHT    8   /* blocks that a work item asks for before it waits, ... */
#define BCCOO_LOAD_ENTRIES   4.0 /* ... or, by strategy 2, entries and columns: H200, 1x1, 2x1 and 3x3, tiles of 16 to 1024 */
#define BCCOO_LOAD_REGISTERS 40  /* of a work item besides those for sums, as NVRTC makes them for sm_90 */
#define BCCOO_LOAD_LONG      128 /* blocks of a tile that one work item goes through, in the manner of Table II */

/*
  Block sizes, each as asked and, if that is open, by strategy 3 with one long tile for each work item: Table II, for devices
  whose work items follow each other. There it takes a third of the time (PoCL)
*/
PetscErrorCode BccooDevicePropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[])
{
  const PetscInt *p    = asked->value;
  const PetscBool open = (PetscBool)(!p[BCCOO_DEVICE_STRATEGY] && !p[BCCOO_DEVICE_BUNCH] && !p[BCCOO_TILE] &&
                                     !p[BCCOO_DEVICE_REGISTERS] && !p[BCCOO_DEVICE_TRANSPOSE] && p[BCCOO_DEVICE_CACHE] == 1);

  PetscFunctionBegin;
  PetscCall(BccooProposeShapes(csr, asked, round, n, plans));
  if (!*n && !round) plans[(*n)++] = *asked; /* of one block size */
  for (PetscInt k = 0, end = open ? *n : 0; k < end; k++) {
    plans[*n]                              = plans[k];
    plans[*n].value[BCCOO_DEVICE_STRATEGY] = 3;
    plans[*n].value[BCCOO_DEVICE_BUNCH]    = 1;
    plans[(*n)++].value[BCCOO_TILE]        = BCCOO_LOAD_LONG;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Sectors of x that so many blocks ask for: work items are a tile apart, or side by side if each product transposes. Of blocks of
  several entries each has its own; what a work group has of them is what it has of x
*/
static void BccooLoadSectors(const SpmvCSR *csr, const PetscInt p[], double blocks, SpmvDeviceLoad *load)
{
  const PetscInt  nz = csr->i[csr->m], tile = p[BCCOO_TILE], w = p[BCCOO_BLOCK_WIDTH];
  const PetscBool one     = (PetscBool)(p[BCCOO_BLOCK_HEIGHT] * w == 1);
  const PetscInt  group   = p[BCCOO_DEVICE_WORKGROUP] * BccooDeviceItem(p) * tile; /* blocks */
  const PetscInt  entries = (PetscInt)PetscMin((double)PetscMax(1, nz), ceil((double)group * nz / PetscMax(1, blocks)));
  SpmvDeviceLoad  asked   = {0};
  SpmvNear        near    = {0};

  for (PetscInt at = 0, end; at < nz; at = end) {
    end = PetscMin(nz - at, entries) + at;
    near.group++;
    if (p[BCCOO_DEVICE_TRANSPOSE] == BCCOO_TRANSPOSE_ONLINE || !one) {
      SpmvSectorsAlong(end - at, csr->j + at, &near, &asked);
      continue;
    }
    for (PetscInt k = at; k < end; k += SPMV_LOCKSTEP * tile) {
      SpmvRuns runs = {0};

      for (PetscInt l = k; l < PetscMin(end, k + SPMV_LOCKSTEP * tile); l += tile) SpmvRunsAdd(&runs, l, PetscMin(tile, end - l));
      SpmvRunsCount(&runs, csr->j, 0, &near, &asked);
    }
  }
  load->near += asked.near;
  load->sectors += one ? asked.sectors : blocks * (1 + (double)((size_t)(w - 1) * sizeof(PetscScalar)) / SPMV_SECTOR);
}

static void BccooLoadFree(BccooBlocks *b)
{
  (void)SpmvFree(&b->base);
  (void)SpmvFree(&b->escape);
  (void)SpmvFree(&b->escaped);
}

/* What the rows have in blocks, whose 16-bit columns, of a wide matrix, are those of a build: distances from bases */
static PetscErrorCode BccooLoadTally(const SpmvCSR *csr, const PetscInt p[], BccooTally *t)
{
  SPMV_DESTROY_BY(BccooLoadFree)
  BccooBlocks             b      = {.tile = p[BCCOO_TILE], .columns = (BccooColumns)p[BCCOO_COLUMNS]};
  SPMV_TEMPORARY int32_t *column = NULL;
  size_t                  group;

  PetscFunctionBegin;
  if (b.columns != BCCOO_COLUMNS_DIFFERENCE && (b.columns != BCCOO_COLUMNS_AUTO || !BccooIsWide(csr, p))) {
    *t = BccooTallyOf(csr, p, NULL);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(csr->i[csr->m], &column));
  *t = BccooTallyOf(csr, p, column);
  BccooDeviceLayout(p, &b);
  group     = (size_t)b.whole * (size_t)b.tile;
  b.found   = column;
  b.nblocks = t->blocks;
  b.nstored = SpmvGroups(b.nblocks, group) * group;
  b.ntiles  = b.nstored / (size_t)b.tile;
  PetscCall(BccooDistancesScan(&b));
  t->differ = (PetscBool)(b.columns == BCCOO_COLUMNS_DIFFERENCE);
  t->far    = b.nescaped;
  t->reach  = b.reach;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BccooDeviceLoad(const SpmvCSR *csr, const SpmvPlan *plan, SpmvDeviceLoad *load)
{
  const PetscInt *p = plan->value, h = p[BCCOO_BLOCK_HEIGHT], w = p[BCCOO_BLOCK_WIDTH], strategy = p[BCCOO_DEVICE_STRATEGY];
  const double    group = (double)p[BCCOO_DEVICE_WORKGROUP];
  double          blocks, items, block = BccooLoadBlocks[strategy] + BCCOO_LOAD_ENTRY * (double)(h * w);
  SpmvWork        stored = {0};
  BccooTally      t;

  PetscFunctionBegin;
  PetscCall(BccooLoadTally(csr, p, &t));
  blocks = t.part * (double)t.blocks;
  items  = blocks / (double)p[BCCOO_TILE] / (double)BccooDeviceItem(p);
  BccooTallyAdd(csr, &t, p, p[BCCOO_TILE], &stored);
  load->bytes += stored.bytes;
  load->moved += stored.moved;
  load->build += stored.build;
  load->reach = stored.reach;
  BccooLoadSectors(csr, p, blocks, load);
  if (strategy == 3) { /* values of work items side by side are tiles apart */
    load->sectors += blocks * (double)(h * w);
    load->near += blocks * (double)(h * w);
  }
  if (p[BCCOO_DEVICE_TRANSPOSE] == BCCOO_TRANSPOSE_ONLINE) block += BCCOO_LOAD_ONLINE * (double)h;
  if (strategy == 3 && p[BCCOO_DEVICE_BUNCH] == 1 && w == 1)
    load->cycles += block * blocks; /* a loop that PoCL makes vectors of */
  else load->apart += block * blocks;
  load->apart += BCCOO_LOAD_TILE * (double)h * items + BCCOO_LOAD_GROUP * items / group;
  load->moved += 2 * items / group * (double)h * sizeof(PetscScalar);
  load->items += items;
  load->whole     = group;
  load->group     = group;
  load->local     = (PetscLogDouble)BccooDeviceMemory(p);
  load->registers = BCCOO_LOAD_REGISTERS + PetscMax(0, p[BCCOO_DEVICE_REGISTERS]);
  load->chain     = BCCOO_LOAD_START +
                (double)p[BCCOO_TILE] * (strategy == 2 ? (double)(h * w + 1) / BCCOO_LOAD_ENTRIES : 1. / BCCOO_LOAD_FLIGHT);
  load->waits += items * load->chain;
  if (t.empty) load->cleared += (double)csr->m / BCCOO_FLAT_GROUP;
  load->launches = 1 + (p[BCCOO_DEVICE_CARRY] == BCCOO_CARRY_KERNEL) + (p[BCCOO_SLICES] > 1 || t.empty);
  PetscFunctionReturn(PETSC_SUCCESS);
}
