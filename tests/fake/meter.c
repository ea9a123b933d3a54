/*
  meter.c - counts what kernels that emulate.c runs would ask of the memory of an H100

  With $FAKE_CUDA_METER=1 kernels are compiled with GCC's calls for -fsanitize=thread, one before each load and store, and for
  -fsanitize-coverage=trace-pc, one in each basic block, which are defined here. A work item's calls are kept in their order, each
  with the place in the code that it comes from. Whenever a warp is complete, as its work items wait for each other or have ended,
  they are put together: again and again the lowest place that a work item stands at is taken, and all that stand there go on at
  once. As loops are laid out before what follows them, this is how the lanes of a GPU's warp meet again behind loops and
  branches.

  One load of a warp is one request; it asks for the sectors of 32 bytes, in lines of 128, that its lanes touch. Requests are
  run through caches when the kernel has ended: see metercache.c.

  What this does not show:
  - the code is GCC's (-O2, no vectors), not NVRTC's, which may keep other values in registers, and load ahead of branches. What
    is in registers or on the stack is not counted, so spills are not
  - time: neither latency nor how many loads are under way; a step is a basic block, whatever it is made of
  - caches have no sets (each line may be anywhere, the one used longest ago goes), no hints (__ldcs), and one L2 for all; L1 has
    what is left of a processor's memory by what kernels touch of shared memory. Registers do not limit how many work groups run
    at a time
  - an atomic operation counts as a load and a store, and the constant bank, where arguments are, as nothing
  - pages, DRAM rows, ECC, compression
*/
#define _GNU_SOURCE
#include "meter.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 1024
#define WARP  32
#define BLOCK METER_KINDS /* a basic block is begun, neither a load nor a store */

typedef struct {
  uint64_t address;
  uint32_t place; /* in the code */
  uint8_t  bytes, kind;
} Event;

typedef struct {
  Event *event;
  size_t n, room, at; /* at: the first that is not yet put together */
} Lane;

static MeterKernel    kernels[METER_KERNELS], *now;
static int            nkernels, nmodules;
static const char    *shared[METER_KERNELS][2], *arena;
static Lane           lane[ITEMS], *running;
static MeterRequests *requests; /* [groups * warps] of this launch */
static unsigned       group, groups, warps;
static uint64_t       begin[METER_ARGS], end[METER_ARGS]; /* of what arguments point to */
static uint8_t       *touched[METER_ARGS][METER_KINDS];   /* a bit for each byte */
static uint8_t        sharedline[METER_SHARED / 128 + 1];
static const char    *sharedfirst;

int MeterOn(void)
{
  static int on = -1;

  if (on < 0) on = getenv("FAKE_CUDA_METER") != NULL;
  return on;
}

/* Before code is loaded that calls what is here */
void MeterLoads(void)
{
  (void)dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

void MeterModule(const char *from, const char *to)
{
  if (nmodules == METER_KERNELS) nmodules = 0; /* those before have been unloaded long since */
  shared[nmodules][0]   = from;
  shared[nmodules++][1] = to;
}

const MeterKernel *MeterTaken(int *n)
{
  *n = nkernels;
  return kernels;
}

void MeterForget(void)
{
  nkernels = 0;
  memset(kernels, 0, sizeof(kernels));
}

/* Room for one more of what has n */
static void *Grow(void *p, size_t n, size_t *room, size_t size)
{
  if (n < *room) return p;
  *room = *room ? 2 * *room : 64;
  p     = realloc(p, *room * size);
  if (!p) abort();
  return p;
}

/* ---- what the compiler calls ---- */

static int IsShared(const char *p)
{
  static int last;

  if (last < nmodules && p >= shared[last][0] && p < shared[last][1]) return 1;
  for (last = 0; last < nmodules; last++) {
    if (p >= shared[last][0] && p < shared[last][1]) return 1;
  }
  return 0;
}

static void Note(const void *p, unsigned bytes, int kind, const void *place)
{
  Lane *l = running;

  if (!l) return;
  if (kind != BLOCK && ((const char *)p < arena || (const char *)p >= arena + ((size_t)1 << 36)) && !IsShared(p)) return;
  l->event         = Grow(l->event, l->n, &l->room, sizeof(Event));
  l->event[l->n++] = (Event){(uint64_t)(uintptr_t)p, (uint32_t)(uintptr_t)place, (uint8_t)bytes, (uint8_t)kind};
}

#define CALLER __builtin_return_address(0)
#define ACCESS(bytes) \
  void __tsan_read##bytes(void *p) \
  { \
    Note(p, bytes, METER_LOAD, CALLER); \
  } \
  void __tsan_write##bytes(void *p) \
  { \
    Note(p, bytes, METER_STORE, CALLER); \
  } \
  void __tsan_unaligned_read##bytes(void *p) \
  { \
    Note(p, bytes, METER_LOAD, CALLER); \
  } \
  void __tsan_unaligned_write##bytes(void *p) \
  { \
    Note(p, bytes, METER_STORE, CALLER); \
  } \
  void __tsan_volatile_read##bytes(void *p) \
  { \
    Note(p, bytes, METER_LOAD, CALLER); \
  } \
  void __tsan_volatile_write##bytes(void *p) \
  { \
    Note(p, bytes, METER_STORE, CALLER); \
  }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void *p, size_t bytes)
{
  Note(p, (unsigned)bytes, METER_LOAD, CALLER);
}
void __tsan_write_range(void *p, size_t bytes)
{
  Note(p, (unsigned)bytes, METER_STORE, CALLER);
}
void __sanitizer_cov_trace_pc(void)
{
  Note(NULL, 0, BLOCK, CALLER);
}
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) {}
void __tsan_func_exit(void) {}

/* ---- a warp's work items are put together ---- */

static int Argument(uint64_t p)
{
  for (int a = 0; a < now->nargs; a++) {
    if (p >= begin[a] && p < end[a]) return a;
  }
  return -1;
}

static unsigned Add(uint32_t *list, unsigned n, uint32_t what)
{
  for (unsigned k = n; k-- > 0;) {
    if (list[k] == what) return n;
  }
  list[n] = what;
  return n + 1;
}

/* Lanes that load or store what one argument points to */
static void Request(MeterRequests *r, int a, int kind, const Event *const event[], int n)
{
  MeterCount *count = &now->count[a][kind];
  uint32_t    sector[8 * WARP], line[8 * WARP];
  unsigned    nsectors = 0, nlines = 0;

  for (int k = 0; k < n; k++) {
    const uint64_t p = event[k]->address - (uint64_t)(uintptr_t)arena;

    count->bytes += event[k]->bytes;
    for (uint64_t s = p / METER_SECTOR; s <= (p + event[k]->bytes - 1) / METER_SECTOR; s++) {
      nsectors = Add(sector, nsectors, (uint32_t)s);
      nlines   = Add(line, nlines, (uint32_t)(s / METER_LINE));
    }
    for (unsigned b = 0; b < event[k]->bytes; b++) {
      const uint64_t at = event[k]->address + b - begin[a];

      touched[a][kind][at / 8] |= (uint8_t)(1 << at % 8);
    }
  }
  count->requests++;
  r->requests++;
  count->sectors += nsectors;
  count->lines += nlines;
  for (unsigned k = 0; k <= nsectors; k++) {
    r->word         = Grow(r->word, r->n, &r->room, sizeof(uint32_t));
    r->word[r->n++] = k ? sector[k - 1] : (uint32_t)a << 16 | (uint32_t)kind << 8 | nsectors;
  }
}

/* Lanes at shared memory: 32 banks of words of 4 bytes serve 32 lanes of 4 bytes at a time, 16 of 8, 8 of 16 */
static void Banks(const Event *const event[], const int number[], int n)
{
  const int together = event[0]->bytes <= 4 ? 32 : event[0]->bytes <= 8 ? 16 : 8;

  now->shared_requests++;
  for (int first = 0; first < WARP; first += together) {
    uint32_t word[32][4 * WARP];
    unsigned count[32] = {0}, passes = 0;

    for (int k = 0; k < n; k++) {
      if (number[k] < first || number[k] >= first + together) continue;
      for (uint64_t w = event[k]->address / 4; w <= (event[k]->address + event[k]->bytes - 1) / 4; w++) {
        count[w % 32] = Add(word[w % 32], count[w % 32], (uint32_t)w);
        if (passes < count[w % 32]) passes = count[w % 32];
      }
    }
    now->shared_passes += passes;
    now->shared_least += passes > 0;
  }
  for (int k = 0; k < n; k++) {
    const char *p = (const char *)(uintptr_t)event[k]->address;

    for (int m = 0; m < nmodules && !sharedfirst; m++) {
      if (p >= shared[m][0] && p < shared[m][1]) sharedfirst = shared[m][0];
    }
    if ((size_t)(p - sharedfirst) / 128 <= METER_SHARED / 128) sharedline[(p - sharedfirst) / 128] = 1;
  }
}

/* What lanes do that stand at one place */
static void Together(MeterRequests *r, const Event *const event[], const int number[], int n)
{
  char done[WARP] = {0};

  for (int k = 0; k < n; k++) {
    const Event *same[WARP];
    int          who[WARP], nsame = 0, a;

    if (done[k]) continue;
    a = Argument(event[k]->address);
    for (int l = k; l < n; l++) {
      if (done[l] || Argument(event[l]->address) != a || event[l]->bytes != event[k]->bytes) continue;
      who[nsame]    = number[l];
      same[nsame++] = event[l];
      done[l]       = 1;
    }
    if (a >= 0) Request(r, a, event[k]->kind, same, nsame);
    else if (IsShared((const char *)(uintptr_t)event[k]->address)) Banks(same, who, nsame);
    else now->others += (uint64_t)nsame;
  }
}

static void PutTogether(int first, int last)
{
  MeterRequests *r    = &requests[(size_t)group * warps + (size_t)first / WARP];
  int            live = 0;

  for (int k = first; k < last; k++) live += lane[k].n > 0;
  for (;;) {
    const Event *event[WARP];
    uint32_t     lowest = UINT32_MAX;
    int          number[WARP], n = 0;

    for (int k = first; k < last; k++) {
      if (lane[k].at < lane[k].n && lane[k].event[lane[k].at].place < lowest) lowest = lane[k].event[lane[k].at].place;
    }
    for (int k = first; k < last; k++) {
      Lane *l = &lane[k];

      if (l->at == l->n || l->event[l->at].place != lowest) continue;
      number[n]  = k - first;
      event[n++] = &l->event[l->at++];
    }
    if (!n) break;
    if (event[0]->kind == BLOCK) {
      now->steps++;
      now->active += (uint64_t)n;
      now->apart += n < live;
    } else Together(r, event, number, n);
  }
  for (int k = first; k < last; k++) lane[k].n = lane[k].at = 0;
}

/* ---- what emulate.c and cuda.c call ---- */

static MeterKernel *Kernel(const char *name)
{
  for (int k = 0; k < nkernels; k++) {
    if (!strcmp(kernels[k].name, name)) return &kernels[k];
  }
  if (nkernels == METER_KERNELS) return NULL;
  snprintf(kernels[nkernels].name, sizeof(kernels[nkernels].name), "%s", name);
  return &kernels[nkernels++];
}

/* names, pointer, bytes: of each argument; no pointer: 0 */
void MeterLaunch(const char *name, int nargs, const char (*names)[64], const uint64_t *pointer, const uint64_t *bytes,
                 const char *memory, unsigned grid, unsigned block)
{
  now = Kernel(name);
  if (!now) {
    fprintf(stderr, "meter: more than %d kernels\n", METER_KERNELS);
    exit(1);
  }
  arena      = memory;
  now->nargs = nargs;
  for (int a = 0; a < nargs; a++) {
    memcpy(now->arg[a], names[a], sizeof(now->arg[a]));
    begin[a] = pointer[a];
    end[a]   = pointer[a] + (pointer[a] ? bytes[a] : 0);
    for (int kind = 0; kind < METER_KINDS; kind++) touched[a][kind] = calloc((end[a] - begin[a]) / 8 + 1, 1);
  }
  warps    = (block + WARP - 1) / WARP;
  groups   = grid;
  group    = 0;
  requests = calloc((size_t)grid * warps, sizeof(MeterRequests));
  now->launches++;
  now->groups += grid;
  now->warps += (uint64_t)grid * warps;
  now->group = block;
  memset(sharedline, 0, sizeof(sharedline));
  sharedfirst = NULL;
}

/* A work item goes on; -1: none does */
void MeterItem(int item)
{
  running = item < 0 || !now ? NULL : &lane[item];
}

/* Work items [first, last), a warp or the whole work group, have all come to where they wait; shows: for a shuffle or a vote */
void MeterWait(int first, int last, int whole, int shows)
{
  for (int k = first; k < last; k += WARP) PutTogether(k, k + WARP < last ? k + WARP : last);
  if (whole) now->barriers++;
  else now->syncs += !shows;
}

void MeterGroupEnds(void)
{
  for (unsigned w = 0; w < warps; w++) PutTogether((int)w * WARP, (int)(w + 1) * WARP);
  group++;
}

void MeterLaunchEnds(void)
{
  unsigned lines = 0, most;

  for (size_t k = 0; k < sizeof(sharedline); k++) lines += sharedline[k];
  now->shared    = 128 * lines;
  now->residents = 64 / warps < 32 ? 64 / warps : 32;
  most           = lines ? METER_SHARED / (now->shared + 1024) : 32;
  if (now->residents > most) now->residents = most ? most : 1;
  MeterCaches(now, requests, groups, warps);
  for (int a = 0; a < now->nargs; a++) {
    for (int kind = 0; kind < METER_KINDS; kind++) {
      for (size_t k = 0; k <= (end[a] - begin[a]) / 8; k++)
        now->count[a][kind].distinct += (uint64_t)__builtin_popcount(touched[a][kind][k]);
      free(touched[a][kind]);
    }
  }
  for (size_t k = 0; k < (size_t)groups * warps; k++) {
    if (now->most < requests[k].requests) now->most = requests[k].requests;
    free(requests[k].word);
  }
  free(requests);
  now = NULL;
}
