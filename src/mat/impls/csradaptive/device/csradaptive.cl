/*
  csradaptive.cl - products of CSR-Adaptive on a device

  Source: Daga, Greathouse, HiPC 2015 (csradaptive.c), figures 2, 3, 5, 7 and 9. A work group of GROUP work items has a row
  block. Each kernel is launched for a list of its own row blocks, so that no barrier is in a branch:

    csradaptive_stream   all products of the row block go to local memory, then the rows are summed from there
    csradaptive_vector   at most VECTOR_ROWS rows, or one of many entries: the work group sums row after row, then all by one tree
    csradaptive_vectorl  a part of CHUNK entries of a row that several work groups share
    csradaptive_combine  adds the parts of such a row, a work group for each row, always in the same order

    LOGARITHMIC 0   Stream sums a row by one work item (figure 2)
    LOGARITHMIC 1   by as many as there are for each row, a power of two, then by a tree (figure 3); by one work item if
                    there are not two for each (figure 9)
    ATOMIC 0        VectorL leaves its sums to csradaptive_combine: the same bits each time
    ATOMIC 1        VectorL adds to y atomically, behind the flag that the row's first work group raises once y is begun
                    (figure 7). For GPUs: OpenCL does not promise that a work group goes on while others wait for it. Work
                    groups are numbered as they start, so that the first one of a row has started when others wait for it

  We differ, or put a misprint right:
  - Figure 2 has no barrier between products and sums, and reads on past the end of the row block.
  - Figure 3 drops the remainder of nnzInLocalRow / numThreadsRed. Its line 17 writes sums over products that other work items
    may not have read yet: here sums have a place of their own. Its tree has no barriers, and reads past the end of local memory.
  - Figure 7: the flag holds the number of the product, so that nobody has to clear it. The first work group begins y with its
    own sum rather than with 0. Fences follow what begins y (line 5) and the loop that waits for the flag.
  - Figure 5's text says work groups 2, 5 and 11 where 1, 4 and 10 are meant: they count from 0.
*/
INLINE size_t RowOf(ulong word)
{
  return (size_t)(word >> 32);
}

/* What work item t has of n products, from entry `first` on */
INLINE SCALAR Products(GLOBAL const SCALAR *values, GLOBAL const INDEX *columns, GLOBAL const SCALAR *x, size_t first, int n,
                       int t)
{
  SCALAR sum = ZERO;

  for (int k = t; k < n; k += GROUP) sum = sum + Times(STREAM(&values[first + k]), x[STREAM(&columns[first + k])]);
  return sum;
}

/*
  A tree for each `width` work items that follow each other, a power of two, and for `rows` sums of each work item, GROUP
  apart: the first of them gets the sum of all
*/
INLINE void Reduce(LOCAL_POINTER SCALAR *sums, int t, int width, int rows)
{
  BARRIER;
  UNROLL
  for (int d = GROUP / 2; d > 0; d /= 2) {
    if (d < width && t % width < d) {
      for (int q = 0; q < rows; q++) sums[q * GROUP + t] = sums[q * GROUP + t] + sums[q * GROUP + t + d];
    }
    BARRIER;
  }
}

KERNEL(GROUP)
void csradaptive_stream(GLOBAL const SCALAR *RESTRICT values, GLOBAL const INDEX *RESTRICT columns,
                        GLOBAL const INDEX *RESTRICT pointers, GLOBAL const ulong *RESTRICT blocks,
                        GLOBAL const int *RESTRICT list, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int beta)
{
  LOCAL SCALAR product[NNZ_PER_WG];
#if LOGARITHMIC
  LOCAL SCALAR sums[GROUP];
#endif
  const int    t = LOCAL_ID, block = list[GROUP_ID];
  const size_t row = RowOf(blocks[block]), first = (size_t)pointers[row];
  const int    rows = (int)(RowOf(blocks[block + 1]) - row), entries = (int)((size_t)pointers[row + rows] - first);
  int          r = t; /* the row of this work item */

  for (int k = t; k < entries; k += GROUP) product[k] = Times(STREAM(&values[first + k]), x[STREAM(&columns[first + k])]);
  BARRIER;

#define ROW_FROM(r) ((int)((size_t)pointers[row + (r)] - first))
#if LOGARITHMIC
  SCALAR sum   = ZERO;
  int    width = 1; /* numThreadsRed */

  while (2 * width * rows <= GROUP) width *= 2;
  r = t / width;
  if (r < rows) {
    for (int k = ROW_FROM(r) + t % width; k < ROW_FROM(r + 1); k += width) sum = sum + product[k];
  }
  sums[t] = sum;
  UNIFORM_IF(width > 1)
  {
    Reduce(sums, t, width, 1);
  }
  if (r < rows && t % width == 0) Put(y, row + r, sums[t], beta);
  r += GROUP; /* there are rows left only where each has one work item */
#endif
  for (; r < rows; r += GROUP) {
    SCALAR one = ZERO;

    for (int k = ROW_FROM(r); k < ROW_FROM(r + 1); k++) one = one + product[k];
    Put(y, row + r, one, beta);
  }
}

KERNEL(GROUP)
void csradaptive_vector(GLOBAL const SCALAR *RESTRICT values, GLOBAL const INDEX *RESTRICT columns,
                        GLOBAL const INDEX *RESTRICT pointers, GLOBAL const ulong *RESTRICT blocks,
                        GLOBAL const int *RESTRICT list, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int beta)
{
  LOCAL SCALAR sums[VECTOR_ROWS * GROUP];
  const int    t = LOCAL_ID, block = list[GROUP_ID];
  const size_t row  = RowOf(blocks[block]);
  const int    rows = (int)(RowOf(blocks[block + 1]) - row);

  for (int r = 0; r < VECTOR_ROWS; r++) {
    const size_t first = r < rows ? (size_t)pointers[row + r] : 0, end = r < rows ? (size_t)pointers[row + r + 1] : 0;

    sums[r * GROUP + t] = Products(values, columns, x, first, (int)(end - first), t);
  }
  Reduce(sums, t, GROUP, VECTOR_ROWS);
  for (int r = t; r < rows; r += GROUP) Put(y, row + r, sums[r * GROUP], beta);
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
                         GLOBAL const INDEX *RESTRICT pointers, GLOBAL const ulong *RESTRICT blocks,
                         GLOBAL const int *RESTRICT list, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int beta,
                         GLOBAL SCALAR *partial, GLOBAL volatile uint *sync, int ngroups, uint epoch)
{
  LOCAL SCALAR sums[GROUP];
  const int    t = LOCAL_ID;
#if ATOMIC
  LOCAL int told; /* by work item 0 to the others */
  const int g = Ticket(&sync[0], &told, ngroups);
#else
  const int g = GROUP_ID;
#endif
  const ulong  word   = blocks[list[g]];
  const int    number = (int)(word & 0x7fffffff); /* of this work group, among those of the row */
  const size_t row = RowOf(word), first = (size_t)pointers[row] + (size_t)number * CHUNK,
               left = (size_t)pointers[row + 1] - first;

  sums[t] = Products(values, columns, x, first, left < CHUNK ? (int)left : CHUNK, t);
  Reduce(sums, t, GROUP, 1);
#if ATOMIC
  if (t == 0 && number == 0) {
    if (beta) EACH(REAL_ADD, &y[row], sums[0]);
    else EACH(REAL_PUT, &y[row], sums[0]);
    FENCE;
    ATOMIC_WRITE(&sync[1 + g], epoch);
  } else if (t == 0) {
    while (ATOMIC_READ(&sync[1 + g - number]) != epoch) {}
    FENCE;
    EACH(REAL_ADD, &y[row], sums[0]);
  }
#else
  if (t == 0) partial[g] = sums[0];
#endif
}

/* parts[g]: the place on VectorL's list, and among the sums, where row g of those that are shared begins */
KERNEL(GROUP)
void csradaptive_combine(GLOBAL const SCALAR *RESTRICT partial, GLOBAL const int *RESTRICT parts,
                         GLOBAL const ulong *RESTRICT blocks, GLOBAL const int *RESTRICT list, GLOBAL SCALAR *y, int beta)
{
  LOCAL SCALAR sums[GROUP];
  const int    t = LOCAL_ID, begin = parts[GROUP_ID], end = parts[GROUP_ID + 1];
  SCALAR       sum = ZERO;

  for (int k = begin + t; k < end; k += GROUP) sum = sum + partial[k];
  sums[t] = sum;
  Reduce(sums, t, GROUP, 1);
  if (t == 0) Put(y, RowOf(blocks[list[begin]]), sums[0], beta);
}
