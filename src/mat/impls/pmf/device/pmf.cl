/*
  pmf.cl - the products of a device

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015: ELL with a thread for each row (5.2, 5.3), blocks along the
  diagonal as DIA (4.2.4). The paper calls NVIDIA's kernels and prints none. We differ: where rows are too few to keep a device
  busy, several work items share a row.

    HEIGHT   rows of a slice
    LANES    work items of a row, which have every LANES-th of its entries
    BLOCK    rows of a block along the diagonal, whose kernel comes first and which slices add to; 0: no blocks
    GROUP    work items of a work group
    CHAINS   work items of a long row of several chunks

  Rows of a slice have different lengths, and each work item reads its own row: padding is stored, but never read, and an Inf
  or NaN of x does no harm where there is no entry.
*/
#define SIDE       (HEIGHT < 32 / LANES ? HEIGHT : 32 / LANES) /* rows whose first lanes lie side by side, then the second */
#define BUNDLE     (SIDE * LANES)                              /* work items that have these rows */
#define WIDTH      (HEIGHT * LANES)                            /* entries of a step */
#define ADDS(beta) (BLOCK || (beta))

/* Slices and chunks are PmfStrips: first, column, base, target as x, y, z, w */
DEFINE_DOT(DotNarrow, ushort, GLOBAL)
DEFINE_DOT(DotWide, int, GLOBAL)

/* A work item, or several, for each row of the slices. The columns of a slice are ushort or int, from its base on */
KERNEL(GROUP)
void pmf_slices(GLOBAL const SCALAR *RESTRICT values, GLOBAL const ushort *RESTRICT narrow, GLOBAL const int *RESTRICT wide,
                GLOBAL const int4 *RESTRICT slices, GLOBAL const ushort *RESTRICT lengths, GLOBAL const int *RESTRICT rows,
                GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int nsliced, int beta)
{
  const int    lane = (int)(GLOBAL_ID % BUNDLE) / SIDE;
  const size_t row  = GLOBAL_ID / BUNDLE * SIDE + GLOBAL_ID % SIDE;
  SCALAR       sum  = ZERO;

  if (row < (size_t)nsliced) {
    const int4   slice = slices[row / HEIGHT];
    const size_t place = GLOBAL_ID % WIDTH, first = (size_t)(uint)slice.x * WIDTH + place;
    const size_t column = (size_t)(uint)slice.y * WIDTH + place;
    const int    count  = ((int)lengths[row] + LANES - 1 - lane) / LANES;

    if (slice.z >= 0) sum = DotNarrow(values + first, narrow + column, x, slice.z, WIDTH, slice.w, count);
    else sum = DotWide(values + first, wide + column, x, -1 - slice.z, WIDTH, slice.w, count);
  }
#if LANES == 1
  if (row < (size_t)nsliced) Put(y, (size_t)rows[row], sum, ADDS(beta));
#else
  LOCAL SCALAR lanes[GROUP + GROUP / LANES];
  const int    t = LOCAL_ID, at = t / SIDE * (BUNDLE + SIDE) + t % SIDE;
  const size_t mine = (size_t)GROUP_ID * (GROUP / LANES) + t; /* the row that this work item writes, whose lanes begin there */

  lanes[t + t / BUNDLE * SIDE] = sum;
  BARRIER;
  if (t < GROUP / LANES && mine < (size_t)nsliced) {
    sum                                        = lanes[at];
    UNROLL for (int k = 1; k < LANES; k++) sum = sum + lanes[at + k * SIDE];
    Put(y, (size_t)rows[mine], sum, ADDS(beta));
  }
#endif
}

/*
  A work group for each chunk of a long row: each work item adds up every GROUP-th entry, then halves are added. The only chunk of
  a row is written to y, others to sums
*/
KERNEL(GROUP)
void pmf_chunks(GLOBAL const SCALAR *RESTRICT values, GLOBAL const ushort *RESTRICT narrow, GLOBAL const int *RESTRICT wide,
                GLOBAL const int4 *RESTRICT chunks, GLOBAL const int *RESTRICT sizes, GLOBAL const SCALAR *RESTRICT x,
                GLOBAL SCALAR *RESTRICT sums, GLOBAL SCALAR *y, int beta)
{
  LOCAL SCALAR sum[GROUP];
  const int4   chunk = chunks[GROUP_ID];
  const int    t = LOCAL_ID, size = sizes[GROUP_ID], count = (size + GROUP - 1 - t) / GROUP;
  const size_t first = (size_t)(uint)chunk.x + t, column = (size_t)(uint)chunk.y + t;

  if (chunk.z >= 0) sum[t] = DotNarrow(values + first, narrow + column, x, chunk.z, GROUP, size / GROUP, count);
  else sum[t] = DotWide(values + first, wide + column, x, -1 - chunk.z, GROUP, size / GROUP, count);
  BARRIER;
  for (int reach = GROUP / 2; reach > 0; reach /= 2) {
    if (t < reach) sum[t] = sum[t] + sum[t + reach];
    BARRIER;
  }
  if (t == 0) {
    if (chunk.w >= 0) Put(y, (size_t)chunk.w, sum[0], ADDS(beta));
    else sums[GROUP_ID] = sum[0];
  }
}

/* CHAINS work items for each long row of several chunks, which are one after the other: every CHAINS-th of them, then halves */
KERNEL(GROUP)
void pmf_longs(GLOBAL const int *RESTRICT longrows, GLOBAL const int *RESTRICT longs, GLOBAL const SCALAR *RESTRICT sums,
               GLOBAL SCALAR *y, int nlong, int beta)
{
  LOCAL SCALAR sum[GROUP];
  const size_t l = GLOBAL_ID / CHAINS;
  const int    t = LOCAL_ID, lane = t % CHAINS;
  SCALAR       mine = ZERO;

  if (l < (size_t)nlong) {
    for (int c = longs[2 * l] + lane; c < longs[2 * l + 1]; c += CHAINS) mine = mine + sums[c];
  }
  sum[t] = mine;
  BARRIER;
  for (int reach = CHAINS / 2; reach > 0; reach /= 2) {
    if (lane < reach) sum[t] = sum[t] + sum[t + reach];
    BARRIER;
  }
  if (lane == 0 && l < (size_t)nlong) Put(y, (size_t)longrows[l], sum[t], ADDS(beta));
}

#if BLOCK
/* A work item for each row: the diagonals that its block has; `masks` tells on which of them the row has an entry */
KERNEL(GROUP)
void pmf_diagonals(GLOBAL const SCALAR *RESTRICT values, GLOBAL const uint *RESTRICT diagonals,
                   GLOBAL const int *RESTRICT offsets, GLOBAL const uint *RESTRICT masks, GLOBAL const SCALAR *RESTRICT x,
                   GLOBAL SCALAR *y, int nrows, int beta)
{
  const size_t r = GLOBAL_ID;

  if (r < (size_t)nrows) {
    const size_t lane = r % BLOCK;
    const uint   end  = diagonals[r / BLOCK + 1];
    SCALAR       value[4], factor[4], sum = ZERO;
    int          offset[4], has[4];

    ROLLED for (uint d = diagonals[r / BLOCK]; d < end; d += 4)
    {
      UNROLL for (uint k = 0; k < 4; k++) has[k]    = d + k < end ? (int)(masks[d + k] >> lane & 1) : 0;
      UNROLL for (uint k = 0; k < 4; k++) offset[k] = d + k < end ? offsets[d + k] : 0;
      UNROLL for (uint k = 0; k < 4; k++) value[k]  = has[k] ? STREAM(&values[(size_t)(d + k) * BLOCK + lane]) : ZERO;
      UNROLL for (uint k = 0; k < 4; k++) factor[k] = has[k] ? x[(int)r + offset[k]] : ZERO;
      UNROLL for (uint k = 0; k < 4; k++) sum       = sum + Times(value[k], factor[k]);
    }
    Put(y, r, sum, beta);
  }
}
#endif
