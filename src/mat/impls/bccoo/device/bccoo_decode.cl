/*
  bccoo_decode.cl - blocks as they are stored, and results as y has them, for all strategies

  x goes through the cache for what is only read, where there is one: Table I's texture memory is no knob. Pointers are RESTRICT
  in kernels only: in functions that are inlined it brings Oclgrind 21 to a halt.
*/
#define CARRY_KERNEL   0
#define CARRY_ADJACENT 1

#if FLAG_BITS == 8
typedef uchar FLAGS;
#elif FLAG_BITS == 16
typedef ushort    FLAGS;
#else
typedef uint FLAGS;
#endif

#if CARRY == CARRY_KERNEL
typedef SCALAR SHARED;
  #define PUT(p, v) (*(p) = (v))
  #define GET(p)    (*(p))
#else
typedef REAL_WORD SHARED;
  #define PUT(p, v) REAL_PUT(p, v)
  #define GET(p)    REAL_GET(p)
#endif

#define TILES (GROUP * BUNCH) /* of a work group */

/* What a work item works with. bccoo_carry has no more than the first lines */
typedef struct {
  GLOBAL const int     *entries, *rows;
  GLOBAL SHARED        *heads, *tails; /* [work groups x HEIGHT] */
  GLOBAL SCALAR        *y;
  int                   m, beta;
  int                   n, ngroups;
  int                   group, t, first; /* numbers of the work group, of the work item in it, of the group's first result */
  uint                  epoch;
  GLOBAL volatile uint *sync; /* [1 + work groups] */
  GLOBAL const SCALAR  *values, *x;
  GLOBAL const COLUMN  *columns;
  GLOBAL const FLAGS   *flags;
  GLOBAL const int     *bases, *escaped, *escapes;
  LOCAL_POINTER SCALAR *own; /* [OWN] local memory of the strategy */
} Work;

/* A thread tile, block after block */
typedef struct {
  SCALAR head[HEIGHT], last[HEIGHT]; /* the sum at the first row stop; the last partial sum */
  int    seen, result;               /* whether there was a row stop; number of the next result */
  int    column, escape;             /* of the block before, if columns are differences; number of the next escaped one */
} Tile;

INLINE void TileBegin(const Work *w, size_t tile, Tile *s)
{
  UNROLL
  for (int i = 0; i < HEIGHT; i++) s->head[i] = s->last[i] = ZERO;
  s->seen   = 0;
  s->result = w->entries[tile];
  if (COLUMNS == 3) s->column = w->bases[tile];
  if (ESCAPES) s->escape = w->escapes[tile];
}

/* The first thread tile of a work item */
INLINE size_t FirstTile(const Work *w)
{
  return ((size_t)w->group * GROUP + w->t) * BUNCH;
}

/* Number of the first result of work group g */
INLINE int FirstResult(const Work *w, int g)
{
  return w->entries[(size_t)g * TILES];
}

/* The product of the block at place + lane, one of `bunch` that are stored side by side from `place` on */
INLINE void Product(const Work *w, size_t place, int lane, size_t bunch, Tile *s, SCALAR *sum)
{
  GLOBAL const SCALAR *value  = w->values + place * ENTRIES + lane;
  int                  column = STREAM(&w->columns[place + lane]);

  if (COLUMNS == 3) column = s->column = ESCAPES && column == -1 ? w->escaped[s->escape++] : s->column + column;
  UNROLL
  for (int i = 0; i < HEIGHT; i++) sum[i] = ZERO;
  UNROLL
  for (int j = 0; j < WIDTH; j++) {
    const size_t c  = (size_t)column * WIDTH + j;
    const SCALAR xj = !RAGGED || c < (size_t)w->n ? w->x[c] : ZERO;

    UNROLL
    for (int i = 0; i < HEIGHT; i++) sum[i] = sum[i] + Times(STREAM(&value[(j * HEIGHT + i) * bunch]), xj);
  }
}

INLINE int IsStop(const Work *w, size_t place)
{
  return !(w->flags[place / FLAG_BITS] >> place % FLAG_BITS & 1);
}

/* Row i of result r, complete, to y; with slices, to the product of its slice */
INLINE void StoreRow(const Work *w, int r, int i, SCALAR sum)
{
  const size_t row = (size_t)(ROWS ? w->rows[r] : r) * HEIGHT + i;

  if (SLICES > 1) w->y[row] = sum;
  else if (row < (size_t)w->m) Put(w->y, row, sum, w->beta);
}

INLINE void Store(const Work *w, int r, const SCALAR *sum)
{
  UNROLL
  for (int i = 0; i < HEIGHT; i++) StoreRow(w, r, i, sum[i]);
}

/* What a strategy does with result r, once it is complete */
#if STRATEGY == 2
INLINE void TileResult(const Work *w, int r, const SCALAR *sum);
#else
  #define TileResult Store
#endif

/* Adds the product of a block; a sum that ends there is a result, but for the first one, which is not complete */
INLINE void AddBlock(const Work *w, size_t place, const SCALAR *product, Tile *s)
{
  UNROLL
  for (int i = 0; i < HEIGHT; i++) s->last[i] = s->last[i] + product[i];
  if (IsStop(w, place)) {
    if (s->seen) TileResult(w, s->result, s->last);
    for (int i = 0; i < HEIGHT; i++) {
      if (!s->seen) s->head[i] = s->last[i];
      s->last[i] = ZERO;
    }
    s->seen = 1;
    s->result++;
  }
}
