/*
  csr.cl - two plain ways to multiply by compressed sparse rows, to compare formats with. For CUDA only

    csr_vector   WIDTH lanes of a warp have a row, WIDTH a power of two
    merge_*      rows' ends and entries are merged into one list, of which each work item has ITEMS, so that all have the same work,
                 whatever the rows are (Merrill, Garland, SC 2016): the list is cut at work groups, then at work items
*/
KERNEL(GROUP)
void csr_vector(GLOBAL const SCALAR *RESTRICT values, GLOBAL const int *RESTRICT columns, GLOBAL const int *RESTRICT pointers,
                GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int m, int beta)
{
  const size_t row   = GLOBAL_ID / WIDTH;
  const int    lane  = LOCAL_ID % WIDTH;
  const int    first = row < (size_t)m ? pointers[row] : 0, end = row < (size_t)m ? pointers[row + 1] : 0;
  SCALAR       sum = ZERO;

  for (int k = first + lane; k < end; k += WIDTH) sum = sum + Times(STREAM(&values[k]), x[STREAM(&columns[k])]);
  for (int d = 1; d < WIDTH; d *= 2) {
    const SCALAR before = __shfl_up_sync(0xffffffffu, sum, d);

    if (lane >= d) sum = before + sum;
  }
  if (row < (size_t)m && lane == WIDTH - 1) Put(y, row, sum, beta);
}

/* How many of the first `diagonal` of the merged list are ends of rows: ends[r], the end of row r, comes before entry ends[r] */
#define MERGE_SEARCH(found, diagonal, nrows, nentries, END) \
  int found = (diagonal) > (nentries) ? (diagonal) - (nentries) : 0; \
  for (int high_ = (diagonal) < (nrows) ? (diagonal) : (nrows); found < high_;) { \
    const int middle_ = (found + high_) / 2; \
\
    if (END(middle_) <= (diagonal)-1 - middle_) found = middle_ + 1; \
    else high_ = middle_; \
  }

KERNEL(GROUP)
void merge_search(GLOBAL const int *RESTRICT pointers, GLOBAL int *starts, int m, int nz, int ntiles)
{
  const int tile = (int)GLOBAL_ID, whole = tile * (GROUP * ITEMS), diagonal = whole < m + nz ? whole : m + nz;

  if (tile <= ntiles) {
#define END(r) pointers[(r) + 1]
    MERGE_SEARCH(row, diagonal, m, nz, END)
#undef END
    starts[tile] = row;
  }
}

KERNEL(GROUP)
void merge_tile(GLOBAL const SCALAR *RESTRICT values, GLOBAL const int *RESTRICT columns, GLOBAL const int *RESTRICT pointers,
                GLOBAL const int *RESTRICT starts, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, GLOBAL SCALAR *carries,
                int m, int nz, int beta)
{
  LOCAL SCALAR product[GROUP * ITEMS], carry[2][GROUP];
  LOCAL int    ends[GROUP * ITEMS + 1], last[2][GROUP];
  const int    t = LOCAL_ID, tile = GROUP_ID, total = m + nz, from = tile * (GROUP * ITEMS),
            to  = from + GROUP * ITEMS < total ? from + GROUP * ITEMS : total;
  const int row = starts[tile], entry = from - row, rows = starts[tile + 1] - row, entries = to - from - rows;

  for (int k = t; k < entries; k += GROUP) product[k] = Times(STREAM(&values[entry + k]), x[STREAM(&columns[entry + k])]);
  for (int r = t; r < rows; r += GROUP) ends[r] = pointers[row + r + 1] - entry;
  BARRIER;

  const int diagonal = t * ITEMS < rows + entries ? t * ITEMS : rows + entries;
#define END(r) ends[r]
  MERGE_SEARCH(r, diagonal, rows, entries, END)
#undef END
  int    k = diagonal - r, begun = r;
  SCALAR sum = ZERO, result[ITEMS];

  UNROLL
  for (int i = 0; i < ITEMS; i++) {
    result[i] = ZERO;
    if (diagonal + i < rows + entries) {
      if (r < rows && ends[r] <= k) {
        result[i] = sum;
        sum       = ZERO;
        r++;
      } else sum = sum + product[k++];
    }
  }
  /* what is left of the row that each work item ends in: added over those that end in the same one */
  int turn = 0;

  carry[0][t] = sum;
  last[0][t]  = r;
  BARRIER;
  for (int d = 1; d < GROUP; d *= 2, turn = 1 - turn) {
    carry[1 - turn][t] = t >= d && last[0][t - d] == r ? carry[turn][t - d] + carry[turn][t] : carry[turn][t];
    BARRIER;
  }
  const SCALAR before = t > 0 ? carry[turn][t - 1] : ZERO;

  /* each row is written to the place of its sum, which nobody reads as a product any more, and then to y side by side */
  k = diagonal - begun;
  r = begun;
  UNROLL
  for (int i = 0; i < ITEMS; i++) {
    if (diagonal + i < rows + entries) {
      if (r < rows && ends[r] <= k) {
        product[r] = r == begun ? before + result[i] : result[i];
        r++;
      } else k++;
    }
  }
  BARRIER;
  for (int q = t; q < rows; q += GROUP) Put(y, (size_t)row + q, product[q], beta);
  if (t == GROUP - 1) carries[tile] = carry[turn][t];
}

/* What tiles have left of the row that they end in, by one work item for those that end in the same one */
KERNEL(GROUP)
void merge_carry(GLOBAL const int *RESTRICT starts, GLOBAL const SCALAR *RESTRICT carries, GLOBAL SCALAR *y, int m, int ntiles)
{
  const int tile = (int)GLOBAL_ID;

  if (tile < ntiles && starts[tile + 1] < m && (tile == 0 || starts[tile] != starts[tile + 1])) {
    SCALAR sum = ZERO;

    for (int k = tile; k < ntiles && starts[k + 1] == starts[tile + 1]; k++) sum = sum + carries[k];
    y[starts[tile + 1]] = y[starts[tile + 1]] + sum;
  }
}
