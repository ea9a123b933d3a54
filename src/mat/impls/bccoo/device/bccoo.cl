/*
  bccoo.cl - products of a BCCOO storage on a device

  Source: Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, sections 3.2.1 to 3.2.3. A work group has a work group
  tile of GROUP thread tiles, a work item a thread tile of TILE blocks. Each work item adds up its own blocks; what follows its
  last row stop is its last partial sum; a segmented scan of these gives every work item what comes before its first row stop;
  what follows the last row stop of a work group is its tail, the carry into the work groups after it.

    bccoo_block.cl, bccoo_decode.cl  HEIGHT, WIDTH, COLUMNS (ESCAPES: some are escaped), FLAG_BITS, SLICES; ROWS: non-empty
                                     block rows are listed; RAGGED: the last block column is narrower than WIDTH
    bccoo_cache.cl                   results of a work group that wait to be written in one go
    bccoo_strategy1.cl, 2 or 3       STRATEGY. BUNCH: thread tiles of a work item, 1 but in strategy 3
    bccoo_carry.cl                   CARRY

  A strategy has OWN scalars of local memory, Sums that it keeps, and

    TileSums(w, s, sums)    what the tiles of a work item add up to
    TileRest(w, s, sums)    the results of a work item after its first one

  The host has strategy 3 as well, with vectors of its own (bccoo_lanes.h).

  We differ: algorithm 1 reads last_partial_sums[-1] in work item 0; nothing comes before it but the work group's carry. Whether
  the scan can be skipped (each work item has a row stop) depends on the pattern only, so it is known when the storage is built:
  `scans` has it.
*/
KERNEL(GROUP)
void bccoo_product(GLOBAL const SCALAR *RESTRICT values, GLOBAL const COLUMN *RESTRICT columns,
                   GLOBAL const FLAGS *RESTRICT flags, GLOBAL const int *RESTRICT entries, GLOBAL const int *RESTRICT firsts,
                   GLOBAL const int *RESTRICT bases, GLOBAL const int *RESTRICT escaped, GLOBAL const int *RESTRICT escapes,
                   GLOBAL const int *RESTRICT rows, GLOBAL const uchar *RESTRICT scans, GLOBAL const SCALAR *RESTRICT x,
                   GLOBAL SCALAR *y, GLOBAL SHARED *heads, GLOBAL SHARED *tails, GLOBAL volatile uint *sync, int m, int n,
                   int ngroups, int beta, uint epoch)
{
  LOCAL_LARGE(SCALAR, memory, OWN + 2 * HEIGHT * GROUP); /* the strategy's own, then last_partial_sums, twice */
  LOCAL SCALAR          before[HEIGHT];                  /* pre_partial_sum */
  LOCAL int             starts[2 * GROUP], told;         /* told: by work item 0 to the others */
  LOCAL_POINTER SCALAR *sums = memory + OWN;
  const int             t = LOCAL_ID, group = CARRY == CARRY_ADJACENT ? Ticket(&sync[0], &told, ngroups) : GROUP_ID;
  const int             first = firsts[group];
  const Work            w     = {firsts, rows, heads,  tails, y,       m,     beta,    n,     ngroups, group,   t,     first,
                                 epoch,  sync, values, x,     columns, flags, entries, bases, escaped, escapes, memory};
  int                   turn  = 0, result;
  Tile                  s;
  Sums                  kept;

  TileSums(&w, &s, &kept);
  for (int i = 0; i < HEIGHT; i++) sums[i * 2 * GROUP + t] = s.last[i];
  starts[t] = s.seen;
  BARRIER;
  UNIFORM_IF(scans[group])
  {
    turn = Scan(sums, starts, t, GROUP);
  }
  if (t == 0) PutTail(&w, &sums[turn * GROUP + GROUP - 1], before);
  if (CARRY == CARRY_ADJACENT) BARRIER;
  if (s.seen) { /* algorithms 1 and 2: what comes before the first row stop of this work item */
    result = s.first;
    if (t > 0) {
      for (int i = 0; i < HEIGHT; i++) s.head[i] = sums[i * 2 * GROUP + turn * GROUP + t - 1] + s.head[i];
    }
    if (result == first) PutHead(&w, result, s.head, before);
    else TileResult(&w, result, s.head);
  }
  TileRest(&w, &s, &kept);
}

#if CARRY == CARRY_KERNEL
/* A work item for each work group of the product */
KERNEL(FLAT_GROUP)
void bccoo_carry(GLOBAL const int *RESTRICT firsts, GLOBAL const int *RESTRICT rows, GLOBAL SHARED *heads, GLOBAL SHARED *tails,
                 GLOBAL SCALAR *y, int ngroups, int m, int beta)
{
  LOCAL SCALAR sums[2 * HEIGHT * FLAT_GROUP], before[HEIGHT];
  LOCAL int    starts[2 * FLAT_GROUP];
  const Work   w = {firsts, rows, heads, tails, y, m, beta, 0, ngroups};

  Carry(&w, GROUP_ID * FLAT_GROUP, LOCAL_ID, sums, starts, before);
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
