/*
  calibrate_memory.c - what is read over and over: how much of the last cache a process has, and how many cores the memory serves

  Rates are those of products (calibrate.c). Here nothing else is done than to read, since what is looked for is where that
  becomes slower.
*/
#include "tune.h"
#include <petsctime.h>
#include <math.h>
#if defined(_OPENMP)
  #include <omp.h>
#endif

#define CALIBRATE_SIZES  1.414 /* the next size that is read over and over is so many times as large */
#define CALIBRATE_OTHERS 4     /* times as many bytes are read in between, ... */
#define CALIBRATE_ARRAY  1e9   /* ... of so many at most */
#define CALIBRATE_SLOWER 1.2   /* how much slower memory is than the last cache, at least, if one can tell */
#define CALIBRATE_STREAM 8e6   /* bytes that each of many cores reads */

/* What threads read, each an equal part */
typedef struct {
  PetscInt        ntasks;
  size_t          n;
  const uint64_t *array; /* [n] */
} Streams;

/* Reads every `step`-th of words [first, end), a constant step */
static inline void ReadWords(const uint64_t array[], size_t first, size_t end, size_t step)
{
  uint64_t sum = 0;

  for (size_t k = first; k < end; k += step) sum += array[k];
  __asm__ volatile("" : : "r"(sum)); /* so that nothing is left out */
}

static void StreamsRead(void *context, PetscInt task)
{
  const Streams *streams = (const Streams *)context;

  ReadWords(streams->array, SpmvShare(streams->n, task, streams->ntasks), SpmvShare(streams->n, task + 1, streams->ntasks), 1);
}

static void RunStreams(void *context)
{
  SpmvRun(((const Streams *)context)->ntasks, StreamsRead, context);
}

/*
  How many cores may read memory at once, each as fast as products of one alone do: from what all of them read together, which is
  as assumed where this process may not run on all
*/
PetscErrorCode SpmvCalibrateStreams(PetscInt part, SpmvMachine *machine)
{
#if defined(_OPENMP)
  SPMV_DESTROY_BY(SpmvFree) uint64_t *array   = NULL;
  Streams                             streams = {.ntasks = SpmvMachineProcessors()};
  PetscLogDouble                      seconds;

  PetscFunctionBegin;
  if (streams.ntasks <= 1 || omp_get_num_procs() < streams.ntasks) PetscFunctionReturn(PETSC_SUCCESS);
  streams.n = (size_t)PetscMax(CALIBRATE_STREAM * streams.ntasks, 4 * machine->last) / sizeof(uint64_t) / (size_t)part;
  PetscCall(SpmvAllocShared(streams.n * sizeof(uint64_t), streams.ntasks, &array));
  streams.array = array;
  PetscCall(SpmvCalibrateTime(RunStreams, &streams, &seconds));
  machine->streams =
    PetscMax(1, (PetscLogDouble)(streams.n * sizeof(uint64_t)) / (1e9 * seconds) * machine->byte[SPMV_LEVELS - 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
#else
  (void)part;
  (void)machine;
  return PETSC_SUCCESS;
#endif
}

/*
  Seconds that a byte takes of so many that are read twice, the second time, after CALIBRATE_OTHERS times as many others; in the
  mean, since what others leave of a cache changes. One word of each line: what takes longest is to have the line
*/
static PetscErrorCode MeasureLines(const uint64_t array[], PetscLogDouble bytes, PetscLogDouble *each)
{
  const size_t   n = (size_t)bytes / sizeof(*array), step = SPMV_CACHE_LINE / sizeof(*array);
  PetscLogDouble begin, start, now, sum = 0;
  PetscInt       times = 0;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  do {
    ReadWords(array, n, (1 + CALIBRATE_OTHERS) * n, step);
    ReadWords(array, 0, n, step);
    PetscCall(PetscTime(&start));
    ReadWords(array, 0, n, step);
    PetscCall(PetscTime(&now));
    sum += now - start;
    times++;
  } while (times < SPMV_CALIBRATE_BATCHES || now - begin < SPMV_CALIBRATE_SECONDS);
  *each = sum / ((PetscLogDouble)times * bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  How much of the last cache products of one process find there, which may be far less than the system tells, and is less where
  other things are read between two products, as a solver does: of 480 MiB on a virtual machine, whose cores have a third of it
  near them, 145 MB that are read over and over come from it by half, but 60 MB among others, by products of finite element
  matrices as well (Granite Rapids). From the size at which a byte takes as long as the mean of one from the cache and one from
  memory; as assumed where these take the same time
*/
PetscErrorCode SpmvCalibrateLast(PetscInt part, SpmvMachine *machine)
{
  const PetscLogDouble least = machine->cache[SPMV_LEVELS - 2] / part;
  const PetscLogDouble most  = PetscMax(least, PetscMin(2 * machine->last, CALIBRATE_ARRAY / (1 + CALIBRATE_OTHERS)) / part);
  const size_t         all   = (1 + CALIBRATE_OTHERS) * (size_t)most;
  SPMV_DESTROY_BY(SpmvFree) uint64_t *array = NULL;
  PetscLogDouble                      bytes = least, each, before, half, memory;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(all, &array));
  PetscCall(PetscMemzero(array, all)); /* else all of it is one page of zeros */
  PetscCall(MeasureLines(array, most, &memory));
  PetscCall(MeasureLines(array, least, &each));
  if (memory < CALIBRATE_SLOWER * each) PetscFunctionReturn(PETSC_SUCCESS);
  half   = (each + memory) / 2;
  before = each;
  while (each < half && CALIBRATE_SIZES * bytes < most) {
    before = each;
    bytes *= CALIBRATE_SIZES;
    PetscCall(MeasureLines(array, bytes, &each));
  }
  if (each > half) bytes /= pow(CALIBRATE_SIZES, (each - half) / (each - before));
  PetscCall(PetscInfo(NULL, "half of %g bytes come from the last cache\n", (double)bytes));
  machine->last = part * (least + (bytes - least) / sqrt(0.5)); /* as EstimateLevel() has it */
  PetscFunctionReturn(PETSC_SUCCESS);
}
