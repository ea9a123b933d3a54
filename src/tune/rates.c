/*
  rates.c - how fast a device is assumed to be, by what its API tells, and the time of a product by it; no clock is read

  A GPU is one of four kinds. The numbers of a kind are for one of the processors that its API counts, of one GPU each: from data
  sheets (memory, clock, AMD's and Intel's cache, what a processor has room for), and from what others measured (transfers, AMD's
  and Intel's latencies and launches). Of NVIDIA, `cached`, `latency`, `begin` and `launch` are of our kernels on an H200, by
  which the form of the model was found, too; no GPU of AMD or Intel has run them. What the API tells, as CUDA does the bandwidth,
  takes the place of a kind's. A device that is no GPU is this processor, through PoCL: its memory and caches have the rates of
  the host (host/machine.h), and the rest was fitted to products of PoCL 3.1 on two cores.
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
  PetscLogDouble groups; /* that it has at a time; 0: these, registers and local memory are of several of what the API counts */
  PetscLogDouble registers; /* of 32 bits */
  PetscLogDouble begin;     /* seconds from one work group to the next; 0: not known */
  PetscLogDouble launch, transfer, byte, compile;
} Kinds[] = {
  /* cached: entries of x anywhere in it, with the matrix 5.8 TB/s of an H200; begin: kernels that store or copy, 128 work items
     in a group; launch: products of matrices that are small */
  {"NVIDIA", "NVIDIA (H100)", 25e9, 22, 1.75e9, 6e-7, 2048, 128, 32, 65536, 8.1e-8, 2.3e-6, 1e-5, 1e-10, 0.4},
  {"Advanced Micro", "AMD (MI250X)", 14.5e9, 32, 1.7e9, 8e-7, 2048, 64, 32, 131072, 0, 5e-6, 1.5e-5, 1e-10, 0.5},
  {"AMD", "AMD (MI250X)", 14.5e9, 32, 1.7e9, 8e-7, 2048, 64, 32, 131072, 0, 5e-6, 1.5e-5, 1e-10, 0.5},
  {"Intel", "Intel (Max 1550)", 3.1e9, 8, 1.6e9, 8e-7, 128, 16, 0, 0, 0, 6e-6, 1.5e-5, 1e-10, 0.5},
  {NULL, "a GPU (MI250X)", 14.5e9, 32, 1.7e9, 8e-7, 2048, 64, 32, 131072, 0, 5e-6, 1.5e-5, 1e-10, 0.5},
};

/* Of all GPUs; found on an H200, but for RATES_HELD, which nothing was asked about */
#define RATES_REACHED 0.9 /* of the bandwidth that a maker tells: stencils by tpspmv and pmf, 4.2 of 4.8 TB/s */
#define RATES_HELD    0.6 /* of a cache: the rest is for what comes by */
#define RATES_HIT     0.5 /* of the latency of memory: that of the cache. A row of 256 entries by one work item, in 26 us */
#define RATES_BEGUN   0.7 /* of the instructions that can begin: cmrs, bccoo in blocks of one entry */

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
                   .hit       = 1e-9 * machine->line[SPMV_LEVELS - 1],
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
                      .hit       = RATES_HIT * Kinds[k].latency,
                      .items     = units * Kinds[k].items,
                      .units     = units,
                      .groups    = Kinds[k].groups,
                      .local     = (PetscLogDouble)PetscMax(info->local, info->large),
                      .registers = Kinds[k].registers,
                      .begin     = Kinds[k].begin,
                      .lanes     = units * Kinds[k].lanes,
                      .cycles    = RATES_BEGUN * units * clock * Kinds[k].lanes,
                      .apart     = RATES_BEGUN * units * clock * Kinds[k].lanes,
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
  if (w->local > 0) groups = PetscMin(groups, floor(r->local / w->local));
  if (r->registers > 0 && w->registers > 0) groups = PetscMin(groups, floor(r->registers / (w->registers * w->group)));
  groups = PetscMax(1, groups);
  return PetscMin(r->items, r->units * groups * w->group);
}

/* What takes so long side by side: about the longest */
static PetscLogDouble RatesLongest(PetscLogDouble a, PetscLogDouble b, PetscLogDouble c)
{
  return sqrt(sqrt(PetscSqr(PetscSqr(a)) + PetscSqr(PetscSqr(b)) + PetscSqr(PetscSqr(c))));
}

/*
  SpmvDeviceSeconds - of a product by a device that has the vectors

  Input Parameters:
+ r       - the device's rates
. w       - the work of the product
. vectors - bytes of x and y, each once
- missed  - lines of x that come from memory besides these: where x is read again after it has left the cache

  Note:
  A GPU's work items wait for what they asked for, as many as there is room for at a time; memory, the cache and instructions are
  busy with others meanwhile, so that the longest of these decides; where they are near, each delays the others. A work item that
  waits for more than others do is there when these have ended, and so is the one that adds up what they made. From the cache
  comes all that comes from memory, and what of x the first caches have not. On this processor (PoCL) nothing is asked for
  meanwhile, and its first cache is in what was fitted. Launches are apart.
*/
PetscLogDouble SpmvDeviceSeconds(const SpmvRates *r, const SpmvDeviceLoad *w, PetscLogDouble vectors, PetscLogDouble missed)
{
  const PetscBool      many    = (PetscBool)(r->items > r->lanes); /* work items wait while others go on */
  const PetscLogDouble bytes   = w->bytes + 2 * w->moved + vectors;
  const PetscLogDouble items   = PetscMax(1, PetscMin(w->items, RatesRoom(r, w)));
  const PetscBool      held    = (PetscBool)(bytes <= r->cache);
  const PetscLogDouble memory  = bytes / (held ? r->cached : r->bandwidth);
  const PetscLogDouble latency = held ? r->hit : r->latency;
  const PetscLogDouble work    = (w->cycles / r->cycles + w->apart / r->apart) / PetscMin(1, items / r->lanes);
  const PetscLogDouble begin   = r->begin / PetscMax(1, r->units);
  PetscLogDouble       load, wait, alone;

  if (!many) {
    load = memory + missed * SPMV_SECTOR / r->bandwidth + w->sectors * SPMV_SECTOR / r->cached;
    return PetscMax(RatesLongest(load, work, 0), w->chain * latency) + w->launches * r->launch;
  }
  load  = PetscMax(memory + missed * SPMV_CACHE_LINE / r->bandwidth, (bytes + w->near * SPMV_SECTOR) / r->cached);
  wait  = PetscMax(w->waits * latency / items, begin * w->items / PetscMax(1, w->group));
  alone = PetscMax(0, w->chain - w->waits / PetscMax(1, w->items)) * latency + w->after * r->hit + begin * w->cleared;
  return RatesLongest(load, work, wait) + alone + w->launches * r->launch;
}

/* Seconds to send x and receive y */
PetscLogDouble SpmvMoveSeconds(const SpmvRates *r, PetscLogDouble m, PetscLogDouble n)
{
  return 2 * r->transfer + (m + n) * (PetscLogDouble)sizeof(PetscScalar) * r->byte;
}
