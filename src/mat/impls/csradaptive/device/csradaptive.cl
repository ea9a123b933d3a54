/*
  csradaptive.cl - products of CSR-Adaptive on a device

  Source: Daga, Greathouse, HiPC 2015 (csradaptive.c), figures 2, 3, 5, 7 and 9. A work group of GROUP work items has a row
  block. Each kernel is launched for a list of its own row blocks, so that no barrier is in a branch:

    csradaptive_stream   all products of the row block go to local memory, then the rows are summed from there
    csradaptive_vector   at most VECTOR_ROWS rows, or one of many entries: each work item sums its entries of each row, then all
                         by one tree
    csradaptive_vectorl  a part of a row that several work groups share
    csradaptive_combine  adds the parts of such a row, a work group for each row, always in the same order

  A list has two words for each row block, read as one:

    x   row << 32 | rows; for csradaptive_vectorl the number of this part among those of the row
    y   entries << 48 | first entry

  so that columns and values are asked for right after it, AT_ONCE of each by each work item before the first is needed (4 to 8,
  all of a row block where it can be), and the rows' ends at the same time. A work group begins at the multiple of LINE entries
  before its first one, and so reads whole segments of memory.

    LOGARITHMIC 0   Stream sums a row by one work item (figure 2)
    LOGARITHMIC 1   by as many as there are for each row, a power of two up to 32, then by a tree (figure 3); by one work item
                    if there are not two for each (figure 9)
    ATOMIC 0        VectorL leaves its sums to csradaptive_combine: the same bits each time
    ATOMIC 1        VectorL adds to y atomically, behind the flag that the row's first work group raises once y is begun
                    (figure 7). For GPUs: OpenCL does not promise that a work group goes on while others wait for it. Work
                    groups are numbered as they start, so that the first one of a row has started when others wait for it

  We differ, or put a misprint right:
  - Figure 2 has no barrier between products and sums, and reads on past the end of the row block. It finds the row block by two
    loads, one after the other.
  - Figure 3 drops the remainder of nnzInLocalRow / numThreadsRed. Its line 17 writes sums over products that other work items
    may not have read yet, its tree has no barriers, and reads past the end of local memory. Here the tree is of work items of a
    warp, without local memory, or has a place of its own and one barrier.
  - Products have a gap after each GAP of them, so that rows of 8, 16, ... entries do not begin in one bank of local memory.
  - Figure 7: the flag holds the number of the product, so that nobody has to clear it. The first work group begins y with its
    own sum rather than with 0. Fences follow what begins y (line 5) and the loop that waits for the flag.
  - Figure 5's text says work groups 2, 5 and 11 where 1, 4 and 10 are meant: they count from 0.
*/
#define SLOT(k) ((k) + (int)((uint)(k) / GAP))
#if GROUP % GAP == 0 /* SLOT(k + n * GROUP), of the SLOT of k */
  #define SLOT_AFTER(slot, k, n) ((slot) + (n) * SLOT(GROUP))
#else
  #define SLOT_AFTER(slot, k, n) SLOT((k) + (n) * GROUP)
#endif

INLINE size_t RowOf(ulong2 block)
{
  return (size_t)(block.x >> 32);
}
INLINE int NumberOf(ulong2 block)
{
  return (int)(block.x & 0xffffffff);
}

/* Where a row block is: its entries are [begin, end) from entry `base` on, a multiple of LINE */
typedef struct {
  size_t base;
  int    begin, end;
} SPAN;

INLINE SPAN SpanOf(ulong2 block)
{
  const size_t first = (size_t)(block.y & (((ulong)1 << 48) - 1));
  SPAN         span;

  span.begin = (int)(first % LINE);
  span.base  = first - span.begin;
  span.end   = span.begin + (int)(block.y >> 48);
  return span;
}

/* Whether a row block has entry k + q * GROUP */
INLINE int Has(SPAN span, int k, int q)
{
  return (k + q * GROUP >= span.begin || q * GROUP >= LINE) && k + q * GROUP < span.end; /* begin is less than LINE */
}

/*
  The products of AT_ONCE entries, GROUP apart, from entry k of the row block on. What is asked for in the place of those that it
  has not are entries of its own, so that nothing waits for a branch: these products are not to be used
*/
INLINE void Products(GLOBAL const SCALAR *values, GLOBAL const INDEX *columns, GLOBAL const SCALAR *x, SPAN span, int k, int beta,
                     SCALAR *product)
{
  uint   bits = 0;
  INDEX  column[AT_ONCE];
  SCALAR value[AT_ONCE];

  values += span.base;
  columns += span.base;
  APART(values);
  APART(columns);
  UNROLL
  for (int q = 0; q < AT_ONCE; q++) {
    int j = k + q * GROUP;

    j         = j >= span.begin || q * GROUP >= LINE ? j : span.begin; /* which is less than LINE */
    j         = j < span.end ? j : span.end - 1;                       /* of no entries it is the one before them */
    column[q] = STREAM(&columns[j]);
    value[q]  = STREAM(&values[j]);
  }
  UNROLL
  for (int q = 0; q < AT_ONCE; q++) {
    bits |= (uint)column[q] | BITS_OF(value[q]);
    product[q] = ZERO;
  }
  if (ARRIVED(bits, beta)) {
    UNROLL
    for (int q = 0; q < AT_ONCE; q++) {
      product[q] = x[column[q]];
      bits |= BITS_OF(product[q]);
    }
    if (ARRIVED(bits, beta)) {
      UNROLL
      for (int q = 0; q < AT_ONCE; q++) product[q] = Times(value[q], product[q]);
    }
  }
}

KERNEL(GROUP)
void csradaptive_stream(GLOBAL const SCALAR *RESTRICT values, GLOBAL const INDEX *RESTRICT columns,
                        GLOBAL const INDEX *RESTRICT pointers, GLOBAL const ulong2 *RESTRICT blocks,
                        GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int beta)
{
  LOCAL_LARGE(SCALAR, products, SLOTS);
#if LOGARITHMIC
  LOCAL SCALAR sums[GROUP];
#endif
  const ulong2 block = blocks[GROUP_ID];
  const SPAN   span  = SpanOf(block);
  const size_t row   = RowOf(block);
  const int    t = LOCAL_ID, rows = NumberOf(block);
  SCALAR       sum = ZERO;
  int begin = 0, end = 0; /* of the row of this work item */

#define ROW_FROM(r) ((int)((size_t)pointers[row + (r)] - span.base))
#if LOGARITHMIC /* GROUP and numThreadsRed, the work items of a row, are powers of two */
  const int fit = BITS_FOR(GROUP - 1) - BITS_FOR(rows - 1), shift = fit < 0 ? 0 : fit < 5 ? fit : 5;
#else
  const int shift = 0;
#endif
  const int width = 1 << shift, lane = t & (width - 1);
  int       r     = t >> shift;

#if WARPS_ALONE /* the end of a row is where that of the next work items begins, unless these are of another warp */
  const int apart = r < rows && t % SIDE_BY_SIDE + width >= SIDE_BY_SIDE;

  if (r <= rows) begin = ROW_FROM(r);
#else
  const int apart = r < rows;

  if (r < rows) begin = ROW_FROM(r);
#endif
  if (apart) end = ROW_FROM(r + 1);
  for (int first = 0; first < span.end; first += AT_ONCE * GROUP) {
    const int k = first + t;
    SCALAR    product[AT_ONCE];

    Products(values, columns, x, span, k, beta, product);
    UNROLL
    for (int q = 0; q < AT_ONCE; q++) {
      if (k + q * GROUP < span.end) products[SLOT_AFTER(SLOT(k), k, q)] = product[q];
    }
  }
  BARRIER;

#if WARPS_ALONE
  const int next = ShuffleDown(begin, width);

  if (!apart) end = next;
#endif
  if (r >= rows) end = begin;
  for (int k = begin + lane; k < end; k += width) sum = sum + products[SLOT(k)];
#if LOGARITHMIC
  sum = SumAcross(sum, width, sums);
#endif
  if (r < rows && lane == 0) Put(y, row + r, sum, beta);
  for (r += GROUP; r < rows; r += GROUP) { /* there are rows left only where each has one work item */
    sum = ZERO;
    end = ROW_FROM(r + 1);
    for (int k = ROW_FROM(r); k < end; k++) sum = sum + products[SLOT(k)];
    Put(y, row + r, sum, beta);
  }
}

KERNEL(GROUP)
void csradaptive_vector(GLOBAL const SCALAR *RESTRICT values, GLOBAL const INDEX *RESTRICT columns,
                        GLOBAL const INDEX *RESTRICT pointers, GLOBAL const ulong2 *RESTRICT blocks,
                        GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int beta)
{
  LOCAL_LARGE(SCALAR, sums, VECTOR_ROWS * GROUP);
  const ulong2 block = blocks[GROUP_ID];
  const SPAN   span  = SpanOf(block);
  const size_t row   = RowOf(block);
  const int    rows  = NumberOf(block);
  SCALAR       sum[VECTOR_ROWS];
  int          end[VECTOR_ROWS]; /* of each row */

  UNROLL
  for (int r = 0; r < VECTOR_ROWS; r++) {
    sum[r] = ZERO;
    end[r] = r < VECTOR_ROWS - 1 && r < rows - 1 ? ROW_FROM(r + 1) : span.end;
  }
  for (int first = 0; first < span.end; first += AT_ONCE * GROUP) {
    const int k = first + LOCAL_ID;
    SCALAR    product[AT_ONCE];

    Products(values, columns, x, span, k, beta, product);
    UNROLL
    for (int q = 0; q < AT_ONCE; q++) {
      const int j = k + q * GROUP;

      UNROLL
      for (int r = 0; r < VECTOR_ROWS; r++) {
        if (j >= (r ? end[r - 1] : span.begin) && j < end[r]) sum[r] = sum[r] + product[q];
      }
    }
  }
  GroupSums(sum, VECTOR_ROWS, sums);
  for (int r = LOCAL_ID; r < VECTOR_ROWS; r += GROUP) {
    if (r < rows) Put(y, row + r, sums[r * GROUP], beta);
  }
}

#if ATOMIC /* real and imaginary part may be added one after the other */
  #if COMPLEX
    #define EACH(word, p, v) (word((GLOBAL REAL_WORD *)(p), (v).x), word((GLOBAL REAL_WORD *)(p) + 1, (v).y))
  #else
    #define EACH(word, p, v) word((GLOBAL REAL_WORD *)(p), v)
  #endif
#endif

KERNEL(GROUP)
void csradaptive_vectorl(GLOBAL const SCALAR *RESTRICT values, GLOBAL const INDEX *RESTRICT columns,
                         GLOBAL const ulong2 *RESTRICT blocks, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int beta,
                         GLOBAL SCALAR *partial, GLOBAL volatile uint *sync, int ngroups, uint epoch)
{
  LOCAL SCALAR sums[GROUP];
#if ATOMIC
  LOCAL int told; /* by work item 0 to the others */
  const int g = Ticket(&sync[0], &told, ngroups);
#else
  const int g = GROUP_ID;
#endif
  const ulong2 block = blocks[g];
  const SPAN   span  = SpanOf(block);
  SCALAR       sum[1];

  sum[0] = ZERO;
  for (int first = 0; first < span.end; first += AT_ONCE * GROUP) {
    SCALAR product[AT_ONCE];

    Products(values, columns, x, span, first + LOCAL_ID, beta, product);
    UNROLL
    for (int q = 0; q < AT_ONCE; q++) {
      if (Has(span, first + LOCAL_ID, q)) sum[0] = sum[0] + product[q];
    }
  }
  GroupSums(sum, 1, sums);
#if ATOMIC
  const size_t row    = RowOf(block);
  const int    number = NumberOf(block);

  if (LOCAL_ID == 0 && number == 0) {
    if (beta) EACH(REAL_ADD, &y[row], sums[0]);
    else EACH(REAL_PUT, &y[row], sums[0]);
    FENCE;
    ATOMIC_WRITE(&sync[1 + g], epoch);
  } else if (LOCAL_ID == 0) {
    while (ATOMIC_READ(&sync[1 + g - number]) != epoch) {}
    FENCE;
    EACH(REAL_ADD, &y[row], sums[0]);
  }
#else
  if (LOCAL_ID == 0) partial[g] = sums[0];
#endif
}

/* parts[g]: the place on VectorL's list, and among the sums, where row g of those that are shared begins */
KERNEL(GROUP)
void csradaptive_combine(GLOBAL const SCALAR *RESTRICT partial, GLOBAL const int *RESTRICT parts,
                         GLOBAL const ulong2 *RESTRICT blocks, GLOBAL SCALAR *y, int beta)
{
  LOCAL SCALAR sums[GROUP];
  const int    begin = parts[GROUP_ID], end = parts[GROUP_ID + 1];
  SCALAR       sum[1];

  sum[0] = ZERO;
  for (int k = begin + LOCAL_ID; k < end; k += GROUP) sum[0] = sum[0] + partial[k];
  GroupSums(sum, 1, sums);
  if (LOCAL_ID == 0) Put(y, RowOf(blocks[begin]), sums[0], beta);
}
