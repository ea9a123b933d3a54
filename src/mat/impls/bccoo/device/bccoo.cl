/*
  bccoo.cl - products of a BCCOO storage on a device

  Source: Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, sections 3.2.1 to 3.2.3. A work group has a
  work group tile of GROUP thread tiles, a work item a thread tile of TILE blocks. Each work item adds up its own blocks;
  what follows its last row stop is its last partial sum; a segmented scan of these gives every work item what comes before
  its first row stop; what follows the last row stop of a work group is its tail, the carry into the work groups after it.

    STRATEGY 1  all intermediate sums of a tile are kept, the first REGISTERS in registers, the others in local memory
    STRATEGY 2  sums that are complete go to a result cache of CACHE x GROUP block rows, which is written in one go
    STRATEGY 3  for devices with vectors: a work item has BUNCH tiles side by side, one in each lane of BUNCH x HEIGHT sums, and writes
                what is complete; at the end it joins its lanes, and is from then on like one with a single tile. BUNCH is 1 otherwise
    ONLINE      blocks lie in row order; they are read side by side and their products transposed in local memory
                (strategy 1). Otherwise they were stored transposed: block k of all work items side by side
    CARRY 0     a second kernel, bccoo_carry, adds the tails
    CARRY 1     the work group that ends last does
    CARRY 2     adjacent synchronisation: each work group waits for the one before. For GPUs, as in the paper: neither API promises
                that work groups that started go on, but GPUs run what started to its end. Numbers are given to work groups in the order
                in which they start. Tests run it on PoCL, whose work groups are run to their end by threads of the system
    PERSISTENT  a work group has `steps` work group tiles one after the other, the last one perhaps fewer, and carries from one to the next
                itself: there are as many work groups as the device runs at a time. Not in the paper; no GPU has run it
    SUBGROUPS   the segmented scan goes through registers inside subgroups, and over the subgroups of a work group through local
                memory. Otherwise all of it goes through local memory, a barrier a step
    HEIGHT, WIDTH, SLICES; COLUMNS 1 int32, 2 uint16, 3 differences, ESCAPES if some are escaped; FLAG_BITS
    ROWS        non-empty block rows are listed; RAGGED: the last block column is narrower than WIDTH

  The host has strategy 3 as well, with vectors of its own (bccoo_lanes.h).

  We differ, or put a misprint right:
  - Algorithm 1 reads last_partial_sums[-1] in work item 0; nothing comes before it but the work group's carry.
  - Algorithm 2 adds the carry to result_cache[0] even if the work group has no row stop, whose entry 0 is then nobody's; here
    the carry goes to the work item that has the first row stop. Sums at a work item's first row stop wait in a register until
    they are complete, rather than in the cache or, past its end, in the result. It has no barrier between the last sums that go
    to the cache and the loop that writes the cache to the result.
  - Algorithm 3, of strategy 3, has its loop over the tiles of a bunch inside "i != 0": work item 0 loses their carry. It adds carries to
    results that were written; here what a lane has at its first row stop waits in registers, so that each result is written once.
  - Whether the scan can be skipped (each work item has a row stop) depends on the pattern only, so it is known when the
    storage is built: an array has it, no work group has to find out.
  - Sync_flag holds the number of the product, so that it is not cleared between products.
  - x goes through the cache for what is only read, where there is one: Table I's texture memory is no knob.

  What the kernels are made of is in bccoo_words.cl.

  Between work groups, only tails, heads and flags are read while they may be written, by exchange in one piece.
*/
KERNEL(GROUP)
void bccoo_product(GLOBAL const SCALAR *RESTRICT values, GLOBAL const COLUMN *RESTRICT columns,
                   GLOBAL const FLAGS *RESTRICT flags, GLOBAL const int *RESTRICT entries, GLOBAL const int *RESTRICT bases,
                   GLOBAL const int *RESTRICT escaped, GLOBAL const int *RESTRICT escapes, GLOBAL const int *RESTRICT rows,
                   GLOBAL const uchar *RESTRICT scans, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, GLOBAL SHARED *heads,
                   GLOBAL SHARED *tails, GLOBAL volatile uint *sync, int m, int n, int ngroups, int steps, int ntiles, int beta,
                   uint epoch)
{
  LOCAL SCALAR sums[2 * HEIGHT * GROUP]; /* last_partial_sums, twice */
  LOCAL int    starts[2 * GROUP];
#if CARRY != CARRY_KERNEL
  LOCAL int told; /* by work item 0 to the others */
#endif
#if CARRY == CARRY_ADJACENT
  LOCAL SCALAR before[HEIGHT]; /* pre_partial_sum */
#endif
#if PERSISTENT
  LOCAL SCALAR kept[HEIGHT],
    carry[HEIGHT]; /* the first result of the work group; what comes before this tile since the last row stop */
#endif
#if STRATEGY == 1 && ONLINE
  LOCAL SCALAR within[HEIGHT * LOCAL_SIZE];
#elif STRATEGY == 1 && TILE > REGISTERS
  LOCAL SCALAR within[(TILE - REGISTERS) * HEIGHT * GROUP];
#elif STRATEGY == 2
  LOCAL SCALAR cache[CACHE * GROUP * HEIGHT]; /* result_cache */
#endif
  const int t = LOCAL_ID;
#if CARRY == CARRY_ADJACENT
  const int group = Ticket(&sync[0], &told, ngroups);
#else
  const int    group = GROUP_ID;
#endif
#if PERSISTENT
  const int begin = group * steps, end = begin + steps < ntiles / TILES ? begin + steps : ntiles / TILES;

  if (t == 0) {
    for (int i = 0; i < HEIGHT; i++) carry[i] = ZERO;
  }
  for (int g = begin; g < end; g++) {
    BARRIER; /* all have read what the tile before left in local memory */
#else
  const int    g     = group;
#endif
    const size_t tile   = ((size_t)g * GROUP + t) * BUNCH; /* the first of this work item's */
    const int    first  = entries[(size_t)g * TILES];      /* number of this work group's first result */
    int          result = entries[tile], turn = 0, seen = 0;
    SCALAR       last[HEIGHT], head[HEIGHT]; /* the last partial sum; the sum at the first row stop */
#if COLUMNS == 3 && STRATEGY != 3
    int column = bases[tile];
  #if ESCAPES
    int escape = escapes[tile];
  #endif
#endif

#define NEXT_FIRST entries[((size_t)g + 1) * TILES] /* of the next work group's */
#if ONLINE
  #define PLACE(k) (tile * TILE + (k))
#elif STRATEGY == 3
  #define PLACE(k) (tile * TILE + (k)*BUNCH)
#else
  #define PLACE(k) (((size_t)g * TILE + (k)) * GROUP + t)
#endif
#if COLUMNS != 3
  #define NEXT_COLUMN(place) const int column = STREAM(&columns[place])
#elif ESCAPES
  #define NEXT_COLUMN(place) \
    const int difference = STREAM(&columns[place]); \
    column               = difference == -1 ? escaped[escape++] : column + difference
#else
  #define NEXT_COLUMN(place) column += STREAM(&columns[place])
#endif

    UNROLL
    for (int i = 0; i < HEIGHT; i++) last[i] = head[i] = ZERO;

#if STRATEGY == 1
    SCALAR sum[REGISTERS > 0 ? REGISTERS : 1][HEIGHT]; /* intermediate_sums */
  #if ONLINE
    UNROLL
    for (int k = 0; k < TILE; k++) {
      const size_t place = ((size_t)g * TILE + k) * GROUP + t;
      SCALAR       p[HEIGHT];

      NEXT_COLUMN(place);
      Product(values + place * ENTRIES, 1, x, column, n, p);
      for (int i = 0; i < HEIGHT; i++) within[i * LOCAL_SIZE + LOCAL_PLACE(k * GROUP + t)] = p[i];
    }
    BARRIER;
    UNROLL
    for (int k = 0; k < REGISTERS; k++) {
      UNROLL
      for (int i = 0; i < HEIGHT; i++) sum[k][i] = LOCAL_SUM(k, i);
    }
  #else
    UNROLL
    for (int k = 0; k < TILE; k++) { /* all of the tile is read before the first branch on a flag */
      SCALAR p[HEIGHT];

      NEXT_COLUMN(PLACE(k));
      Product(values + (PLACE(k) - t) * ENTRIES + t, GROUP, x, column, n, p);
      UNROLL
      for (int i = 0; i < HEIGHT; i++) { WRITE_SUM(k, i, p[i]); }
    }
  #endif
    UNROLL
    for (int k = 0; k < TILE; k++) { /* sequential segmented scan */
      const int stop = IsStop(flags, PLACE(k));

      UNROLL
      for (int i = 0; i < HEIGHT; i++) {
        last[i] = last[i] + READ_SUM(k, i);
        WRITE_SUM(k, i, last[i]);
        if (stop && !seen) head[i] = last[i];
        if (stop) last[i] = ZERO;
      }
      seen |= stop;
    }
#elif STRATEGY == 3
  SCALAR       lane[BUNCH][HEIGHT], lead[BUNCH][HEIGHT]; /* of each tile: the last partial sum; the sum at the first row stop */
  int          at[BUNCH], met[BUNCH];                    /* number of its next result; whether it had a row stop */
  #if COLUMNS == 3
  int          from[BUNCH];                              /* its column */
    #if ESCAPES
  int          escape[BUNCH];
    #endif
  #endif

  UNROLL
  for (int l = 0; l < BUNCH; l++) {
    for (int i = 0; i < HEIGHT; i++) lane[l][i] = lead[l][i] = ZERO;
    at[l]     = entries[tile + l];
    met[l]    = 0;
  #if COLUMNS == 3
    from[l]   = bases[tile + l];
    #if ESCAPES
    escape[l] = escapes[tile + l];
    #endif
  #endif
  }
  for (int k = 0; k < TILE; k++) {
    SCALAR p[BUNCH][HEIGHT];

    UNROLL
    for (int l = 0; l < BUNCH; l++) { /* all of a step is read before the first branch on a flag */
  #if COLUMNS != 3
      const int column = STREAM(&columns[PLACE(k) + l]);
  #else
      const int difference = STREAM(&columns[PLACE(k) + l]);
    #if ESCAPES
      const int column     = difference == -1 ? escaped[escape[l]++] : from[l] + difference;
    #else
      const int column = from[l] + difference;
    #endif

      from[l] = column;
  #endif
      Product(values + PLACE(k) * ENTRIES + l, BUNCH, x, column, n, p[l]);
    }
    UNROLL
    for (int l = 0; l < BUNCH; l++) {
      UNROLL
      for (int i = 0; i < HEIGHT; i++) lane[l][i] = lane[l][i] + p[l][i];
      if (IsStop(flags, PLACE(k) + l)) {
        if (met[l]) Store(y, rows, at[l], lane[l], m, beta);
        for (int i = 0; i < HEIGHT; i++) {
          if (!met[l]) lead[l][i] = lane[l][i];
          lane[l][i] = ZERO;
        }
        met[l] = 1;
        at[l]++;
      }
    }
  }
  UNROLL
  for (int l = 0; l < BUNCH;
       l++) { /* algorithm 3, lines 10 to 12: what the tiles before left goes to this one's first row stop */
    for (int i = 0; i < HEIGHT; i++) lead[l][i] = last[i] + lead[l][i];
    if (met[l] && seen) Store(y, rows, entries[tile + l], lead[l], m, beta);
    for (int i = 0; i < HEIGHT; i++) {
      if (met[l] && !seen) head[i] = lead[l][i];
      last[i] = met[l] ? lane[l][i] : last[i] + lane[l][i];
    }
    seen |= met[l];
  }
#else
  for (int start = 0; start < TILE; start += CHUNK) {
    SCALAR p[CHUNK][HEIGHT];

    UNROLL
    for (int k = 0; k < CHUNK; k++) { /* all of the chunk is read before the first branch on a flag */
      NEXT_COLUMN(PLACE(start + k));
      Product(values + (PLACE(start + k) - t) * ENTRIES + t, GROUP, x, column, n, p[k]);
    }
    UNROLL
    for (int k = 0; k < CHUNK; k++) {
      UNROLL
      for (int i = 0; i < HEIGHT; i++) last[i] = last[i] + p[k][i];
      if (IsStop(flags, PLACE(start + k))) {
        if (!seen) {
          for (int i = 0; i < HEIGHT; i++) head[i] = last[i];
        } else if (result - first < CACHE * GROUP) {
          for (int i = 0; i < HEIGHT; i++) cache[(result - first) * HEIGHT + i] = last[i];
        } else Store(y, rows, result, last, m, beta);
        for (int i = 0; i < HEIGHT; i++) last[i] = ZERO;
        seen = 1;
        result++;
      }
    }
  }
#endif

    for (int i = 0; i < HEIGHT; i++) sums[i * 2 * GROUP + t] = last[i];
    starts[t] = seen;
    BARRIER;
    UNIFORM_IF(scans[g])
    {
      turn = Scan(sums, starts, t);
    }

#define SCANNED(t, i) sums[(i)*2 * GROUP + turn * GROUP + (t)]

#if PERSISTENT
  #define FIRST_RESULT(sum) \
    for (int i = 0; i < HEIGHT; i++) sum[i] = carry[i] + sum[i]; \
    if (first > First(entries, group, steps, ntiles)) Store(y, rows, first, sum, m, beta); \
    else { \
      for (int i = 0; i < HEIGHT; i++) kept[i] = sum[i]; \
    }
#elif CARRY == CARRY_ADJACENT
  if (t == 0) Adjacent(tails, sync, group, epoch, NEXT_FIRST == first, &SCANNED(GROUP - 1, 0), 2 * GROUP, before);
  BARRIER;
  #define FIRST_RESULT(sum) \
    for (int i = 0; i < HEIGHT; i++) sum[i] = before[i] + sum[i]; \
    Store(y, rows, first, sum, m, beta)
#else
  if (t == 0) {
    for (int i = 0; i < HEIGHT; i++) PUT(&tails[(size_t)group * HEIGHT + i], SCANNED(GROUP - 1, i));
  }
  #define FIRST_RESULT(sum) \
    for (int i = 0; i < HEIGHT; i++) PUT(&heads[(size_t)group * HEIGHT + i], sum[i])
#endif

    /* Algorithms 1 and 2: what comes before the first row stop of this work item */
    result = entries[tile];
    if (seen) {
      if (t > 0) {
        for (int i = 0; i < HEIGHT; i++) head[i] = SCANNED(t - 1, i) + head[i];
      }
      if (result == first) {
        FIRST_RESULT(head);
      }
#if STRATEGY == 2
      else if (result - first < CACHE * GROUP) {
        for (int i = 0; i < HEIGHT; i++) cache[(result - first) * HEIGHT + i] = head[i];
      }
#endif
      else
        Store(y, rows, result, head, m, beta);
    }
#if STRATEGY == 1
    seen = 0;
    UNROLL
    for (int k = 0; k < TILE; k++) { /* the other row stops: their sums are complete */
      if (IsStop(flags, PLACE(k))) {
        UNROLL
        for (int i = 0; i < HEIGHT; i++) head[i] = READ_SUM(k, i);
        if (seen) Store(y, rows, result, head, m, beta);
        seen = 1;
        result++;
      }
    }
#elif STRATEGY == 2
  BARRIER;
  const int results = NEXT_FIRST - first, cached = (results < CACHE * GROUP ? results : CACHE * GROUP) * HEIGHT;

  for (int q = HEIGHT + t; q < cached; q += GROUP) { /* but the first; side by side where no block row is empty */
  #if ROWS
    const size_t row = (size_t)rows[first + q / HEIGHT] * HEIGHT + q % HEIGHT;
  #else
    const size_t row = (size_t)first * HEIGHT + q;
  #endif

  #if SLICES > 1
    y[row]           = cache[q];
  #else
    if (row < (size_t)m) Put(y, row, cache[q], beta);
  #endif
  }
#endif

#if PERSISTENT
    BARRIER;
    if (t == 0) {
      for (int i = 0; i < HEIGHT; i++) carry[i] = NEXT_FIRST > first ? SCANNED(GROUP - 1, i) : carry[i] + SCANNED(GROUP - 1, i);
    }
  }
  if (t == 0) {
    const int first = First(entries, group, steps, ntiles), next = First(entries, group + 1, steps, ntiles);
  #if CARRY == CARRY_ADJACENT
    SCALAR sum[HEIGHT];

    Adjacent(tails, sync, group, epoch, next == first, carry, 1, before);
    for (int i = 0; i < HEIGHT; i++) sum[i] = next > first ? before[i] + kept[i] : ZERO;
    if (next > first) Store(y, rows, first, sum, m, beta);
  #else
    for (int i = 0; i < HEIGHT; i++) {
      PUT(&tails[(size_t)group * HEIGHT + i], carry[i]);
      if (next > first) PUT(&heads[(size_t)group * HEIGHT + i], kept[i]);
    }
  #endif
  }
#endif

#if CARRY == CARRY_LAST
  FENCE;
  FENCE_BARRIER;
  if (t == 0) told = ATOMIC_NEXT(&sync[0]) == (uint)ngroups - 1;
  BARRIER;
  if (told) {
    FENCE;
    for (int g = t; g < ngroups; g += GROUP) Carry(entries, rows, heads, tails, y, g, steps, ntiles, m, beta);
    if (t == 0) ATOMIC_WRITE(&sync[0], 0u); /* for the next product */
  }
#endif
}

#if CARRY == CARRY_KERNEL
/* A work item for each work group of the product */
KERNEL(FLAT_GROUP)
void bccoo_carry(GLOBAL const int *RESTRICT entries, GLOBAL const int *RESTRICT rows, GLOBAL SHARED *heads, GLOBAL SHARED *tails,
                 GLOBAL SCALAR *y, int ngroups, int steps, int ntiles, int m, int beta)
{
  if (GLOBAL_ID < (size_t)ngroups) Carry(entries, rows, heads, tails, y, (int)GLOBAL_ID, steps, ntiles, m, beta);
}
#endif

/* BCCOO+: the products of the slices, which are `height` apart, added in their order */
KERNEL(FLAT_GROUP)
void bccoo_combine(GLOBAL const SCALAR *RESTRICT partial, GLOBAL SCALAR *y, int height, int m, int beta)
{
  const size_t r = GLOBAL_ID;

  if (r < (size_t)m) {
    SCALAR sum = partial[r];

    for (int s = 1; s < SLICES; s++) sum = sum + partial[(size_t)s * (size_t)height + r];
    Put(y, r, sum, beta);
  }
}
