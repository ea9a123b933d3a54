/*
  tpspmv.cl - the two phases of a tpSpMV product on a device

  Source: Chen, Xiao, Wu, Tang, Li, Information Sciences, 2020: algorithm 3 (first phase), algorithm 4 (second phase). A work
  group stands for a CPE, its local memory for the LDM. A CPE goes through all slices of its tile; here a work group has the
  chunk that a tile and a slice share, so that there are as many as a GPU wants, and stages x for it alone.

    GROUP    work items of a work group
    STAGE    scalars of local memory that the x of a tile is staged in; 0: the cache is counted on
    DIRECT   one tile: sums go to y, but for rows with several
    NARROW   columns are uint16
    REMOVED  empty columns are removed: x is packed first (5.1)
*/
#define CHUNK    5 /* integers of a chunk, as of TpspmvStepChunk */
#define TILE     0
#define TILE_END 1
#define BASE     2
#define PAIR     3
#define STEP     4

#if NARROW
typedef ushort COLUMN;
#else
typedef int COLUMN;
#endif

/* First phase: a work group for each chunk, a work item for every GROUP-th of its pairs */
KERNEL(GROUP)
void tpspmv_first(GLOBAL const SCALAR *RESTRICT values, GLOBAL const COLUMN *RESTRICT columns, GLOBAL const int *RESTRICT chunks,
                  GLOBAL const uint *RESTRICT steps, GLOBAL const int *RESTRICT targets, GLOBAL const SCALAR *RESTRICT x,
                  GLOBAL SCALAR *y, GLOBAL SCALAR *partial, int beta)
{
  GLOBAL const int *chunk = chunks + (size_t)GROUP_ID * CHUNK;
  const int         t = LOCAL_ID, first = chunk[PAIR], pairs = chunk[CHUNK + PAIR] - first, end = chunk[CHUNK + STEP];
#if STAGE
  LOCAL SCALAR staged[STAGE];
  const int    tile = chunk[TILE], base = chunk[BASE] - tile;

  for (int c = t; c < chunk[TILE_END] - tile; c += GROUP) staged[c] = x[tile + c];
  BARRIER;
  #define X(c) staged[c]
#else
  const int base = chunk[BASE];
  #define X(c) x[c]
#endif

  for (int p = t; p < pairs; p += GROUP) {
    SCALAR sum = ZERO;

    for (int k = chunk[STEP]; k < end && (uint)p < steps[k + 1] - steps[k]; k++) {
      const size_t place = (size_t)steps[k] + p;

      sum = sum + Times(STREAM(&values[place]), X(base + (int)STREAM(&columns[place])));
    }
#if DIRECT
    const int target = targets[first + p];

    if (target >= 0) Put(y, (size_t)target, sum, beta);
    else partial[-1 - target] = sum;
#else
    partial[first + p] = sum;
#endif
  }
}

/* Second phase: a work item for each row that has partial sums, which are added in the order of tiles */
KERNEL(GROUP)
void tpspmv_second(GLOBAL const int *RESTRICT rows, GLOBAL const int *RESTRICT firsts, GLOBAL const int *RESTRICT places,
                   GLOBAL const SCALAR *RESTRICT partial, GLOBAL SCALAR *y, int nsums, int beta)
{
  const size_t k = GLOBAL_ID;
#if DIRECT
  #define ROW(k)     (size_t) rows[k]
  #define PARTIAL(n) partial[n]
#else
  #define ROW(k)     k
  #define PARTIAL(n) partial[places[n]]
#endif

  if (k < (size_t)nsums) {
    SCALAR sum = ZERO;

    for (int n = firsts[k]; n < firsts[k + 1]; n++) sum = sum + PARTIAL(n);
    Put(y, ROW(k), sum, beta);
  }
}

#if REMOVED
/* x without what is removed */
KERNEL(GROUP)
void tpspmv_pack(GLOBAL const int *RESTRICT left, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *packed, int nused)
{
  if (GLOBAL_ID < (size_t)nused) packed[GLOBAL_ID] = x[left[GLOBAL_ID]];
}
#endif
