/*
  emulate.c - runs CUDA's kernels on this processor, for cuda.c: their source is compiled by the host's C++ compiler behind
  emulate.h, and the work items of a group are fibers that go on until they wait

  Work groups run one after the other, in order. Of a group one work item runs until it waits for others (__syncthreads(),
  __syncwarp(), shuffles, votes) or ends, then the next: in order, or from the last to the first with $FAKE_CUDA_ORDER=down. So a
  barrier that is missing shows in one of the two orders wherever a work item reads what another one has written. A group whose
  work items wait for different things for ever is an error.

  What this is not: no two work items run at once, so that races between work groups, atomic operations that are not, fences that
  are missing and groups that wait for a later one are not found; memory is that of the host, in order; there are no limits of
  registers or of shared memory, which keeps what the group before left in it; a warp's work items are never in lockstep; streams
  and the kernels of a graph run when they are launched. Arithmetic is the host's, without fused multiply-add.

  $FAKE_CUDA_FOLDER has what was compiled, under a hash of source and options; $CXX is the compiler.
*/
#include "meter.h"
#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define ITEMS 1024
#define STACK (64 << 10)

typedef struct { /* of emulate.h */
  unsigned thread, block, threads, blocks;
  void (*wait)(int warp);
  double slot[ITEMS][2];
  size_t large;
} Emulated;

typedef enum { DONE, READY, WAITS_FOR_GROUP, WAITS_FOR_WARP } State;

typedef struct {
  State      state;
  ucontext_t start;
  jmp_buf    here;
  int        made, shows; /* shows: waits to show others something */
  char      *stack;
} Fiber;

typedef void Kernel(void **args);

/* meter.c is linked, and asked for. Blocks stay where the source has them, once each, so that it knows where lanes meet again */
#define METERED (MeterOn && MeterOn())
#define METER_FLAGS \
  "-O2 -fno-tree-vectorize -fno-reorder-blocks -fno-reorder-blocks-and-partition -fno-thread-jumps -fno-tree-tail-merge " \
  "-fno-tree-loop-distribute-patterns -fsanitize=thread -fsanitize-coverage=trace-pc"
#pragma weak MeterOn
#pragma weak MeterLoads
#pragma weak MeterModule
#pragma weak MeterItem
#pragma weak MeterWait
#pragma weak MeterGroupEnds

static Emulated emulated;
static Fiber    fiber[ITEMS];
static jmp_buf  scheduler;
static int      item; /* that runs */
static Kernel  *kernel;
static void   **arguments;

/* ---- compiling ---- */

static uint64_t Hash(uint64_t h, const char *s)
{
  for (; *s; s++) h = (h ^ (unsigned char)*s) * 1099511628211u;
  return h;
}

/* Appends to a preprocessed source what calls its kernels, which __global__ marks */
static int AddKernels(const char *file)
{
  FILE  *f = fopen(file, "r+");
  char  *text, *p, names[16384] = "";
  long   size;
  size_t n;

  if (!f) return 1;
  fseek(f, 0, SEEK_END);
  size = ftell(f);
  text = calloc((size_t)size + 1, 1);
  rewind(f);
  n = fread(text, 1, (size_t)size, f);
  for (p = strstr(text, "EMULATED_KERNEL"); p && n; p = strstr(p + 1, "EMULATED_KERNEL")) {
    char name[128];

    if (sscanf(p, "EMULATED_KERNEL void %127[a-zA-Z0-9_](", name) != 1) continue;
    snprintf(names + strlen(names), sizeof(names) - strlen(names),
             "extern \"C\" void emulated_%s(void **args) { EmulatedCall(%s, args); }\nextern \"C\" void sizes_%s(std::size_t "
             "bytes[]) { EmulatedSizes(%s, bytes); }\n",
             name, name, name, name);
  }
  fseek(f, 0, SEEK_END);
  fputs(names, f);
  free(text);
  return fclose(f);
}

/* name: of the shared library that it becomes */
int EmulateCompile(const char *source, int n, const char *const *options, char name[4096])
{
  const char *folder     = getenv("FAKE_CUDA_FOLDER") ? getenv("FAKE_CUDA_FOLDER") : "/tmp",
             *cxx        = getenv("CXX") ? getenv("CXX") : "c++";
  char     defines[4096] = "", base[2048], command[32768];
  uint64_t h             = Hash(14695981039346656037u, source);
  FILE    *f;

  for (int k = 0; k < n; k++) {
    if (strncmp(options[k], "-D", 2)) continue;
    snprintf(defines + strlen(defines), sizeof(defines) - strlen(defines), " '%s'", options[k]);
  }
  h = Hash(Hash(h, defines), METERED ? METER_FLAGS : "");
  snprintf(name, 4096, "%s/%016llx.so", folder, (unsigned long long)h);
  if (!access(name, R_OK)) return 0;
  snprintf(base, sizeof(base), "%s/%016llx.%ld", folder, (unsigned long long)h, (long)getpid());
  snprintf(command, sizeof(command), "%s.in", base);
  f = fopen(command, "w");
  if (!f) return 1;
  fputs(source, f);
  fclose(f);
  snprintf(command, sizeof(command), "%s -x c++ -E -P -include %s -D__global__=EMULATED_KERNEL %s %s.in -o %s.cc", cxx, EMULATE_H,
           defines, base, base);
  if (system(command)) return 1;
  snprintf(command, sizeof(command), "%s.cc", base);
  if (AddKernels(command)) return 1;
  snprintf(command, sizeof(command),
           "%s %s -w -fPIC -ffp-contract=off -fno-strict-aliasing -DEMULATED_KERNEL= -c %s.cc -o %s.o && "
           "%s -shared %s.o -o %s.so && mv %s.so %s && rm -f %s.in %s.cc %s.o",
           cxx, METERED ? METER_FLAGS : "-O1", base, base, cxx, base, base, base, name, base, base, base);
  return system(command) != 0;
}

/* From a cubin, whose first line is the name */
void *EmulateLoad(const char *cubin)
{
  char         name[4096];
  void        *code, **them;
  char *const *shared;

  if (sscanf(cubin, "%4095[^\n]", name) != 1) return NULL;
  if (METERED) MeterLoads();
  code = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  them = code ? dlsym(code, "emulated") : NULL;
  if (them) *them = &emulated;
  else fprintf(stderr, "emulate: %s\n", dlerror());
  shared = code ? dlsym(code, "emulated_range") : NULL;
  if (shared && METERED) MeterModule(shared[0], shared[1]);
  return code;
}

void EmulateUnload(void *code)
{
  if (code) dlclose(code);
}

void *EmulateFind(void *code, const char *name, size_t bytes[])
{
  char symbol[160];
  void (*sizes)(size_t[]);

  snprintf(symbol, sizeof(symbol), "sizes_%s", name);
  *(void **)&sizes = code ? dlsym(code, symbol) : NULL;
  if (sizes) sizes(bytes);
  snprintf(symbol, sizeof(symbol), "emulated_%s", name);
  return code ? dlsym(code, symbol) : NULL;
}

/* ---- fibers ---- */

static void Leave(State state)
{
  fiber[item].state = state;
  if (!_setjmp(fiber[item].here)) _longjmp(scheduler, 1);
}

static void Wait(int warp)
{
  fiber[item].shows = warp == 2;
  Leave(warp ? WAITS_FOR_WARP : WAITS_FOR_GROUP);
}

static void Begin(void)
{
  for (;;) {
    kernel(arguments);
    Leave(DONE);
  }
}

/* Runs a work item until it waits or ends */
static void Resume(int k)
{
  Fiber *f = &fiber[k];

  item            = k;
  emulated.thread = (unsigned)k;
  if (_setjmp(scheduler)) return;
  if (f->made) _longjmp(f->here, 1);
  f->made  = 1;
  f->stack = malloc(STACK);
  getcontext(&f->start);
  f->start.uc_stack.ss_sp   = f->stack;
  f->start.uc_stack.ss_size = STACK;
  f->start.uc_link          = NULL;
  makecontext(&f->start, Begin, 0);
  setcontext(&f->start);
}

/* Lets those go on of [first, last) that wait, if all that have not ended do */
static int Release(int first, int last, State what)
{
  int waiting = 0, shows = 0;

  for (int k = first; k < last; k++) {
    if (fiber[k].state != DONE && fiber[k].state != what) return 0;
    waiting += fiber[k].state == what;
    shows |= fiber[k].state == what && fiber[k].shows;
  }
  for (int k = first; k < last; k++) {
    if (fiber[k].state == what) fiber[k].state = READY;
  }
  if (waiting && METERED) MeterWait(first, last, what == WAITS_FOR_GROUP, shows);
  return waiting;
}

/* One work group; 0 if its work items wait for ever */
static int RunGroup(int n, int down)
{
  int alive = n;

  for (int k = 0; k < n; k++) fiber[k].state = READY;
  while (alive) {
    int progress = 0;

    for (int i = 0; i < n; i++) {
      const int k = down ? n - 1 - i : i;

      if (fiber[k].state != READY) continue;
      if (METERED) MeterItem(k);
      Resume(k);
      if (METERED) MeterItem(-1);
      alive -= fiber[k].state == DONE;
      progress++;
    }
    for (int first = 0; first < n; first += 32) progress += Release(first, first + 32 < n ? first + 32 : n, WAITS_FOR_WARP);
    progress += Release(0, n, WAITS_FOR_GROUP);
    if (!progress && alive) return 0;
  }
  if (METERED) MeterGroupEnds();
  return 1;
}

/* NULL, or what went wrong */
char *EmulateRun(void *code, unsigned grid, unsigned block, unsigned shared, void **args)
{
  const char *order = getenv("FAKE_CUDA_ORDER");

  if (!code) return "not found";
  if (block > ITEMS) return "too many work items";
  *(void **)&kernel = code;
  arguments         = args;
  emulated.wait     = Wait;
  emulated.threads  = block;
  emulated.blocks   = grid;
  emulated.large    = 0;
  for (unsigned g = 0; g < grid; g++) {
    emulated.block = g;
    if (!RunGroup((int)block, order && !strcmp(order, "down"))) return "its work items wait for different things";
  }
  if (emulated.large > shared) return "its launch has less shared memory than it uses";
  return emulated.large < shared ? "its launch has more shared memory than it uses" : NULL;
}
