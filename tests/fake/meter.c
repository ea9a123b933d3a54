/*
  meter.c - counts what kernels that emulate.c runs would ask of the memory of an H100

  With $FAKE_CUDA_METER=1 kernels are compiled with GCC's calls for -fsanitize=thread, one before each load and store, and for
  -fsanitize-coverage=trace-pc, one in each basic block, which are defined here. A work item's calls are kept in their order, each
  with the place in the code that it comes from. Whenever a warp is complete, as its work items wait for each other or have ended, they
  are put together: again and again the lowest place that a work item stands at is taken, and all that stand there go on at once.
  As loops are laid out before what follows them, this is how the lanes of a GPU's warp meet again behind loops and branches.

  One load of a warp is one request; it asks for the sectors of 32 bytes, in lines of 128, that its lanes touch. Requests are run
  through caches when the kernel has ended: work groups go to PROCESSORS in turn, as many at a time as work items and shared memory
  allow, each warp of them makes one request after the other, all warps in turn. Caches are empty when a kernel begins.

  What this does not show:
  - the code is GCC's (-O2, no vectors), not NVRTC's, which may keep other values in registers, and load ahead of branches. What
    is in registers or on the stack is not counted, so spills are not
  - time: neither latency nor how many loads are under way; a step is a basic block, whatever it is made of
  - caches have no sets (each line may be anywhere, the one used longest ago goes), no hints (__ldcs), and one L2 for all; L1 has
    what shared memory leaves of PROCESSOR_BYTES. Registers do not limit how many work groups run at a time
  - an atomic operation counts as a load and a store, and the constant bank, where arguments are, as nothing
  - pages, DRAM rows, ECC, compression
*/
#define _GNU_SOURCE
#include "meter.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS           1024
#define WARP            32
#define SECTOR          32
#define LINE_SECTORS    4 /* of a line */
#define PROCESSORS      132
#define PROCESSOR_BYTES (256 << 10) /* L1 and shared memory */
#define SHARED_BYTES    (228 << 10) /* of these, shared memory at most, with 1 KiB for each work group */
#define L2_BYTES        (50 << 20)
#define BLOCK           METER_KINDS /* a basic block is begun, neither a load nor a store */

typedef struct {
  uint64_t address;
  uint32_t place; /* in the code */
  uint8_t  bytes, kind;
} Event;

typedef struct {
  Event *event;
  size_t n, room, at; /* at: the first that is not yet put together */
} Lane;

/* The requests of a warp, one after the other: argument << 16 | kind << 8 | sectors, then the sectors */
typedef struct {
  uint32_t *word;
  size_t    n, room, at;
} Requests;

static MeterKernel kernels[METER_KERNELS], *now;
static int         nkernels, nmodules;
static const char *shared[METER_KERNELS][2], *arena;
static Lane        lane[ITEMS], *running;
static Requests   *requests; /* [groups * warps] of this launch */
static unsigned    group, groups, warps;
static uint64_t    begin[METER_ARGS], end[METER_ARGS]; /* of what arguments point to */
static uint8_t    *touched[METER_ARGS][METER_KINDS];   /* a bit for each byte */
static uint8_t     sharedline[SHARED_BYTES / 128 + 1];
static const char *sharedfirst;

int MeterOn(void)
{
  static int on = -1;

  if (on >= 0) return on;
  on = getenv("FAKE_CUDA_METER") != NULL;
  if (on) (void)dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL); /* kernels call what is here */
  return on;
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
static void Request(Requests *r, int a, int kind, const Event *const event[], int n)
{
  MeterCount *count = &now->count[a][kind];
  uint32_t    sector[8 * WARP], line[8 * WARP];
  unsigned    nsectors = 0, nlines = 0;

  for (int k = 0; k < n; k++) {
    const uint64_t p = event[k]->address - (uint64_t)(uintptr_t)arena;

    count->bytes += event[k]->bytes;
    for (uint64_t s = p / SECTOR; s <= (p + event[k]->bytes - 1) / SECTOR; s++) {
      nsectors = Add(sector, nsectors, (uint32_t)s);
      nlines   = Add(line, nlines, (uint32_t)(s / LINE_SECTORS));
    }
    for (unsigned b = 0; b < event[k]->bytes; b++) {
      const uint64_t at = event[k]->address + b - begin[a];

      touched[a][kind][at / 8] |= (uint8_t)(1 << at % 8);
    }
  }
  count->requests++;
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
    if ((size_t)(p - sharedfirst) / 128 <= SHARED_BYTES / 128) sharedline[(p - sharedfirst) / 128] = 1;
  }
}

/* What lanes do that stand at one place */
static void Together(Requests *r, const Event *const event[], const int number[], int n)
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
  Requests *r    = &requests[(size_t)group * warps + (size_t)first / WARP];
  int       live = 0;

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

/* ---- caches ---- */

typedef struct {
  uint32_t line;
  int      newer, older, chain;
  uint8_t  has, dirty; /* a bit for each sector */
} CacheLine;

/* Lines from the one used last to the one used longest ago, and chains of those of one hash */
typedef struct {
  CacheLine *l;
  int       *head, n, room, newest, oldest, nheads;
} Cache;

static void CacheEmpty(Cache *c, size_t bytes)
{
  const int lines = (int)(bytes / (SECTOR * LINE_SECTORS));

  if (lines > c->room) {
    for (c->nheads = 1; c->nheads < lines;) c->nheads *= 2;
    c->l    = realloc(c->l, sizeof(CacheLine) * (size_t)lines);
    c->head = realloc(c->head, sizeof(int) * (size_t)c->nheads);
    if (!c->l || !c->head) abort();
  }
  c->room   = lines;
  c->n      = 0;
  c->newest = c->oldest = -1;
  memset(c->head, 0xff, sizeof(int) * (size_t)c->nheads);
}

static int *CacheHead(Cache *c, uint32_t line)
{
  return &c->head[(line * 2654435761u >> 8) & (unsigned)(c->nheads - 1)];
}

static void CacheUnlink(Cache *c, int k)
{
  if (c->l[k].newer >= 0) c->l[c->l[k].newer].older = c->l[k].older;
  else c->newest = c->l[k].older;
  if (c->l[k].older >= 0) c->l[c->l[k].older].newer = c->l[k].newer;
  else c->oldest = c->l[k].newer;
}

static void CachePush(Cache *c, int k)
{
  c->l[k].newer = -1;
  c->l[k].older = c->newest;
  if (c->newest >= 0) c->l[c->newest].newer = k;
  else c->oldest = k;
  c->newest = k;
}

/* The line, used now; if it is not there NULL, or a new one in the place of the one used longest ago */
static CacheLine *CacheUse(Cache *c, uint32_t line, int make)
{
  int k = *CacheHead(c, line);

  while (k >= 0 && c->l[k].line != line) k = c->l[k].chain;
  if (k < 0 && !make) return NULL;
  if (k >= 0) CacheUnlink(c, k);
  else {
    if (c->n < c->room) k = c->n++;
    else {
      int *link;

      k = c->oldest;
      CacheUnlink(c, k);
      for (link = CacheHead(c, c->l[k].line); *link != k;) link = &c->l[*link].chain;
      *link = c->l[k].chain;
    }
    c->l[k]             = (CacheLine){.line = line, .chain = *CacheHead(c, line)};
    *CacheHead(c, line) = k;
  }
  CachePush(c, k);
  return &c->l[k];
}

static Cache l1[PROCESSORS], l2;

static void Access(int processor, MeterCount count[], int kind, uint32_t sector)
{
  const uint32_t line = sector / LINE_SECTORS;
  const uint8_t  bit  = (uint8_t)(1 << sector % LINE_SECTORS);
  CacheLine     *l    = CacheUse(&l1[processor], line, kind == METER_LOAD);

  if (kind == METER_LOAD && l->has & bit) return;
  if (l && kind == METER_LOAD) l->has |= bit; /* what is stored goes through L1, and changes it where it is there */
  count[kind].l2++;
  l = CacheUse(&l2, line, 1);
  if (kind == METER_LOAD) {
    if (!(l->has & bit)) count[kind].dram++;
  } else {
    if (!(l->dirty & bit)) count[kind].dram++;
    l->dirty |= bit;
  }
  l->has |= bit;
}

/* One request of a warp; 0: it has no more */
static int RequestRun(int processor, Requests *r)
{
  uint32_t head;

  if (r->at == r->n) return 0;
  head = r->word[r->at++];
  for (uint32_t k = 0; k < (head & 0xff); k++) Access(processor, now->count[head >> 16], head >> 8 & 0xff, r->word[r->at++]);
  return 1;
}

static void Caches(void)
{
  const size_t left = PROCESSOR_BYTES - (size_t)now->residents * (now->shared ? now->shared + 1024 : 0);
  const int    n    = (int)now->residents;
  unsigned     next = 0, ended = 0, resident[PROCESSORS][32]; /* group + 1, 0: none */

  memset(resident, 0, sizeof(resident));
  CacheEmpty(&l2, L2_BYTES);
  for (int p = 0; p < PROCESSORS; p++) CacheEmpty(&l1[p], left);
  for (int k = 0; k < n; k++) {
    for (int p = 0; p < PROCESSORS && next < groups; p++) resident[p][k] = ++next;
  }
  while (ended < groups) {
    for (int p = 0; p < PROCESSORS; p++) {
      for (int k = 0; k < n; k++) {
        int more = 0;

        if (!resident[p][k]) continue;
        for (unsigned w = 0; w < warps; w++) more |= RequestRun(p, &requests[(size_t)(resident[p][k] - 1) * warps + w]);
        if (more) continue;
        ended++;
        resident[p][k] = next < groups ? ++next : 0;
      }
    }
  }
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
  requests = calloc((size_t)grid * warps, sizeof(Requests));
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

/* Work items [first, last), a warp or the work group, have all come to where they wait */
void MeterWait(int first, int last, int whole)
{
  for (int k = first; k < last; k += WARP) PutTogether(k, k + WARP < last ? k + WARP : last);
  if (whole) now->barriers++;
  else now->syncs++;
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
  most           = lines ? SHARED_BYTES / (now->shared + 1024) : 32;
  if (now->residents > most) now->residents = most ? most : 1;
  Caches();
  for (int a = 0; a < now->nargs; a++) {
    for (int kind = 0; kind < METER_KINDS; kind++) {
      for (size_t k = 0; k <= (end[a] - begin[a]) / 8; k++)
        now->count[a][kind].distinct += (uint64_t)__builtin_popcount(touched[a][kind][k]);
      free(touched[a][kind]);
    }
  }
  for (size_t k = 0; k < (size_t)groups * warps; k++) free(requests[k].word);
  free(requests);
  now = NULL;
}
