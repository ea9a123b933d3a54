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

/* Blocks whose flags a work item has in one word: a tile's, or those of a part of it */
#if TILE % FLAG_BITS == 0
  #define FLAG_STEP FLAG_BITS
#elif TILE % 16 == 0
  #define FLAG_STEP 16
#else
  #define FLAG_STEP 8
#endif

/* What a work item works with. bccoo_carry has no more than the first lines */
typedef struct {
  GLOBAL const int     *firsts, *rows; /* numbers of the first results of work groups */
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
  GLOBAL const int     *entries, *bases, *escaped, *escapes;
  LOCAL_POINTER SCALAR *own; /* [OWN] local memory of the strategy */
} Work;

/* A thread tile, block after block */
typedef struct {
  SCALAR head[HEIGHT], last[HEIGHT]; /* the sum at the first row stop; the last partial sum */
  int    seen, result, first;        /* whether there was a row stop; numbers of the next result, of the tile's first one */
  int    base, list;                 /* columns that are distances: the base, where the list begins */
} Tile;

INLINE void TileBegin(const Work *w, size_t tile, Tile *s)
{
  UNROLL
  for (int i = 0; i < HEIGHT; i++) s->head[i] = s->last[i] = ZERO;
  s->seen   = 0;
  s->result = s->first = w->entries[tile];
  if (ESCAPES) s->list = w->escapes[tile / LISTED];
}

/* The first thread tile of a work item */
INLINE size_t FirstTile(const Work *w)
{
  return ((size_t)w->group * GROUP + w->t) * BUNCH;
}

/* Number of the first result of work group g */
INLINE int FirstResult(const Work *w, int g)
{
  return w->firsts[g];
}

/* The column as it is stored at a place */
INLINE int Code(const Work *w, size_t place)
{
  return (int)STREAM(&w->columns[place]);
}

/* The base of block number q */
INLINE int Base(const Work *w, size_t q)
{
  return COLUMNS == 3 ? w->bases[q / REACH] : 0;
}

/* The column that is meant: whoever's is far reads its distance, and none waits for another */
INLINE int Column(const Work *w, const Tile *s, int base, int code)
{
  if (COLUMNS != 3) return code;
  return base + (ESCAPES && code > 32767 ? w->escaped[s->list + code - 32768] : code);
}

/* The product of the block at place + lane, one of `bunch` that are stored side by side from `place` on */
INLINE void Product(const Work *w, size_t place, int lane, size_t bunch, int column, SCALAR *sum)
{
  GLOBAL const SCALAR *value = w->values + place * ENTRIES + lane;

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

/* The row stops among FLAG_STEP blocks from number q on: bit b is 1 if block q + b is one. The bits after them are anything */
INLINE uint Stops(const Work *w, size_t q)
{
  return ~((uint)w->flags[q / FLAG_BITS] >> q % FLAG_BITS);
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
