/*
  bccoo_convert.cl - columns, flags and values of a BCCOO storage, made on a device from CSR's rows, columns and values

  Source: Zhang, Li, Yan, Zhou, ACM Trans. Archit. Code Optim. 13(4), 2016, section 4, the first optimisation of tuning ("we use
  GPUs to accelerate the translation"), which does not say how. The host has counted the blocks of each block row, and written down
  where every PIECE-th block is: a work item finds the blocks from there to the next one, in however many block rows they are, by
  moving a cursor in each row of the matrix, and writes down their columns in row order. Later kernels put these where they are
  stored.

    HEIGHT, WIDTH, TILE, SLICES; BUNCH, DEPTH: as in bccoo_blocks.h; COLUMNS 1 int32, 2 uint16, 3 distances from a base of REACH
    blocks, ESCAPES if some are in lists of LISTED tiles, which are the host's; ROWS: non-empty block rows are listed

  All arrays are what the host would have built, to the last bit.
*/
#define STOP      0x80000000u /* of a block found: it ends its block row */
#define NONE      0xffffffffu /* no column: the row has ended */
#define POSITIONS (ENTRIES * SLICES > 1)

/* Where block number q is stored: as BccooPlace() */
INLINE size_t Place(size_t q)
{
  const size_t r = q % (DEPTH * BUNCH);

  return q - r + r % DEPTH * BUNCH + r / DEPTH;
}

/* The first of the entries [first, end) of a row whose column is `column` or more */
INLINE size_t From(GLOBAL const INDEX *indices, size_t first, size_t end, size_t column)
{
  while (first < end) {
    const size_t middle = first + (end - first) / 2;

    if ((size_t)indices[middle] < column) first = middle + 1;
    else end = middle;
  }
  return first;
}

/*
  Where the rows of the k-th non-empty block row have their first entries of block column `column` or more: the cursors, the ends of
  the rows, and the columns of the entries there
*/
INLINE void Stand(GLOBAL const INDEX *pointers, GLOBAL const INDEX *indices, GLOBAL const int *rows, size_t k, uint column, int m,
                  int mb, size_t *cursor, size_t *end, uint *next)
{
  const int stacked = ROWS ? rows[k] : (int)k;

  UNROLL
  for (int i = 0; i < HEIGHT; i++) {
    const size_t row = (size_t)(stacked % mb) * HEIGHT + i, there = row < (size_t)m ? row : (size_t)m - 1;

    end[i]    = (size_t)pointers[there + 1];
    cursor[i] = row < (size_t)m ? (size_t)pointers[there] : end[i];
    if (column) cursor[i] = From(indices, cursor[i], end[i], (size_t)column * WIDTH);
    next[i] = cursor[i] < end[i] ? (uint)indices[cursor[i]] : NONE;
  }
}

/* A work item for each PIECE blocks: their columns, in row order, and where their entries' values are stored */
KERNEL(FLAT_GROUP)
void bccoo_find(GLOBAL const INDEX *RESTRICT pointers, GLOBAL const INDEX *RESTRICT indices, GLOBAL const ulong *RESTRICT ends,
                GLOBAL const int *RESTRICT rows, GLOBAL const int *RESTRICT pieces, GLOBAL uint *RESTRICT found,
                GLOBAL uint *RESTRICT positions, int nblocks, int m, int mb, int slicewidth)
{
  const size_t begin = GLOBAL_ID * PIECE, stop = begin + PIECE < (size_t)nblocks ? begin + PIECE : (size_t)nblocks;
  size_t       cursor[HEIGHT], end[HEIGHT];
  uint         next[HEIGHT]; /* column of each row's next entry */

  if (begin < stop) {
    size_t k    = (size_t)pieces[2 * GLOBAL_ID],
           last = (size_t)ends[k]; /* the block row, and the number of its last block, plus 1 */

    Stand(pointers, indices, rows, k, (uint)pieces[2 * GLOBAL_ID + 1], m, mb, cursor, end, next);
    for (size_t q = begin; q < stop; q++) {
      const size_t place = Place(q), first = (place - place % BUNCH) * ENTRIES + place % BUNCH;
      uint         column = next[0];

      UNROLL
      for (int i = 1; i < HEIGHT; i++) column = next[i] < column ? next[i] : column;
      column /= WIDTH;
      UNROLL
      for (int i = 0; i < HEIGHT; i++) {
        while (next[i] / WIDTH == column && cursor[i] < end[i]) {
          if (POSITIONS) positions[cursor[i]] = (uint)(first + ((next[i] - column * WIDTH) * HEIGHT + i) * BUNCH);
          cursor[i]++;
          next[i] = cursor[i] < end[i] ? (uint)indices[cursor[i]] : NONE;
        }
      }
      found[q] = q + 1 < last ? column : column | STOP;
      if (q + 1 == last && q + 1 < stop) {
        k++;
        last = (size_t)ends[k];
        Stand(pointers, indices, rows, k, SLICES > 1 ? (uint)((ROWS ? rows[k] : (int)k) / mb * slicewidth) : 0, m, mb, cursor,
              end, next);
      }
    }
  }
}

#if COLUMNS == 3
/* A column as it is stored: its distance from the base, or the number of that in the list [first, end) */
INLINE int Stored(GLOBAL const int *escaped, int first, int end, int distance)
{
  const int list = first;

  if (distance >= 0 && distance <= 32767) return distance;
  while (first < end) {
    const int middle = first + (end - first) / 2;

    if (escaped[middle] < distance) first = middle + 1;
    else end = middle;
  }
  return 32768 + first - list;
}
#endif

/* A work item for each tile: its columns as they are stored, padded with 0 */
KERNEL(FLAT_GROUP)
void bccoo_columns(GLOBAL const uint *RESTRICT found, GLOBAL const int *RESTRICT bases, GLOBAL const int *RESTRICT escaped,
                   GLOBAL const int *RESTRICT escapes, GLOBAL COLUMN *RESTRICT columns, int ntiles, int nblocks)
{
  const size_t tile = GLOBAL_ID;

  if (tile < (size_t)ntiles) {
    for (int k = 0; k < TILE; k++) {
      const size_t q      = tile * TILE + k;
      int          column = q < (size_t)nblocks ? (int)(found[q] & ~STOP) : 0;

#if COLUMNS == 3
      if (q < (size_t)nblocks) {
        const int first = ESCAPES ? escapes[tile / LISTED] : 0, end = ESCAPES ? escapes[tile / LISTED + 1] : 0;

        column = Stored(escaped, first, end, column - bases[q / REACH]);
      }
#endif
      columns[Place(q)] = (COLUMN)column;
    }
  }
}

/* A work item for eight flags: 0 where a block is the last of its block row, 1 elsewhere */
KERNEL(FLAT_GROUP)
void bccoo_flags(GLOBAL const uint *RESTRICT found, GLOBAL uchar *RESTRICT flags, int nbytes, int nblocks)
{
  const size_t byte = GLOBAL_ID;
  int          bits = 0;

  for (int b = 0; b < 8; b++) {
    const size_t q = byte * 8 + b;

    bits |= (q < (size_t)nblocks && (found[q] & STOP) ? 0 : 1) << b;
  }
  if (byte < (size_t)nbytes) flags[byte] = (uchar)bits;
}

/* A work item for each entry of the matrix; 1x1 blocks in one slice, which are the entries, have no positions */
KERNEL(FLAT_GROUP)
void bccoo_values(GLOBAL const SCALAR *RESTRICT entries, GLOBAL const uint *RESTRICT positions, GLOBAL SCALAR *RESTRICT values,
                  int nentries)
{
  if (GLOBAL_ID < (size_t)nentries) values[POSITIONS ? positions[GLOBAL_ID] : Place(GLOBAL_ID)] = entries[GLOBAL_ID];
}
