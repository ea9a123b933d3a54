/*
  pmf.cl - the products of a device

  Source: Yang, Li, Mo, Li, IEEE Trans. Computers 64(9), 2015: ELL with a thread for each row (5.2, 5.3), blocks along the
  diagonal as DIA (4.2.4). The paper calls NVIDIA's kernels and prints none.

    HEIGHT   rows of a slice; COLUMN: the type of its columns, counted from the slice's first
    BLOCK    rows of a block along the diagonal, whose kernel comes first and which slices add to; 0: no blocks
    GROUP    work items of a work group

  Rows of a slice have different lengths, and each work item reads its own row: padding is stored, but never read, and an Inf
  or NaN of x does no harm where there is no entry.
*/
/* A work item for each row of the slices */
KERNEL(GROUP)
void pmf_slices(GLOBAL const SCALAR *RESTRICT values, GLOBAL const COLUMN *RESTRICT columns, GLOBAL const uint *RESTRICT steps,
                GLOBAL const int *RESTRICT bases, GLOBAL const int *RESTRICT lengths, GLOBAL const int *RESTRICT rows,
                GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y, int nsliced, int beta)
{
  const size_t k = GLOBAL_ID;

  if (k < (size_t)nsliced) {
    const size_t slice = k / HEIGHT;
    const int    base = bases[slice], length = lengths[k];
    size_t       place = (size_t)steps[slice] * HEIGHT + k % HEIGHT;
    SCALAR       sum   = ZERO;

    for (int n = 0; n < length; n++, place += HEIGHT) {
      sum = sum + Times(STREAM(&values[place]), x[base + (int)STREAM(&columns[place])]);
    }
    Put(y, (size_t)rows[k], sum, BLOCK || beta);
  }
}

/* A work group for each chunk of a long row: each work item adds up every GROUP-th entry, then halves are added */
KERNEL(GROUP)
void pmf_chunks(GLOBAL const SCALAR *RESTRICT values, GLOBAL const int *RESTRICT columns, GLOBAL const uint *RESTRICT chunks,
                GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *RESTRICT sums)
{
  LOCAL SCALAR sum[GROUP];
  const int    t    = LOCAL_ID;
  const uint   end  = chunks[GROUP_ID + 1];
  SCALAR       mine = ZERO;

  for (uint n = chunks[GROUP_ID] + (uint)t; n < end; n += GROUP) mine = mine + Times(STREAM(&values[n]), x[STREAM(&columns[n])]);
  sum[t] = mine;
  BARRIER;
  for (int reach = GROUP / 2; reach > 0; reach /= 2) {
    if (t < reach) sum[t] = sum[t] + sum[t + reach];
    BARRIER;
  }
  if (t == 0) sums[GROUP_ID] = sum[0];
}

/* A work item for each long row: its chunks in their order */
KERNEL(GROUP)
void pmf_longs(GLOBAL const int *RESTRICT longrows, GLOBAL const SCALAR *RESTRICT sums, GLOBAL const int *RESTRICT rows,
               GLOBAL SCALAR *y, int nrows, int nlong, int beta)
{
  const size_t l = GLOBAL_ID;

  if (l < (size_t)nlong) {
    SCALAR sum = ZERO;

    for (int c = longrows[l]; c < longrows[l + 1]; c++) sum = sum + sums[c];
    Put(y, (size_t)rows[(size_t)nrows - 1 - l], sum, BLOCK || beta);
  }
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
    SCALAR       sum  = ZERO;

    for (uint d = diagonals[r / BLOCK]; d < end; d++) {
      if (masks[d] >> lane & 1) sum = sum + Times(STREAM(&values[(size_t)d * BLOCK + lane]), x[(int)r + offsets[d]]);
    }
    Put(y, r, sum, beta);
  }
}
#endif
