/*
  rates.c - how fast a device is assumed to be, by what its API tells, and the time of a product by it; no clock is read

  A GPU is one of four kinds. The numbers of a kind are for one of the processors that its API counts, of one GPU each: from data
  sheets (memory, cache, clock), and from what others measured (latencies, launches, transfers). No GPU has run our kernels: all
  are predictions. What the API tells, as CUDA does the bandwidth, takes the place of a kind's. A device that is no GPU is this
  processor, through PoCL: its memory and caches have the rates of the host (host/machine.h), and the rest was fitted to products
  of PoCL 3.1 on two cores.
*/
#include "tune.h"
#include "target.h"
#include <math.h>

/* SpmvRates for one processor of a kind of GPU, of which it has so many; NULL: of another vendor */
static const struct {
  const char    *vendor, *name;
  PetscLogDouble bandwidth, cached; /* bytes a second of memory, bytes a clock of the cache */
  PetscLogDouble clock;
  PetscLogDouble latency;
  PetscLogDouble items, lanes; /* that it has at a time, that begin an instruction in a clock */
  PetscLogDouble groups;       /* that it has at a time; 0: these and local memory are of several of what the API counts */
  PetscLogDouble launch, transfer, byte, compile;
} Kinds[] = {
  {"NVIDIA", "NVIDIA (H100)", 25e9, 26, 1.75e9, 6e-7, 2048, 128, 32, 2.5e-6, 1e-5, 1e-10, 0.4},
  {"Advanced Micro", "AMD (MI250X)", 14.5e9, 32, 1.7e9, 8e-7, 2048, 64, 32, 5e-6, 1.5e-5, 1e-10, 0.5},
  {"AMD", "AMD (MI250X)", 14.5e9, 32, 1.7e9, 8e-7, 2048, 64, 32, 5e-6, 1.5e-5, 1e-10, 0.5},
  {"Intel", "Intel (Max 1550)", 3.1e9, 8, 1.6e9, 8e-7, 128, 16, 0, 6e-6, 1.5e-5, 1e-10, 0.5},
  {NULL, "a GPU (MI250X)", 14.5e9, 32, 1.7e9, 8e-7, 2048, 64, 32, 5e-6, 1.5e-5, 1e-10, 0.5},
};

#define RATES_REACHED 0.9 /* of the bandwidth that a maker tells */
#define RATES_HELD    0.6 /* of a cache: the rest is for what comes by */

/* PoCL: fitted, see docs/devices.md */
#define RATES_POCL_SHARES 2   /* cores whose reading fills the memory's bandwidth */
#define RATES_POCL_CYCLES 5.0 /* instructions of work items that a core begins in a cycle: those side by side are vectors, ... */
#define RATES_POCL_APART  1.7 /* ... and others */
#define RATES_POCL_LAUNCH 1.1e-5 /* seconds of a kernel */
#define RATES_POCL_COPY   3e-6   /* of a transfer */
#define RATES_POCL_BUILD  0.7    /* of a compilation */

/* This processor */
static void RatesOfHost(const SpmvDeviceInfo *info, SpmvRates *r)
{
  const SpmvMachine   *machine = SpmvMachineGet();
  const PetscLogDouble units   = (PetscLogDouble)PetscMax(1, info->units);

  *r = (SpmvRates){.name      = "this processor",
                   .bandwidth = PetscMin(units, RATES_POCL_SHARES) * 1e9 / machine->byte[SPMV_LEVELS - 1],
                   .cached    = units * 1e9 / machine->byte[1],
                   .cache     = machine->last,
                   .latency   = 1e-9 * machine->line[SPMV_LEVELS - 1],
                   .items     = units,
                   .lanes     = units,
                   .cycles    = RATES_POCL_CYCLES * units * 1e9 / machine->cycle,
                   .apart     = RATES_POCL_APART * units * 1e9 / machine->cycle,
                   .launch    = RATES_POCL_LAUNCH,
                   .transfer  = RATES_POCL_COPY,
                   .byte      = 1e-9 * machine->byte[SPMV_LEVELS - 1],
                   .compile   = RATES_POCL_BUILD};
}

/* The rates that are assumed of a device */
void SpmvRatesOf(const SpmvDeviceInfo *info, const SpmvDeviceTold *told, SpmvRates *r)
{
  const PetscLogDouble units = (PetscLogDouble)PetscMax(1, info->units);
  PetscLogDouble       clock;
  size_t               k = 0;

  if (!info->gpu) {
    RatesOfHost(info, r);
    return;
  }
  while (Kinds[k].vendor && !strstr(told->vendor, Kinds[k].vendor)) k++;
  clock = told->clock > 0 ? told->clock : Kinds[k].clock;
  *r    = (SpmvRates){.name      = Kinds[k].name,
                      .bandwidth = RATES_REACHED * (told->bandwidth > 0 ? told->bandwidth : units * Kinds[k].bandwidth),
                      .cached    = units * clock * Kinds[k].cached,
                      .cache     = RATES_HELD * (PetscLogDouble)SpmvDeviceCache(info),
                      .latency   = Kinds[k].latency,
                      .items     = units * Kinds[k].items,
                      .units     = units,
                      .groups    = Kinds[k].groups,
                      .local     = (PetscLogDouble)PetscMax(info->local, info->large),
                      .lanes     = units * Kinds[k].lanes,
                      .cycles    = units * clock * Kinds[k].lanes,
                      .apart     = units * clock * Kinds[k].lanes,
                      .launch    = Kinds[k].launch,
                      .transfer  = Kinds[k].transfer,
                      .byte      = Kinds[k].byte,
                      .compile   = Kinds[k].compile};
}

/* Work items that a device has room for at a time, in work groups such as a product's */
static PetscLogDouble RatesRoom(const SpmvRates *r, const SpmvDeviceLoad *w)
{
  PetscLogDouble groups = r->groups;

  if (r->groups <= 0 || w->group <= 0) return r->items;
  if (w->local > 0) groups = PetscMax(1, PetscMin(groups, floor(r->local / w->local)));
  return PetscMin(r->items, r->units * groups * w->group);
}

/*
  SpmvDeviceSeconds - of a product by a device that has the vectors

  Input Parameters:
+ r       - the device's rates
. w       - the work of the product
. vectors - bytes of x and y, each once
- missed  - sectors of x that come from memory besides these: where x is read again after it has left the cache

  Note:
  Work items wait for what they asked for. What all of them together have asked for comes at the rate of the memory, if it is
  enough to keep that busy (Little's law); instructions are begun meanwhile. The work item with the longest chain of loads may
  take longer than all others. Launches are apart.
*/
PetscLogDouble SpmvDeviceSeconds(const SpmvRates *r, const SpmvDeviceLoad *w, PetscLogDouble vectors, PetscLogDouble missed)
{
  const PetscLogDouble bytes   = w->bytes + 2 * w->moved + vectors;
  const PetscLogDouble items   = PetscMax(1, PetscMin(w->items, RatesRoom(r, w)));
  const PetscLogDouble rate    = bytes <= r->cache ? r->cached : r->bandwidth;
  const PetscLogDouble asked   = PetscMax(w->flight, 1) * items / r->latency; /* bytes a second that they may have */
  const PetscLogDouble sectors = w->sectors * SPMV_SECTOR;
  PetscLogDouble       load, work, all;

  load =
    PetscMax(bytes / rate + missed * SPMV_SECTOR / r->bandwidth + sectors / r->cached, r->items > r->lanes ? bytes / asked : 0);
  work = (w->cycles / r->cycles + w->apart / r->apart) / PetscMin(1, items / r->lanes);
  all  = sqrt(sqrt(PetscSqr(PetscSqr(load)) + PetscSqr(PetscSqr(work))));
  return PetscMax(all, w->chain * r->latency) + w->launches * r->launch;
}

/* Seconds to send x and receive y */
PetscLogDouble SpmvMoveSeconds(const SpmvRates *r, PetscLogDouble m, PetscLogDouble n)
{
  return 2 * r->transfer + (m + n) * (PetscLogDouble)sizeof(PetscScalar) * r->byte;
}
