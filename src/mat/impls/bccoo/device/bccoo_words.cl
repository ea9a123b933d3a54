/*
  bccoo_words.cl - what the kernels of bccoo.cl, which comes after it, are made of: results, blocks, flags, the scan over work items, carries

  Source: as bccoo.cl, where its macros are explained.

  Pointers are RESTRICT in kernels only: in functions that are inlined it brings Oclgrind 21 to a halt.
*/
#define CARRY_KERNEL   0
#define CARRY_LAST     1
#define CARRY_ADJACENT 2

#if FLAG_BITS == 8
typedef uchar FLAGS;
#elif FLAG_BITS == 16
typedef ushort    FLAGS;
#else
typedef uint FLAGS;
#endif

#if CARRY == CARRY_KERNEL
typedef SCALAR SHARED;
  #define PUT(p, v) (*(p) = (v))
  #define GET(p)    (*(p))
#else
typedef REAL_WORD SHARED;
  #define PUT(p, v) REAL_PUT(p, v)
  #define GET(p)    REAL_GET(p)
#endif

#define TILES (GROUP * BUNCH) /* of a work group */

/* Result number r, complete, into the result; with slices, into the product of its slice */
INLINE void Store(GLOBAL SCALAR *y, GLOBAL const int *rows, int r, const SCALAR *sum, int m, int beta)
{
#if ROWS
  const size_t row = (size_t)rows[r] * HEIGHT;
#else
  const size_t row = (size_t)r * HEIGHT;
#endif

  UNROLL
  for (int i = 0; i < HEIGHT; i++) {
#if SLICES > 1
    y[row + i] = sum[i];
#else
    if (row + i < (size_t)m) Put(y, row + i, sum[i], beta);
#endif
  }
}

/* The product of one block, whose entries, by columns, are `stride` apart */
INLINE void Product(GLOBAL const SCALAR *value, size_t stride, GLOBAL const SCALAR *x, int column, int n, SCALAR *sum)
{
  UNROLL
  for (int i = 0; i < HEIGHT; i++) sum[i] = ZERO;
  UNROLL
  for (int j = 0; j < WIDTH; j++) {
    const size_t c = (size_t)column * WIDTH + j;
#if RAGGED
    const SCALAR xj = c < (size_t)n ? x[c] : ZERO;
#else
    const SCALAR xj = x[c];
#endif

    UNROLL
    for (int i = 0; i < HEIGHT; i++) sum[i] = sum[i] + Times(STREAM(&value[(j * HEIGHT + i) * stride]), xj);
  }
}

INLINE int IsStop(GLOBAL const FLAGS *flags, size_t place)
{
  return !(flags[place / FLAG_BITS] >> place % FLAG_BITS & 1);
}

/*
  Inclusive segmented scan of the last partial sums, where a work item with a row stop starts a segment. sums and starts have
  two halves. Returns the half with the result
*/
#if !SUBGROUPS
/* The halves take turns, so that one barrier a step is enough */
INLINE int Scan(LOCAL_POINTER SCALAR *sums, LOCAL_POINTER int *starts, int t)
{
  int turn = 0; /* the half that has the sums */

  for (int d = 1; d < GROUP; d *= 2) {
    const int here = turn * GROUP + t, there = GROUP - turn * GROUP + t; /* this work item in one half and the other */
    const int start = starts[here], joins = t >= d && !start;

    for (int i = 0; i < HEIGHT; i++)
      sums[i * 2 * GROUP + there] =
        joins ? sums[i * 2 * GROUP + here - d] + sums[i * 2 * GROUP + here] : sums[i * 2 * GROUP + here];
    starts[there] = t >= d ? start | starts[here - d] : start;
    turn          = 1 - turn;
    BARRIER;
  }
  return turn;
}
#else
/*
  In two steps: work items of a subgroup exchange registers; then what a subgroup has behind its last start goes through local
  memory to those that have none before them. Not in the paper; no GPU has run it
*/
INLINE int Scan(LOCAL_POINTER SCALAR *sums, LOCAL_POINTER int *starts, int t)
{
  const int  lane = t % SUBGROUP, subgroup = t / SUBGROUP;
  const uint votes  = SubgroupVotes(starts, GROUP, t),
             before = votes & (0xffffffffu >> (SUBGROUP - 1 - lane)); /* starts up to here */
  const int first   = before ? LAST_BIT(before) : 0; /* the lane where this work item's segment begins in its subgroup */
  SCALAR    sum[HEIGHT];

  UNROLL
  for (int i = 0; i < HEIGHT; i++) {
    sum[i] = sums[i * 2 * GROUP + t];
    for (int d = 1; d < SUBGROUP; d *= 2) {
      const SCALAR up = SubgroupUp(sums + i * 2 * GROUP + GROUP, GROUP, t, sum[i], d);

      if (lane - d >= first) sum[i] = up + sum[i];
    }
  }
  if (lane == SUBGROUP - 1) { /* the second halves have what each subgroup ends with, and whether it has a start */
    for (int i = 0; i < HEIGHT; i++) sums[i * 2 * GROUP + GROUP + subgroup] = sum[i];
    starts[GROUP + subgroup] = votes != 0;
  }
  BARRIER;
  if (!before) {
    int from = subgroup; /* the first subgroup that this segment has a part of */

    while (from > 0 && (from == subgroup || !starts[GROUP + from])) from--;
    for (int i = 0; i < HEIGHT; i++) {
      SCALAR carry = ZERO;

      for (int s = from; s < subgroup; s++) carry = carry + sums[i * 2 * GROUP + GROUP + s];
      sum[i] = carry + sum[i];
    }
  }
  for (int i = 0; i < HEIGHT; i++) sums[i * 2 * GROUP + t] = sum[i];
  BARRIER;
  return 0;
}
#endif

#if CARRY == CARRY_ADJACENT
/*
  Adjacent synchronisation (3.2.3), by one work item of each work group: waits for the one before, of which it gets what comes `before`, and
  tells the one after what comes before that: `tail`, whose HEIGHT sums are `stride` apart, or, if it only `joins` them, both. Who has a
  row stop breaks the chain: the next one need not wait for what comes here
*/
INLINE void Adjacent(GLOBAL SHARED *tails, GLOBAL volatile uint *sync, int g, uint epoch, int joins,
                     LOCAL_POINTER const SCALAR *tail, int stride, LOCAL_POINTER SCALAR *before)
{
  for (int i = 0; i < HEIGHT; i++) before[i] = ZERO;
  if (!joins) {
    for (int i = 0; i < HEIGHT; i++) PUT(&tails[(size_t)g * HEIGHT + i], tail[i * stride]);
    FENCE;
    ATOMIC_WRITE(&sync[1 + g], epoch);
  }
  if (g > 0) {
    while (ATOMIC_READ(&sync[g]) != epoch) {}
    FENCE;
    for (int i = 0; i < HEIGHT; i++) before[i] = GET(&tails[(size_t)(g - 1) * HEIGHT + i]);
  }
  if (joins) {
    for (int i = 0; i < HEIGHT; i++) PUT(&tails[(size_t)g * HEIGHT + i], before[i] + tail[i * stride]);
    FENCE;
    ATOMIC_WRITE(&sync[1 + g], epoch);
  }
}
#endif

/* Number of the first result of work group g */
INLINE int First(GLOBAL const int *entries, int g, int steps, int ntiles)
{
  const size_t tile = (size_t)g * steps * TILES;

  return entries[tile < (size_t)ntiles ? tile : (size_t)ntiles];
}

#if CARRY != CARRY_ADJACENT
/* The first result of work group g, complete: what the work group has of it, and the tails before */
INLINE void Carry(GLOBAL const int *entries, GLOBAL const int *rows, GLOBAL SHARED *heads, GLOBAL SHARED *tails, GLOBAL SCALAR *y,
                  int g, int steps, int ntiles, int m, int beta)
{
  const int first = First(entries, g, steps, ntiles);
  int       from  = g;
  SCALAR    sum[HEIGHT];

  if (first == First(entries, g + 1, steps, ntiles)) return; /* no row stop, so no result */
  while (from > 0 && First(entries, from - 1, steps, ntiles) == first) from--;
  if (from > 0) from--; /* the last work group with a row stop before, whose tail is the first part of the sum */
  for (int i = 0; i < HEIGHT; i++) sum[i] = ZERO;
  for (; from < g; from++) {
    for (int i = 0; i < HEIGHT; i++) sum[i] = sum[i] + GET(&tails[(size_t)from * HEIGHT + i]);
  }
  for (int i = 0; i < HEIGHT; i++) sum[i] = sum[i] + GET(&heads[(size_t)g * HEIGHT + i]);
  Store(y, rows, first, sum, m, beta);
}
#endif

#if STRATEGY == 1
/* Intermediate sum k of this work item: in registers, or in local memory. Local memory of ONLINE has a gap every 32 places, against bank conflicts */
  #if ONLINE
    #define LOCAL_SIZE      (GROUP * TILE + GROUP * TILE / 32 + 1)
    #define LOCAL_PLACE(q)  ((q) + (q) / 32)
    #define LOCAL_SUM(k, i) within[(i)*LOCAL_SIZE + LOCAL_PLACE(t * TILE + (k))]
  #elif TILE > REGISTERS
    #define LOCAL_SUM(k, i) within[(((k)-REGISTERS) * HEIGHT + (i)) * GROUP + t]
  #else
    #define LOCAL_SUM(k, i) sum[k][i]
  #endif
  #define READ_SUM(k, i) ((k) < REGISTERS ? sum[k][i] : LOCAL_SUM(k, i))
  #define WRITE_SUM(k, i, v) \
    if ((k) < REGISTERS) sum[k][i] = v; \
    else LOCAL_SUM(k, i) = v
#endif
