/*
  tpspmv.cl - the two phases of a tpSpMV product on a device

  Source: Chen, Xiao, Wu, Tang, Li, Information Sciences, 2020: algorithm 3 (first phase), algorithm 4 (second phase), 5.2 (aligned
  slices), 5.3 (pipelining: four entries are asked for before the first is needed). A CPE goes through all slices of its tile and
  has x in its local memory. Here 32 work items have a strip of 32 pairs, tile after tile, so that there is as much to do at once
  as there are pairs, and x comes from the cache that all share. Where x is staged a work group stands for a CPE, its local memory
  for the LDM: it has the chunk that a tile and a slice share.

    GROUP    work items of a work group
    STAGE    scalars of local memory that the x of a tile is staged in; 0: the cache is counted on
    DIRECT   one tile: sums go to y, but for rows with several
    REMOVED  empty columns are removed: x is packed first (5.1)
    ADDERS   work items of a row in the second phase
    MANY     partial sums of a row that these are to add up, at most; a work group has a row with more
*/
#define HEIGHT 32 /* pairs of a strip */
#define CHUNK  3  /* integers of a chunk, as of TpspmvStripChunk */
#define TILE   0
#define END    1
#define STRIPS 2

#if STAGE
  #define XSPACE LOCAL_POINTER
#else
  #define XSPACE GLOBAL
#endif

DEFINE_DOT(DotNarrow, ushort, XSPACE)
DEFINE_DOT(DotWide, int, XSPACE)

/* The sum of pair number `lane` of a strip, which may have none there; x begins with column `tile` */
INLINE void FirstOf(GLOBAL const SCALAR *values, GLOBAL const ushort *narrow, GLOBAL const int *wide, GLOBAL const int4 *strips,
                    GLOBAL const uchar *lengths, GLOBAL const int *targets, XSPACE const SCALAR *x, int tile, GLOBAL SCALAR *y,
                    GLOBAL SCALAR *partial, int beta, size_t s, int lane)
{
  const int4   strip = strips[s]; /* a TpspmvStrip: first, column, base, least */
  const size_t pair  = s * HEIGHT + lane;
  const size_t first = (size_t)(uint)strip.x * HEIGHT + lane, column = (size_t)(uint)strip.y * HEIGHT + lane;
  const int    length = (int)lengths[pair];
  SCALAR       sum;

  if (strip.z >= 0) sum = DotNarrow(values + first, narrow + column, x, strip.z - tile, HEIGHT, strip.w, length);
  else sum = DotWide(values + first, wide + column, x, -1 - strip.z - tile, HEIGHT, strip.w, length);
  if (length) {
#if DIRECT
    const int target = targets[pair];

    if (target >= 0) Put(y, (size_t)target, sum, beta);
    else partial[-1 - target] = sum;
#else
    partial[pair] = sum;
#endif
  }
}

/* First phase: a work item for each pair; of staged tiles a work group for each chunk, whose strips take turns */
KERNEL(GROUP)
void tpspmv_first(GLOBAL const SCALAR *RESTRICT values, GLOBAL const ushort *RESTRICT narrow, GLOBAL const int *RESTRICT wide,
                  GLOBAL const int *RESTRICT chunks, GLOBAL const int4 *RESTRICT strips, GLOBAL const uchar *RESTRICT lengths,
                  GLOBAL const int *RESTRICT targets, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, GLOBAL SCALAR *partial,
                  int nstrips, int beta)
{
#if STAGE
  LOCAL_LARGE(SCALAR, staged, STAGE);
  GLOBAL const int *chunk = chunks + (size_t)GROUP_ID * CHUNK;
  const int         t = LOCAL_ID, tile = chunk[TILE], width = chunk[END] - tile, end = chunk[CHUNK + STRIPS];

  for (int c = t; c < width; c += GROUP) staged[c] = x[tile + c];
  BARRIER;
  for (int s = chunk[STRIPS] + t / HEIGHT; s < end; s += GROUP / HEIGHT)
    FirstOf(values, narrow, wide, strips, lengths, targets, staged, tile, y, partial, beta, (size_t)s, t % HEIGHT);
#else
  const size_t s = GLOBAL_ID / HEIGHT;

  if (s < (size_t)nstrips)
    FirstOf(values, narrow, wide, strips, lengths, targets, x, 0, y, partial, beta, s, (int)(GLOBAL_ID % HEIGHT));
#endif
}

#if DIRECT
  #define ROW(k)   (size_t) rows[k]
  #define PLACE(n) n
#else
  #define ROW(k)   k
  #define PLACE(n) places[n]
#endif

/* The partial sums at every stride-th place from n to before end */
INLINE SCALAR Added(GLOBAL const int *places, GLOBAL const SCALAR *partial, int n, int end, int stride)
{
  SCALAR part[4], sum = ZERO;
  int    place[4];

  ROLLED for (; n < end; n += 4 * stride)
  {
    UNROLL for (int k = 0; k < 4; k++) place[k] = n + k * stride < end ? PLACE(n + k * stride) : 0;
    UNROLL for (int k = 0; k < 4; k++) part[k]  = n + k * stride < end ? partial[place[k]] : ZERO;
    UNROLL for (int k = 0; k < 4; k++) sum      = sum + part[k];
  }
  return sum;
}

/* Second phase: a work item, or several, for each row that has partial sums, which lie in the order of tiles */
KERNEL(GROUP)
void tpspmv_second(GLOBAL const int *RESTRICT rows, GLOBAL const int *RESTRICT firsts, GLOBAL const int *RESTRICT places,
                   GLOBAL const SCALAR *RESTRICT partial, GLOBAL SCALAR *y, int nsums, int beta)
{
  const size_t k    = GLOBAL_ID / ADDERS;
  const int    lane = (int)(GLOBAL_ID % ADDERS), first = k < (size_t)nsums ? firsts[k] : 0;
  const int    count = k < (size_t)nsums ? firsts[k + 1] - first : 0;
  const int    mine  = k < (size_t)nsums && count <= MANY;
  SCALAR       sum   = ZERO;

  if (mine) sum = Added(places, partial, first + lane, first + count, ADDERS);
#if ADDERS > 1
  LOCAL SCALAR lanes[GROUP + GROUP / ADDERS];
  const int    t = LOCAL_ID + LOCAL_ID / ADDERS;

  lanes[t] = sum;
  BARRIER;
  if (lane == 0) { UNROLL for (int n = 1; n < ADDERS; n++) sum = sum + lanes[t + n]; }
#endif
  if (mine && lane == 0) Put(y, ROW(k), sum, beta);
}

/* A work group for each row with more: each work item adds up every GROUP-th partial sum, then halves are added */
KERNEL(GROUP)
void tpspmv_many(GLOBAL const int *RESTRICT many, GLOBAL const int *RESTRICT rows, GLOBAL const int *RESTRICT firsts,
                 GLOBAL const int *RESTRICT places, GLOBAL const SCALAR *RESTRICT partial, GLOBAL SCALAR *y, int beta)
{
  LOCAL SCALAR sum[GROUP];
  const int    t = LOCAL_ID;
  const size_t k = (size_t)many[GROUP_ID];

  sum[t] = Added(places, partial, firsts[k] + t, firsts[k + 1], GROUP);
  BARRIER;
  for (int reach = GROUP / 2; reach > 0; reach /= 2) {
    if (t < reach) sum[t] = sum[t] + sum[t + reach];
    BARRIER;
  }
  if (t == 0) Put(y, ROW(k), sum[0], beta);
}

#if REMOVED
/* x without what is removed */
KERNEL(GROUP)
void tpspmv_pack(GLOBAL const int *RESTRICT left, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *packed, int nused)
{
  if (GLOBAL_ID < (size_t)nused) packed[GLOBAL_ID] = x[left[GLOBAL_ID]];
}
#endif
