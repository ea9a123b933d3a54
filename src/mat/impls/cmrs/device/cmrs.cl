/*
  cmrs.cl - products of a CMRS storage on a device

  Source: Koza, Matyka, Szkoda, Miroslaw, SIAM J. Sci. Comput. 36(2), 2014 (cmrs.c): algorithm 1 and its code in the appendix;
  section 4.4 for padding. A warp of 32 work items has a strip, a work group of GROUP work items GROUP / 32 strips. Each work
  item takes every 32nd entry, AT_ONCE of them at a time, so that as many words and values, and then entries of x, are on their
  way at once.

    RUNS 0     the paper's: a work item adds each product to a place of its own for the row that the word names, then the places
               of each row are added up. For strips of many entries: 2 accesses of local memory for each entry of a work item,
               and some 2 HEIGHT for each strip
    RUNS 1     in each 32 entries those of a row lie together, a run. Neighbours add up their products, in as many steps as the
               longest run takes, and the last one of a run hands its sum to the row. For short rows: hardly any local memory
    PADDED     (with RUNS 1) the last entries of 32 may be padding, which is left out
    ALIGN      a warp begins at the multiple of so many entries, 32 or fewer, before its strip, so that it reads whole segments of
               memory, or whole sectors of 32 bytes
    PART       entries that a warp has, at most: those of a strip with more (a row of 10^6 makes one) are shared by several
               warps of cmrs_parts, and cmrs_combine adds up what they have, always in the same order
    WORD_BITS  of column << 4 | row in the strip

  We differ:
  - the paper's warp runs in lockstep and has no barriers. Here they stand where its work items read what others wrote.
    OpenCL has none for a warp (WARP_BARRIER), so the strips of a work group take as many steps as the longest of them there.
  - the places of a row lie side by side, so that work items never meet in a bank of local memory, whatever their rows are;
    where they are added up, the rows begin at different ones for the same reason. The paper adds them by halves.
  - padded strips need no places: their groups are runs.
  - a warp has one strip; the paper lets some warps share all of them.
*/
#define WARP    32
#define WARPS   (GROUP / WARP)
#define LANE    ((int)((uint)LOCAL_ID % WARP)) /* a number that may be negative is divided in more steps */
#define BITS    4 /* of the row, in a word */
#define AT_ONCE 4
#define NONE    (1 << BITS) /* the row of no entry */

#if HEIGHT > 8
  #define LANES 16 /* work items in a row whose places one work item adds up: a power of two, HEIGHT at least */
#elif HEIGHT > 4
  #define LANES 8
#elif HEIGHT > 2
  #define LANES 4
#else
  #define LANES HEIGHT
#endif

/* Where work items that add up a row begin: not two of 16, which come to the banks of doubles together, at one bank */
#define TURN(q) (LANES / 2 * ((q)*LANES / 16))

#if !RUNS
  #define PLACES (WARP * HEIGHT) /* scalars of local memory for a warp */
#elif WARPS_ALONE
  #define PLACES (AT_ONCE * HEIGHT)
#else
  #define PLACES (AT_ONCE * (HEIGHT + WARP))
#endif

#if WORD_BITS == 64
typedef ulong WORD;
#else
typedef uint WORD;
#endif

/*
  AT_ONCE entries, WARP apart, from entry j on: their rows in the strip and their products; NONE and 0 for those that are not
  among [begin, end). What is asked for in their place are entries of the strip, so that nothing waits for a branch
*/
INLINE void Entries(GLOBAL const SCALAR *values, GLOBAL const WORD *words, GLOBAL const uchar *items, GLOBAL const SCALAR *x,
                    int begin, int end, int j, int beta, int *row, SCALAR *product)
{
  uint   bits = 0;
  WORD   word[AT_ONCE];
  SCALAR value[AT_ONCE];
#if PADDED
  int there[AT_ONCE];
#endif

  UNROLL
  for (int q = 0; q < AT_ONCE; q++) {
    int k = j + q * WARP;

    k        = q || k >= begin ? k : begin; /* begin is less than WARP */
    k        = k < end ? k : end - 1;       /* of no entries it is the one before them */
    word[q]  = STREAM(&words[k]);
    value[q] = STREAM(&values[k]);
#if PADDED
    there[q] = items[k / WARP];
#endif
  }
  UNROLL
  for (int q = 0; q < AT_ONCE; q++) {
#if PADDED
    bits |= (uint)there[q];
#endif
    bits |= (uint)word[q] | BITS_OF(value[q]);
    row[q]     = NONE;
    product[q] = ZERO;
  }
  if (ARRIVED(bits, beta)) {
    UNROLL
    for (int q = 0; q < AT_ONCE; q++) {
      product[q] = x[word[q] >> BITS];
      bits |= BITS_OF(product[q]);
    }
    if (ARRIVED(bits, beta)) {
      UNROLL
      for (int q = 0; q < AT_ONCE; q++) {
        const int k = j + q * WARP;
#if PADDED
        const int is = k < end && k % WARP < there[q];
#else
        const int is = k < end && (q || k >= begin);
#endif

        row[q]     = is ? (int)(word[q] & ((1 << BITS) - 1)) : NONE;
        product[q] = is ? Times(value[q], product[q]) : ZERO;
      }
    }
  }
}

#if RUNS
/* The sum of each run, for the last work item of it, to which *last is true; rows, products: of local memory, for the warp */
INLINE void AddRuns(int lane, const int *row, SCALAR *product, int *last, LOCAL_POINTER SCALAR *products, LOCAL_POINTER int *rows)
{
  #if WARPS_ALONE
  int before[AT_ONCE], most = 0; /* work items of the run before this one */

  UNROLL
  for (int q = 0; q < AT_ONCE; q++) {
    const int  other = ShuffleUp(row[q], 1);
    const uint heads = BALLOT(lane == 0 || row[q] != other);

    last[q]   = row[q] != NONE && (lane == WARP - 1 || (heads >> (lane + 1) & 1));
    before[q] = row[q] != NONE ? lane - HIGHEST_BIT(heads & (~0u >> (WARP - 1 - lane))) : 0;
    if (before[q] > most) most = before[q];
  }
  for (int d = 1; BALLOT(most >= d); d *= 2) {
    UNROLL
    for (int q = 0; q < AT_ONCE; q++) {
      const SCALAR up = ShuffleUp(product[q], d);

      if (before[q] >= d) product[q] = product[q] + up;
    }
  }
  #else
  for (int q = 0; q < AT_ONCE; q++) {
    products[q * WARP + lane] = product[q];
    rows[q * WARP + lane]     = row[q];
  }
  WARP_BARRIER;
  for (int q = 0; q < AT_ONCE; q++) {
    last[q] = row[q] != NONE && (lane == WARP - 1 || rows[q * WARP + lane + 1] != row[q]);
    for (int k = lane - 1; last[q] && k >= 0 && rows[q * WARP + k] == row[q]; k--) {
      product[q] = product[q] + products[q * WARP + k];
    }
  }
  #endif
}
#endif

/*
  The sums of the rows of a strip over `entries` entries from entry `first` on: returned to one work item for each row, whose
  number is *mine, -1 to all others. In `steps` steps, those of the warp or more
*/
INLINE SCALAR AddRows(GLOBAL const SCALAR *values, GLOBAL const WORD *words, GLOBAL const uchar *items, GLOBAL const SCALAR *x,
                      size_t first, int entries, int steps, int beta, LOCAL_POINTER SCALAR *place, LOCAL_POINTER int *rows,
                      LOCAL_POINTER SCALAR *sums, int *mine)
{
  const int lane = LANE, begin = (int)(first % ALIGN), end = begin + entries;
  SCALAR    sum = ZERO, product[AT_ONCE];
  int       row[AT_ONCE];

  values += first - begin;
  words += first - begin;
  APART(values);
  APART(words);
#if PADDED
  items += first / WARP;
#endif
#if RUNS
  int last[AT_ONCE];

  for (int k = lane; k < AT_ONCE * HEIGHT; k += WARP) place[k] = ZERO;
  WARP_BARRIER;
  for (int step = 0; step < steps; step++) {
    const int j = step * AT_ONCE * WARP;

    for (int q = 0; q < AT_ONCE; q++) {
      row[q]     = NONE;
      product[q] = ZERO;
    }
    if (j < end) Entries(values, words, items, x, begin, end, j + lane, beta, row, product);
    AddRuns(lane, row, product, last, place + AT_ONCE * HEIGHT, rows);
    UNROLL
    for (int q = 0; q < AT_ONCE; q++) {
      if (last[q]) place[q * HEIGHT + row[q]] = product[q];
    }
    WARP_BARRIER;
    for (int q = 0; q < AT_ONCE && lane < HEIGHT; q++) {
      sum                      = sum + place[q * HEIGHT + lane];
      place[q * HEIGHT + lane] = ZERO;
    }
  #if WARPS_ALONE /* elsewhere AddRuns() has a barrier before the places are written again */
    WARP_BARRIER;
  #endif
  }
  *mine = lane < HEIGHT ? lane : -1;
  return sum;
#else
  const int q = lane % (WARP / LANES), r = lane / (WARP / LANES); /* adds up the places of row r from LANES q on */
  int       own = lane;                                           /* its place in a row */

  APART(own);

  for (int k = 0; k < HEIGHT; k++) place[k * WARP + lane] = ZERO;
  for (int j = lane; j - lane < end; j += AT_ONCE * WARP) {
    Entries(values, words, items, x, begin, end, j, beta, row, product);
    UNROLL
    for (int k = 0; k < AT_ONCE; k++) {
      if (row[k] != NONE) place[row[k] * WARP + own] = place[row[k] * WARP + own] + product[k];
    }
  }
  WARP_BARRIER;
  for (int k = 0; k < LANES && r < HEIGHT; k++) sum = sum + place[r * WARP + q * LANES + (r + k + TURN(q)) % LANES];
  *mine = q == 0 && r < HEIGHT ? r : -1;
  return SumAcross(sum, WARP / LANES, sums);
#endif
}

#define LOCAL_ARRAYS \
  LOCAL_LARGE(SCALAR, buffer, WARPS *PLACES); \
  LOCAL SCALAR sums[GROUP];                             /* for SumAcross() */ \
  LOCAL int    rows[RUNS ? WARPS * AT_ONCE * WARP : 1]; /* for AddRuns() */ \
  const int    warp = (int)((uint)LOCAL_ID / WARP);

/* Steps of a warp that has so many entries */
#define STEPS(first, entries) (((int)((first) % ALIGN) + (entries) + AT_ONCE * WARP - 1) / (AT_ONCE * WARP))

/* The first entry of a strip, and how many it has; -1 if it is shared, 0 if there is no such strip */
INLINE int EntriesOf(GLOBAL const INDEX *strips, size_t strip, int nstrips, size_t *first)
{
  size_t entries;

  *first = 0;
  if (strip >= (size_t)nstrips) return 0;
  *first  = (size_t)strips[strip];
  entries = (size_t)strips[strip + 1] - *first;
  return *first % ALIGN + entries > PART ? -1 : (int)entries;
}

/* most: steps of the longest strip that is not shared. Where barriers cannot be skipped all work groups come to as many */
KERNEL(GROUP)
void cmrs_product(GLOBAL const SCALAR *RESTRICT values, GLOBAL const WORD *RESTRICT words, GLOBAL const INDEX *RESTRICT strips,
                  GLOBAL const uchar *RESTRICT items, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int nstrips, int m,
                  int most, int beta)
{
  LOCAL_ARRAYS
  const size_t strip = (size_t)GROUP_ID * WARPS + warp;
  size_t       first;
  const int    entries = EntriesOf(strips, strip, nstrips, &first);
  SCALAR       sum;
  int          row;
#if WARPS_ALONE
  const int steps = entries < 0 ? 0 : STEPS(first, entries);
#elif UNIFORM_BRANCHES && RUNS
  int steps = 0; /* of the longest strip of the work group */

  for (int w = 0; w < WARPS; w++) {
    size_t    begin;
    const int own = EntriesOf(strips, (size_t)GROUP_ID * WARPS + w, nstrips, &begin), n = STEPS(begin, own);

    if (own > 0 && n > steps) steps = n;
  }
#else
  const int steps = most;
#endif

  sum = AddRows(values, words, items, x, first, entries < 0 ? 0 : entries, steps, beta, buffer + warp * PLACES,
                rows + warp * AT_ONCE * WARP, sums, &row);
  if (entries >= 0 && row >= 0 && strip * HEIGHT + row < (size_t)m) Put(y, strip * HEIGHT + row, sum, beta);
}

/* parts: entries << 48 | first entry; partial: the sums of the rows of each part */
KERNEL(GROUP)
void cmrs_parts(GLOBAL const SCALAR *RESTRICT values, GLOBAL const WORD *RESTRICT words, GLOBAL const ulong *RESTRICT parts,
                GLOBAL const uchar *RESTRICT items, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *RESTRICT partial, int nparts,
                int beta)
{
  LOCAL_ARRAYS
  const size_t part    = (size_t)GROUP_ID * WARPS + warp;
  const ulong  word    = part < (size_t)nparts ? parts[part] : 0;
  const size_t first   = (size_t)(word & (((ulong)1 << 48) - 1));
  const int    entries = (int)(word >> 48);
  SCALAR       sum;
  int          row;

  sum = AddRows(values, words, items, x, first, entries, WARPS_ALONE ? STEPS(first, entries) : PART / (AT_ONCE * WARP), beta,
                buffer + warp * PLACES, rows + warp * AT_ONCE * WARP, sums, &row);
  if (part < (size_t)nparts && row >= 0) partial[part * HEIGHT + row] = sum;
}

/* A work group for each strip that is shared. longs: strip << 32 | its first part, and at the end the number of parts */
KERNEL(COMBINE)
void cmrs_combine(GLOBAL const SCALAR *RESTRICT partial, GLOBAL const ulong *RESTRICT longs, GLOBAL SCALAR *y, int m, int beta)
{
  LOCAL SCALAR sums[COMBINE];
  const size_t strip = (size_t)(longs[GROUP_ID] >> 32);
  const int    first = (int)(longs[GROUP_ID] & 0xffffffff), end = (int)(longs[GROUP_ID + 1] & 0xffffffff);
  const int    t = LOCAL_ID, r = t % LANES, step = COMBINE / LANES;
  SCALAR       sum = ZERO;

  for (int p = first + t / LANES; p < end && r < HEIGHT; p += 2 * AT_ONCE * step) {
    SCALAR part[2 * AT_ONCE];

    UNROLL
    for (int q = 0; q < 2 * AT_ONCE; q++) {
      const int k = p + q * step;

      part[q] = partial[(size_t)(k < end ? k : end - 1) * HEIGHT + r];
    }
    UNROLL
    for (int q = 0; q < 2 * AT_ONCE; q++) sum = sum + (p + q * step < end ? part[q] : ZERO);
  }
  sums[t] = sum;
  BARRIER;
  if (t < HEIGHT && strip * HEIGHT + t < (size_t)m) {
    for (int k = 1; k < step; k++) sum = sum + sums[k * LANES + t];
    Put(y, strip * HEIGHT + t, sum, beta);
  }
}
