/*
  bccoo_strategy1.cl - strategy 1: all intermediate sums of a tile are kept, some in registers, the others in local memory

    REGISTERS  how many in registers
    ONLINE     blocks lie in row order; they are read side by side and their products transposed in local memory. Otherwise they
               were stored transposed: block k of all work items side by side

  Online, neighbouring work items gather x for neighbours in row order; offline for blocks a tile apart, mostly from other lines.
*/
#define BANKED (1024 / (REAL_BITS << COMPLEX)) /* scalars of 128 bytes, which is what banks of local memory have a word each of */

#if ONLINE /* a tile's sums side by side; a gap after BANKED of them, so that work items a tile apart find them in other banks */
  #define SPREAD(q)        ((q) + (q) / BANKED)
  #define SUMS             (SPREAD(GROUP * TILE) + 1)
  #define OWN              (SUMS * HEIGHT)
  #define OWN_SUM(w, k, i) (w)->own[(i)*SUMS + SPREAD((w)->t * TILE + (k))]
  #define NUMBER(w, k)     (((size_t)(w)->group * TILE + (k)) * GROUP + (w)->t) /* of the k-th block that is read */
  #define NEW_BASE(k)      1
#else
  #define OWN              (TILE > REGISTERS ? (TILE - REGISTERS) * HEIGHT * GROUP : 1)
  #define OWN_SUM(w, k, i) (w)->own[(((k)-REGISTERS) * HEIGHT + (i)) * GROUP + (w)->t]
  #define NUMBER(w, k)     (FirstTile(w) * TILE + (k))
  #define NEW_BASE(k)      ((k) % REACH == 0)
#endif

typedef struct { /* intermediate_sums */
  SCALAR sum[REGISTERS > 0 ? REGISTERS : 1][HEIGHT];
  uint   stops[TILE / FLAG_STEP];
} Sums;

#define STOP(sums, k) ((int)((sums)->stops[(k) / FLAG_STEP] >> (k) % FLAG_STEP & 1))

INLINE SCALAR GetSum(const Work *w, const Sums *sums, int k, int i)
{
  return k < REGISTERS ? sums->sum[k][i] : OWN_SUM(w, k, i);
}

INLINE void SetSum(const Work *w, Sums *sums, int k, int i, SCALAR v)
{
  if (k < REGISTERS) sums->sum[k][i] = v;
  else OWN_SUM(w, k, i) = v;
}

/* The products of all blocks, online transposed: a tile is read before the first branch on a flag, CHUNK columns before x */
INLINE void TileProducts(const Work *w, Tile *s, Sums *sums)
{
  UNROLL
  for (int start = 0; start < TILE; start += CHUNK) {
    const size_t first = ((size_t)w->group * TILE + start) * GROUP;
    int          column[CHUNK];

    UNROLL
    for (int k = 0; k < CHUNK; k++) column[k] = Code(w, first + (size_t)k * GROUP + w->t);
    UNROLL
    for (int k = 0; k < CHUNK; k++) {
      if (NEW_BASE(start + k)) s->base = Base(w, NUMBER(w, start + k));
      column[k] = Column(w, s, s->base, column[k]);
    }
    UNROLL
    for (int k = 0; k < CHUNK; k++) {
      SCALAR p[HEIGHT];

      Product(w, first + (size_t)k * GROUP, w->t, GROUP, column[k], p);
      UNROLL
      for (int i = 0; i < HEIGHT; i++) {
#if ONLINE
        w->own[i * SUMS + SPREAD((start + k) * GROUP + w->t)] = p[i];
#else
        SetSum(w, sums, start + k, i, p[i]);
#endif
      }
    }
  }
#if ONLINE
  BARRIER;
  UNROLL
  for (int k = 0; k < REGISTERS; k++) {
    UNROLL
    for (int i = 0; i < HEIGHT; i++) sums->sum[k][i] = OWN_SUM(w, k, i);
  }
#endif
}

/* What both ways of a sequential segmented scan begin with */
INLINE void TileRead(const Work *w, Tile *s, Sums *sums)
{
  TileBegin(w, FirstTile(w), s);
  UNROLL
  for (int k = 0; k < TILE; k += FLAG_STEP) sums->stops[k / FLAG_STEP] = Stops(w, FirstTile(w) * TILE + k);
  TileProducts(w, s, sums);
}

#ifdef CACHED
/* The products are all in registers: sums that are complete go to the cache at once, and none is kept */
INLINE void TileSums(const Work *w, Tile *s, Sums *sums)
{
  TileRead(w, s, sums);
  BARRIER; /* all have theirs */
  UNROLL
  for (int k = 0; k < TILE; k++) AddBlock(w, STOP(sums, k), sums->sum[k], s);
}

INLINE void TileRest(const Work *w, const Tile *s, const Sums *sums)
{
  WriteResults(w);
}
#else
INLINE void TileSums(const Work *w, Tile *s, Sums *sums)
{
  TileRead(w, s, sums);
  UNROLL
  for (int k = 0; k < TILE; k++) {
    const int stop = STOP(sums, k);

    UNROLL
    for (int i = 0; i < HEIGHT; i++) {
      s->last[i] = s->last[i] + GetSum(w, sums, k, i);
      SetSum(w, sums, k, i, s->last[i]);
      if (stop && !s->seen) s->head[i] = s->last[i];
      if (stop) s->last[i] = ZERO;
    }
    s->seen |= stop;
  }
}

/* The row stops after the first one: their sums are complete */
INLINE void TileRest(const Work *w, const Tile *s, const Sums *sums)
{
  int result = s->first, seen = 0;

  UNROLL
  for (int k = 0; k < TILE; k++) {
    if (STOP(sums, k)) {
      SCALAR sum[HEIGHT];

      UNROLL
      for (int i = 0; i < HEIGHT; i++) sum[i] = GetSum(w, sums, k, i);
      if (seen) Store(w, result, sum);
      seen = 1;
      result++;
    }
  }
}
#endif
