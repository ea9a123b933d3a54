/*
  cuda.c - stands in for libcuda.so.1 and libnvrtc.so where there is no GPU: writes down which kernels would have run, with
  what; runs none, unless emulate.c is linked as well

  For tests/graphs.sh and tests/emulate.sh, which compile it. To the file $FAKE_CUDA_LOG, of
  which other processes than the first have one with their number at its end, go

    run <kernel> <grid> <block> <arguments>   a kernel, launched or in a graph that is launched
    graph <n>                                 a graph of n kernels is launched; their lines follow
    wait <kernel> <kernels>                   a kernel added to a graph, and those that it waits for
    stream <s>                                what follows was asked for on it
    bad <what>                                a call that the real driver would refuse, or that has no defined result
    left <n> ...                              at the end: what was made and not given back

  A module is the kernels' source; it is searched for what a kernel takes: pointers, which are written as numbers that the
  allocator gives out in order, and integers of 32 bits. Memory is real, so that transfers out of bounds are found, and new memory
  is full of NaN. $FAKE_CUDA_GPU says which GPU it is said to be. Streams are any pointers; work on one while another may still be
  working is bad, as nothing orders the two.

  The kernels of a graph run one after the other, in the order in which they were added, or in the other one, as far as they need
  not wait for each other, with $FAKE_CUDA_ORDER=down. Two that may run at once are bad if one has a constant argument that the
  other may write to, or, where kernels run, if both change a word. The kernel $FAKE_CUDA_UNORDERED waits for none, so that tests
  see that this is found.
*/
#include "meter.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARGS_MAX  64
#define NODES_MAX 64
#define ALLOCS    (1 << 18)
#define ARENA     ((size_t)1 << 36)

typedef struct {
  char   name[64], arg[ARGS_MAX][64];
  int    nargs, pointer[ARGS_MAX], constant[ARGS_MAX];
  size_t bytes[ARGS_MAX];
  int    dynamic; /* shared memory that a launch may ask for */
  void  *code;    /* emulate.c's */
} Function;

typedef struct {
  const Function *function;
  unsigned        grid, block, shared;
  uint64_t        arg[ARGS_MAX][2];
  char            waits[NODES_MAX]; /* in a graph: for this node, or for one that does */
} Node;

typedef struct {
  int  alive, n;
  Node node[NODES_MAX];
} Graph;

typedef struct {
  char    *source;
  void    *code;
  int      nfunctions;
  Function function[64];
} Module;

typedef struct { /* CUDA_KERNEL_NODE_PARAMS_v1 of cuda.h */
  void    *function;
  unsigned grid[3], block[3], shared;
  void   **args, **extra;
} NodeParams;

static FILE  *out;
static char  *arena;
static size_t used, freed[ALLOCS], nallocs, size[ALLOCS], start[ALLOCS];
static int    depth, context, graphs, execs, modules, buffers, busy, pinned, events;
static void  *now; /* the stream of the last call that had one */

static struct { /* for tests: pointers given to kernels since FakeForget() */
  uint64_t pointer[1024];
  int      n;
} given;

/* emulate.c's, NULL without it. A program's code is found by a name that is part of the cubin */
#define WEAK __attribute__((weak))
extern WEAK int   EmulateCompile(const char *source, int noptions, const char *const *options, char name[4096]);
extern WEAK void *EmulateLoad(const char *name);
extern WEAK void  EmulateUnload(void *code);
extern WEAK void *EmulateFind(void *code, const char *kernel, size_t bytes[]);
extern WEAK char *EmulateRun(void *kernel, unsigned grid, unsigned block, unsigned shared, void **args);
#pragma weak      MeterOn
#pragma weak      MeterLaunch
#pragma weak      MeterLaunchEnds

/* A file for each process */
static FILE *Log(void)
{
  const char *name = getenv("FAKE_CUDA_LOG"), *rank = getenv("OMPI_COMM_WORLD_RANK");
  char        path[4096];

  if (!rank) rank = getenv("PMI_RANK"); /* of other MPIs */
  if (!name) return fopen("/dev/null", "w");
  snprintf(path, sizeof(path), rank && strcmp(rank, "0") && strcmp(name, "/dev/null") ? "%s.%s" : "%s", name, rank);
  return fopen(path, "w");
}

static void Say(const char format[], ...)
{
  va_list list;

  if (!out) out = Log();
  va_start(list, format);
  vfprintf(out, format, list);
  va_end(list);
  fputc('\n', out);
}

static void Current(const char call[])
{
  if (!depth) Say("bad %s without a context", call);
}

/* What was sent from page-locked memory arrives late: at the next call that shows what is there. Until then its source must
   stay */
static struct {
  void       *to;
  const void *from;
  size_t      bytes;
} late[64];
static int nlate;

static void Arrive(void)
{
  for (int k = 0; k < nlate; k++) memcpy(late[k].to, late[k].from, late[k].bytes);
  nlate = 0;
}

/* A call that goes to a stream: what another one has been asked for must have ended */
static void OnStream(void *stream, const char call[])
{
  Current(call);
  if (stream != now && busy) Say("bad %s on stream %p while %p is busy", call, stream, now);
  if (stream != now) Say("stream %p", stream);
  now  = stream;
  busy = 1;
}

/* ---- for tests ---- */

void FakeForget(void)
{
  given.n = 0;
}

/* Kernels that were given a pointer since FakeForget() */
int FakeGiven(const void *p)
{
  int n = 0;

  for (int k = 0; k < given.n; k++) n += given.pointer[k] == (uint64_t)(uintptr_t)p;
  return n;
}

void *FakeStream(void)
{
  return now;
}

/* ---- devices, contexts ---- */

int cuInit(unsigned flags)
{
  return flags != 0;
}
int cuGetErrorName(int code, const char **name)
{
  *name = "FAKE";
  return 0;
}
int cuDriverGetVersion(int *version)
{
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int *n)
{
  *n = 1;
  return 0;
}
int cuDeviceGet(int *id, int index)
{
  *id = index;
  return index != 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int id)
{
  *bytes = ARENA;
  return id;
}
int cuDevicePrimaryCtxRetain(void **c, int id)
{
  *c = &context;
  context++;
  return id;
}
int cuDevicePrimaryCtxRelease_v2(int id)
{
  context--;
  return id;
}
int cuCtxGetCurrent(void **c)
{
  *c = depth ? &context : NULL;
  return 0;
}
int cuCtxPushCurrent_v2(void *c)
{
  depth++;
  Say("push");
  return c != &context;
}
int cuCtxPopCurrent_v2(void **c)
{
  *c = &context;
  return depth-- <= 0;
}
int cuCtxSynchronize(void)
{
  Current("cuCtxSynchronize");
  Arrive();
  busy = 0;
  return 0;
}

int cuStreamSynchronize(void *stream)
{
  Current("cuStreamSynchronize");
  Arrive();
  if (stream == now) busy = 0;
  return 0;
}

int cuDeviceGetName(char *name, int length, int id)
{
  snprintf(name, (size_t)length, "a GPU that is not there");
  return id;
}

/* With $FAKE_CUDA_GPU=H200: the numbers that an H200's driver told. Without it clocks and bus are not told */
static int GpuAttribute(int attribute)
{
  const char *gpu = getenv("FAKE_CUDA_GPU");

  if (!gpu || strcmp(gpu, "H200")) return 0;
  return attribute == 13   ? 1980000
         : attribute == 16 ? 132
         : attribute == 36 ? 3201000
         : attribute == 37 ? 6016
         : attribute == 38 ? 62914560
                           : 0; /* kHz, processors, kHz and bits of the memory, L2 */
}

int cuDeviceGetAttribute(int *value, int attribute, int id)
{
  *value = GpuAttribute(attribute);
  if (*value) return id;
  *value = attribute == 1    ? 1024
           : attribute == 8  ? 49152
           : attribute == 16 ? (MeterOn && MeterOn() ? 132 : 2)
           : attribute == 38 ? 50 << 20
           : attribute == 75 ? 9
           : attribute == 97 ? 232448
                             : 0; /* work items, shared memory, processors, L2, sm_90 */
  return id;
}

/* ---- memory ---- */

int cuMemAlloc_v2(unsigned long long *p, size_t bytes)
{
  Current("cuMemAlloc");
  if (!arena) arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED || nallocs == ALLOCS || used + bytes + 256 > ARENA) return 2;
  start[nallocs]  = used + 256; /* 0 would be no buffer */
  size[nallocs++] = bytes;
  *p              = (unsigned long long)(uintptr_t)(arena + used + 256);
  memset(arena + used + 256, 0xff, bytes);
  used += (bytes + 511) / 256 * 256;
  buffers++;
  return 0;
}

/* What the log has in the place of a pointer */
static unsigned long long Number(unsigned long long p)
{
  return p ? p - (unsigned long long)(uintptr_t)arena : 0;
}

/* The buffer that begins at p, -1 for none */
static long Find(unsigned long long pointer)
{
  const unsigned long long p   = Number(pointer);
  size_t                   low = 0, high = nallocs;

  while (low < high) {
    const size_t middle = (low + high) / 2;

    if (start[middle] < p) low = middle + 1;
    else high = middle;
  }
  return low < nallocs && start[low] == p && !freed[low] ? (long)low : -1;
}

/* Whether a buffer has these bytes */
static int Inside(unsigned long long pointer, size_t bytes)
{
  const unsigned long long p   = Number(pointer);
  size_t                   low = 0, high = nallocs;

  while (low < high) {
    const size_t middle = (low + high) / 2;

    if (start[middle] <= p) low = middle + 1;
    else high = middle;
  }
  return low && !freed[low - 1] && p + bytes <= start[low - 1] + size[low - 1];
}

int cuMemFree_v2(unsigned long long p)
{
  const long k = Find(p);

  Current("cuMemFree");
  Arrive();
  if (k < 0) Say("bad cuMemFree of what is no buffer");
  else {
    freed[k] = 1;
    buffers--;
  }
  return k < 0;
}

static int Copy(unsigned long long p, size_t bytes, void *stream, const char call[])
{
  const int bad = !Inside(p, bytes);

  OnStream(stream, call);
  if (bad) Say("bad %s of %zu bytes", call, bytes);
  return bad;
}

/* Page-locked memory of the host */
static char  *locked[64];
static size_t lockedsize[64];

static int IsPinned(const void *p)
{
  for (int k = 0; k < 64; k++) {
    if (locked[k] && (const char *)p >= locked[k] && (const char *)p < locked[k] + lockedsize[k]) return 1;
  }
  return 0;
}

int cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
  int k = 0;

  Current("cuMemHostAlloc");
  while (k < 64 && locked[k]) k++;
  if (k == 64) return 2;
  *p = locked[k] = malloc(bytes);
  lockedsize[k]  = bytes;
  pinned++;
  return flags != 0;
}

int cuMemFreeHost(void *p)
{
  Current("cuMemFreeHost");
  Arrive();
  for (int k = 0; k < 64; k++) {
    if (!p || locked[k] != p) continue;
    locked[k] = NULL;
    free(p);
    pinned--;
    return 0;
  }
  Say("bad cuMemFreeHost of what is no page-locked memory");
  return 1;
}

/* Events: everything has ended where one is waited for, as streams run one after the other */
int cuEventCreate(void **event, unsigned flags)
{
  Current("cuEventCreate");
  *event = calloc(1, 1);
  events++;
  return flags != 2;
}
int cuEventDestroy_v2(void *event)
{
  Current("cuEventDestroy");
  free(event);
  events--;
  return 0;
}
int cuEventRecord(void *event, void *stream)
{
  OnStream(stream, "cuEventRecord");
  return !event;
}
int cuEventSynchronize(void *event)
{
  Current("cuEventSynchronize");
  Arrive();
  busy = 0;
  return !event;
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream)
{
  const int bad = Copy(to, bytes, stream, "cuMemcpyHtoDAsync");

  if (bad) return bad;
  if (nlate == 64) Arrive();
  if (IsPinned(from)) {
    late[nlate].to      = (void *)(uintptr_t)to;
    late[nlate].from    = from;
    late[nlate++].bytes = bytes;
  } else {
    Arrive();
    memcpy((void *)(uintptr_t)to, from, bytes);
  }
  return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream)
{
  const int bad = Copy(from, bytes, stream, "cuMemcpyDtoHAsync");

  Arrive();
  if (!bad) memcpy(to, (void *)(uintptr_t)from, bytes);
  Say("receive %zu", bytes);
  return bad;
}

/* For spmvbench's peers: on the default stream, and waited for */
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes)
{
  Arrive();
  return Inside(to, bytes) ? (memcpy((void *)(uintptr_t)to, from, bytes), 0) : 1;
}
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes)
{
  Arrive();
  return Inside(from, bytes) ? (memcpy(to, (void *)(uintptr_t)from, bytes), 0) : 1;
}

/* The number of its device; of what it does not know the driver says that it is no valid argument */
int cuPointerGetAttribute(void *value, int attribute, unsigned long long p)
{
  Current("cuPointerGetAttribute");
  if (attribute != 9) Say("bad cuPointerGetAttribute %d", attribute);
  *(int *)value = 0;
  return Find(p) < 0;
}

/* ---- modules: a cubin is the source ---- */

int cuModuleLoadData(void **module, const void *source)
{
  Module *m = calloc(1, sizeof(*m));

  Current("cuModuleLoadData");
  m->source = strdup(source);
  if (EmulateLoad) m->code = EmulateLoad(source);
  *module = m;
  modules++;
  return 0;
}

int cuModuleUnload(void *module)
{
  if (EmulateUnload) EmulateUnload(((Module *)module)->code);
  free(((Module *)module)->source);
  free(module);
  modules--;
  return 0;
}

/* Where the arguments of a kernel begin, NULL if there is none of that name: after "void name(", or after "void vec_##name(" of a
   macro that is used as MACRO(name, ...) */
static const char *Arguments(const char *source, const char *name)
{
  const char *tail = strchr(name, '_'), *use, *begin, *p;
  char        text[160];

  snprintf(text, sizeof(text), "void %s(", name);
  p = strstr(source, text);
  if (p) return p + strlen(text);
  if (!tail) return NULL;
  for (use = source; use; use++) { /* not where a function is called with something of this name */
    snprintf(text, sizeof(text), "(%s,", tail + 1);
    use = strstr(use, text);
    if (!use) return NULL;
    for (begin = use; begin > source && begin[-1] != '\n';) begin--;
    snprintf(text, sizeof(text), "#define %.*s(", (int)(use - begin), begin);
    p = strstr(source, text);
    if (p) break;
  }
  snprintf(text, sizeof(text), "void %.*s##name(", (int)(tail + 1 - name), name);
  p = strstr(p, text);
  return p ? p + strlen(text) : NULL;
}

/* The word that begins at p, if one does: the last one before a comma is the name of an argument */
static void ArgumentName(const char *p, char name[64])
{
  const char  *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  const size_t n       = strchr(letters, p[-1]) ? 0 : strspn(p, letters);

  if (n) snprintf(name, 64, "%.*s", (int)n, p);
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
  Module     *m = module;
  Function   *f;
  const char *p;

  for (int k = 0; k < m->nfunctions; k++) {
    if (!strcmp(m->function[k].name, name)) {
      *function = &m->function[k];
      return 0;
    }
  }
  p = Arguments(m->source, name);
  if (!p || m->nfunctions == 64) {
    Say("bad cuModuleGetFunction %s", name);
    return 500;
  }
  f = &m->function[m->nfunctions++];
  snprintf(f->name, sizeof(f->name), "%s", name);
  f->nargs   = 1;
  f->dynamic = 49152;
  for (; *p && *p != ')'; p++) {
    ArgumentName(p, f->arg[f->nargs - 1]);
    if (*p == '*') f->pointer[f->nargs - 1] = 1;
    if (!strncmp(p, "GLOBAL const", 12)) f->constant[f->nargs - 1] = 1;
    if (*p == ',') f->nargs++;
  }
  for (int k = 0; k < f->nargs; k++) f->bytes[k] = f->pointer[k] ? 8 : 4;
  if (EmulateFind) f->code = EmulateFind(m->code, name, f->bytes);
  *function = f;
  return 0;
}

/* ---- launches, graphs ---- */

int cuFuncSetAttribute(void *function, int attribute, int value)
{
  Current("cuFuncSetAttribute");
  if (attribute != 8 || value < 0 || value > 232448) Say("bad cuFuncSetAttribute %d %d", attribute, value);
  ((Function *)function)->dynamic = value;
  return 0;
}

static void NodeSet(Node *node, const Function *f, unsigned grid, unsigned block, unsigned shared, void **args)
{
  *node = (Node){.function = f, .grid = grid, .block = block, .shared = shared};
  for (int k = 0; k < f->nargs; k++) memcpy(node->arg[k], args[k], f->bytes[k]);
}

static void NodeMeter(const Node *node)
{
  const Function *f                 = node->function;
  uint64_t        pointer[ARGS_MAX] = {0}, bytes[ARGS_MAX] = {0};

  for (int k = 0; k < f->nargs; k++) {
    const long buffer = f->pointer[k] ? Find(node->arg[k][0]) : -1;

    if (buffer < 0) continue;
    pointer[k] = node->arg[k][0];
    bytes[k]   = size[buffer];
  }
  MeterLaunch(f->name, f->nargs, f->arg, pointer, bytes, arena, node->grid, node->block);
}

static int NodeRun(const Node *node)
{
  char  line[2048], *why = NULL;
  void *args[ARGS_MAX];
  int   n = 0;

  for (int k = 0; k < node->function->nargs; k++) {
    const int      pointer = node->function->pointer[k];
    const uint64_t a       = node->arg[k][0];

    args[k] = (void *)(uintptr_t)node->arg[k];
    n += snprintf(line + n, sizeof(line) - (size_t)n, " %llu", (unsigned long long)(pointer ? Number(a) : a));
    if (pointer && given.n < 1024) given.pointer[given.n++] = a;
    if (pointer && a && Find(a) < 0) Say("bad argument %d of %s: freed", k, node->function->name);
  }
  Say("run %s %u %u%s", node->function->name, node->grid, node->block, line);
  if (EmulateRun && MeterOn && MeterOn()) NodeMeter(node);
  if (EmulateRun) why = EmulateRun(node->function->code, node->grid, node->block, node->shared, args);
  if (EmulateRun && MeterOn && MeterOn()) MeterLaunchEnds();
  if (why) Say("bad kernel %s: %s", node->function->name, why);
  return why != NULL;
}

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **args, void **extra)
{
  Node node;

  OnStream(stream, "cuLaunchKernel");
  Arrive();
  if (!gx || gy != 1 || gz != 1 || !bx || bx > 1024 || by != 1 || bz != 1 || extra) Say("bad cuLaunchKernel");
  if (shared > (unsigned)((Function *)f)->dynamic) Say("bad cuLaunchKernel: %u bytes of shared memory", shared);
  NodeSet(&node, f, gx, bx, shared, args);
  return NodeRun(&node) ? 700 : 0;
}

int cuGraphCreate(void **graph, unsigned flags)
{
  Graph *g = calloc(1, sizeof(*g));

  Current("cuGraphCreate");
  g->alive = 1;
  *graph   = g;
  graphs++;
  return flags != 0;
}

/* Whether a kernel writes a buffer that another reads. Where both write, it is other parts of it, as of y */
static int Races(const Node *writer, const Node *reader)
{
  for (int k = 0; k < writer->function->nargs; k++) {
    if (!writer->function->pointer[k] || writer->function->constant[k] || !writer->arg[k][0]) continue;
    for (int l = 0; l < reader->function->nargs; l++) {
      if (reader->function->constant[l] && reader->arg[l][0] == writer->arg[k][0]) return 1;
    }
  }
  return 0;
}

/* What the last node of a graph waits for */
static void NodeWaits(Graph *g, void *const *before, size_t nbefore)
{
  const char *unordered = getenv("FAKE_CUDA_UNORDERED");
  Node       *node      = &g->node[g->n];
  char        line[1024];
  int         n = 0;

  line[0] = 0;
  if (unordered && !strcmp(node->function->name, unordered)) nbefore = 0;
  for (size_t k = 0; k < nbefore; k++) {
    const int b = (int)((const Node *)before[k] - g->node);

    if (b < 0 || b >= g->n) {
      Say("bad kernel %d of a graph waits for what is not in it", g->n);
      return;
    }
    node->waits[b] = 1;
    for (int i = 0; i < b; i++) node->waits[i] |= g->node[b].waits[i];
    n += snprintf(line + n, sizeof(line) - (size_t)n, " %s", g->node[b].function->name);
  }
  Say("wait %s%s", node->function->name, line);
  for (int k = 0; k < g->n; k++) {
    if (!node->waits[k] && (Races(node, &g->node[k]) || Races(&g->node[k], node)))
      Say("bad %s does not wait for %s", node->function->name, g->node[k].function->name);
  }
}

int cuGraphAddKernelNode(void **node, void *graph, void *const *before, size_t nbefore, const NodeParams *p)
{
  Graph *g = graph;

  Current("cuGraphAddKernelNode");
  if (g->n == NODES_MAX || !p->grid[0] || p->grid[1] != 1 || p->grid[2] != 1 || !p->block[0] || p->block[1] != 1 ||
      p->block[2] != 1 || p->shared > (unsigned)((Function *)p->function)->dynamic || p->extra)
    Say("bad cuGraphAddKernelNode");
  NodeSet(&g->node[g->n], p->function, p->grid[0], p->block[0], p->shared, p->args);
  NodeWaits(g, before, nbefore);
  *node = &g->node[g->n++];
  return 0;
}

int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
  Graph *e = malloc(sizeof(*e));

  Current("cuGraphInstantiateWithFlags");
  *e    = *(Graph *)graph;
  *exec = e;
  execs++;
  return flags != 0;
}

int cuGraphDestroy(void *graph)
{
  free(graph);
  graphs--;
  return 0;
}

static int AtOnce(const Graph *g, int k, int l)
{
  return k != l && !g->node[k].waits[l] && !g->node[l].waits[k];
}

/* Whether an argument of a node is a buffer that another, which may run at the same time, writes to as well */
static int IsShared(const Graph *g, int k, int argument)
{
  const Node *node = &g->node[k];

  if (!node->function->pointer[argument] || node->function->constant[argument]) return 0;
  for (int l = 0; l < g->n; l++) {
    const Function *f = g->node[l].function;

    for (int a = 0; a < f->nargs && AtOnce(g, k, l); a++) {
      if (f->pointer[a] && !f->constant[a] && g->node[l].arg[a][0] == node->arg[argument][0]) return 1;
    }
  }
  return 0;
}

/* Bit k of a word's number: node k of the graph that runs has changed it */
static struct {
  uint64_t pointer, *changed;
} word[ARGS_MAX];
static int nword;

static uint64_t *Changed(uint64_t pointer, size_t words)
{
  int k = 0;

  while (k < nword && word[k].pointer != pointer) k++;
  if (k == nword) {
    word[nword].pointer   = pointer;
    word[nword++].changed = calloc(words + 1, sizeof(uint64_t));
  }
  return word[k].changed;
}

/* Runs a node, and compares the words that it changes with those that others have changed */
static int NodeRunShared(const Graph *g, int k)
{
  const Node *node             = &g->node[k];
  uint32_t   *before[ARGS_MAX] = {NULL};
  int         bad;

  for (int a = 0; a < node->function->nargs; a++) {
    const long buffer = IsShared(g, k, a) ? Find(node->arg[a][0]) : -1;

    if (buffer >= 0) before[a] = memcpy(malloc(size[buffer] + 1), arena + start[buffer], size[buffer]);
  }
  bad = NodeRun(node);
  for (int a = 0; a < node->function->nargs; a++) {
    const uint32_t *now     = (const uint32_t *)(uintptr_t)node->arg[a][0];
    const size_t    words   = before[a] ? size[Find(node->arg[a][0])] / sizeof(*now) : 0;
    uint64_t       *changed = words ? Changed(node->arg[a][0], words) : NULL, others = 0;

    for (size_t w = 0; w < words; w++) {
      if (now[w] == before[a][w]) continue;
      others |= changed[w];
      changed[w] |= (uint64_t)1 << k;
    }
    for (int l = 0; l < g->n; l++) {
      if (others >> l & 1 && AtOnce(g, k, l))
        Say("bad %s and %s, which may run at once, write the same words", g->node[l].function->name, node->function->name);
    }
    free(before[a]);
  }
  return bad;
}

/* The kernels of a graph: the next one is the first that need not wait any more, or the last */
static int GraphRun(const Graph *g)
{
  const char *order           = getenv("FAKE_CUDA_ORDER");
  const int   down            = order && !strcmp(order, "down");
  char        done[NODES_MAX] = {0};
  int         bad             = 0;

  for (int n = 0; n < g->n; n++) {
    int next = -1;

    for (int k = 0; k < g->n && (next < 0 || down); k++) {
      int waits = done[k];

      for (int l = 0; l < k; l++) waits |= g->node[k].waits[l] && !done[l];
      if (!waits) next = k;
    }
    bad |= EmulateRun ? NodeRunShared(g, next) : NodeRun(&g->node[next]);
    done[next] = 1;
  }
  while (nword) free(word[--nword].changed);
  return bad;
}

int cuGraphLaunch(void *exec, void *stream)
{
  const Graph *e = exec;
  int          bad;

  OnStream(stream, "cuGraphLaunch");
  Arrive();
  if (!e->alive) Say("bad cuGraphLaunch");
  Say("graph %d", e->n);
  bad = GraphRun(e);
  return bad ? 700 : 0;
}

int cuGraphExecDestroy(void *exec)
{
  if (!((Graph *)exec)->alive) Say("bad cuGraphExecDestroy, twice");
  ((Graph *)exec)->alive = 0; /* and kept, so that later use is seen */
  execs--;
  return 0;
}

/* ---- NVRTC: a program is its source, and in front of it what emulate.c has made of it ---- */

typedef struct {
  char *source, *cubin;
  int   refused;
} Program;

int nvrtcVersion(int *major, int *minor)
{
  *major = 13, *minor = 0;
  return 0;
}

int nvrtcCreateProgram(void **program, const char *source, const char *name, int nheaders, const char *const *headers,
                       const char *const *names)
{
  Program *p = calloc(1, sizeof(*p));

  p->source = strdup(source);
  *program  = p;
  return nheaders != 0;
}

int nvrtcCompileProgram(void *program, int n, const char *const *options)
{
  Program *p          = program;
  char     name[4096] = "";

  if (n < 1 || !options[0]) return 1;
  if (EmulateCompile) p->refused = EmulateCompile(p->source, n, options, name);
  p->cubin = malloc(strlen(name) + strlen(p->source) + 2);
  sprintf(p->cubin, "%s\n%s", name, p->source);
  return p->refused;
}

int nvrtcGetProgramLogSize(void *program, size_t *bytes)
{
  *bytes = 64;
  return !program;
}
int nvrtcGetProgramLog(void *program, char *log)
{
  strcpy(log, ((Program *)program)->refused ? "the host's compiler has refused it" : "");
  return 0;
}
int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
  *bytes = strlen(((Program *)program)->cubin) + 1;
  return 0;
}
int nvrtcGetCUBIN(void *program, char *cubin)
{
  strcpy(cubin, ((Program *)program)->cubin);
  return 0;
}

int nvrtcDestroyProgram(void **program)
{
  free(((Program *)*program)->source);
  free(((Program *)*program)->cubin);
  free(*program);
  *program = NULL;
  return 0;
}

__attribute__((destructor)) static void End(void)
{
  if (out && (pinned || events)) Say("bad end: %d page-locked arrays and %d events are left", pinned, events);
  if (out)
    Say("left %d graphs, %d to launch, %d buffers, %d modules, %d contexts, %d current", graphs, execs, buffers, modules, context,
        depth);
  if (out) fclose(out);
}
