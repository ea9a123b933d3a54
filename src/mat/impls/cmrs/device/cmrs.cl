/*
  cmrs.cl - products of a CMRS storage on a device

  Source: Koza, Matyka, Szkoda, Miroslaw, SIAM J. Sci. Comput. 36(2), 2014 (cmrs.c): algorithm 1 and its code in the appendix;
  section 4.4 for padding. A warp of 32 work items has a strip, a work group of GROUP work items GROUP / 32 strips. Each
  work item adds the product of every 32nd entry of the strip to a place of its own for the row that the entry's word names;
  then the places of each row are added by halves. They are in local memory, LANES x HEIGHT for a warp, the lanes STRIDE apart.

    PADDED 0   LANES is 32: no two work items have a place in common. HEIGHT is 1 to 16
    PADDED 1   LANES is 8 (modulo), HEIGHT is 16: work items that are 8 apart have the same places, but a group of 32 entries
               has at most 8 of a row, and these lie together, so that no two of them are of the same row
    ALIGN      a warp begins at the multiple of 32 entries before its strip, so that it reads whole segments of memory
    WORD_BITS  of column << 4 | row in the strip

  We differ:
  - the paper's warp runs in lockstep and has no barriers. Here they stand where its work items read what others wrote.
    OpenCL has none for a warp (WARP_BARRIER), so the strips of a work group take as many steps as the longest of them there.
  - the appendix adds by halves beyond the end of a buffer of little height; here only work items that have something to add do.
  - a warp has one strip; the paper lets some warps share all of them.
*/
#define WARP  32
#define WARPS (GROUP / WARP)
#define BITS  4 /* of the row, in a word */

#if PADDED
  #define LANES 8
#else
  #define LANES WARP
#endif

#define STRIDE (HEIGHT | 1) /* odd, so that work items side by side do not meet in a bank of local memory */

#if WORD_BITS == 64
typedef ulong WORD;
#else
typedef uint WORD;
#endif

/* Entry j of the storage, to the places of one work item */
INLINE void Add(GLOBAL const SCALAR *values, GLOBAL const WORD *words, GLOBAL const SCALAR *x, size_t j,
                LOCAL_POINTER SCALAR *place)
{
  const WORD word = STREAM(&words[j]);
  const int  r    = (int)(word & ((1 << BITS) - 1));

  place[r] = place[r] + Times(STREAM(&values[j]), x[word >> BITS]);
}

/* most: groups of the longest strip */
KERNEL(GROUP)
void cmrs_product(GLOBAL const SCALAR *RESTRICT values, GLOBAL const WORD *RESTRICT words, GLOBAL const INDEX *RESTRICT strips,
                  GLOBAL const uchar *RESTRICT items, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int nstrips, int m,
                  int most, int beta)
{
  LOCAL SCALAR buffer[WARPS * LANES * STRIDE];
  const int    lane = LOCAL_ID % WARP, warp = LOCAL_ID / WARP;
  const size_t strip        = (size_t)GROUP_ID * WARPS + warp;
  const size_t start        = strip < (size_t)nstrips ? (size_t)strips[strip] : 0,
               end          = strip < (size_t)nstrips ? (size_t)strips[strip + 1] : 0;
  LOCAL_POINTER SCALAR *buf = buffer + warp * LANES * STRIDE;

  for (int q = lane; q < LANES * STRIDE; q += WARP) buf[q] = ZERO;
  WARP_BARRIER;

#if PADDED
  #if WARPS_ALONE
  const int steps = (int)(end / WARP - start / WARP);
  #elif UNIFORM_BRANCHES
  int steps = 0; /* of the longest strip of the work group */

  for (int w = 0; w < WARPS; w++) {
    const size_t s = (size_t)GROUP_ID * WARPS + w;
    const int    n = s < (size_t)nstrips ? (int)((strips[s + 1] - strips[s]) / WARP) : 0;

    if (n > steps) steps = n;
  }
  #else
  const int steps = most; /* all work groups come to as many barriers, as with UNIFORM_IF */
  #endif

  for (int k = 0; k < steps; k++) {
    const size_t group = start / WARP + k;

    if (group < end / WARP && lane < items[group]) Add(values, words, x, group * WARP + lane, buf + lane % LANES * STRIDE);
    WARP_BARRIER;
  }
#else
  for (size_t j = start - (ALIGN ? start % WARP : 0) + lane; j < end; j += WARP) {
    if (j >= start) Add(values, words, x, j, buf + lane * STRIDE);
  }
  WARP_BARRIER;
#endif

  UNROLL
  for (int d = LANES / 2; d > 0; d /= 2) {
    for (int q = lane; q < d * STRIDE; q += WARP) buf[q] = buf[q] + buf[q + d * STRIDE];
    WARP_BARRIER;
  }
  if (lane < HEIGHT && strip * HEIGHT + lane < (size_t)m) Put(y, strip * HEIGHT + lane, buf[lane], beta);
}
