/*
  bccoo_strategy1.cl - strategy 1: all intermediate sums of a tile are kept, some in registers, the others in local memory

    REGISTERS  how many in registers
    ONLINE     blocks lie in row order; they are read side by side and their products transposed in local memory. Otherwise they
               were stored transposed: block k of all work items side by side
*/
#if ONLINE /* a tile's sums side by side; a gap every 32 places, against bank conflicts */
  #define SPREAD(q)        ((q) + (q) / 32)
  #define SUMS             (SPREAD(GROUP * TILE) + 1)
  #define OWN              (SUMS * HEIGHT)
  #define OWN_SUM(w, k, i) (w)->own[(i)*SUMS + SPREAD((w)->t * TILE + (k))]
  #define PLACE(w, k)      (FirstTile(w) * TILE + (k))
#else
  #define OWN              (TILE > REGISTERS ? (TILE - REGISTERS) * HEIGHT * GROUP : 1)
  #define OWN_SUM(w, k, i) (w)->own[(((k)-REGISTERS) * HEIGHT + (i)) * GROUP + (w)->t]
  #define PLACE(w, k)      (((size_t)(w)->group * TILE + (k)) * GROUP + (w)->t)
#endif

typedef struct { /* intermediate_sums */
  SCALAR sum[REGISTERS > 0 ? REGISTERS : 1][HEIGHT];
} Sums;

INLINE SCALAR GetSum(const Work *w, const Sums *sums, int k, int i)
{
  return k < REGISTERS ? sums->sum[k][i] : OWN_SUM(w, k, i);
}

INLINE void SetSum(const Work *w, Sums *sums, int k, int i, SCALAR v)
{
  if (k < REGISTERS) sums->sum[k][i] = v;
  else OWN_SUM(w, k, i) = v;
}

/* The products of all blocks: all of the tile is read before the first branch on a flag */
INLINE void TileProducts(const Work *w, Tile *s, Sums *sums)
{
  UNROLL
  for (int k = 0; k < TILE; k++) {
    const size_t place = ((size_t)w->group * TILE + k) * GROUP;
    SCALAR       p[HEIGHT];

#if ONLINE
    Product(w, place + w->t, 0, 1, s, p);
    for (int i = 0; i < HEIGHT; i++) w->own[i * SUMS + SPREAD(k * GROUP + w->t)] = p[i];
#else
    Product(w, place, w->t, GROUP, s, p);
    UNROLL
    for (int i = 0; i < HEIGHT; i++) SetSum(w, sums, k, i, p[i]);
#endif
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

/* Sequential segmented scan */
INLINE void TileSums(const Work *w, Tile *s, Sums *sums)
{
  TileBegin(w, FirstTile(w), s);
  TileProducts(w, s, sums);
  UNROLL
  for (int k = 0; k < TILE; k++) {
    const int stop = IsStop(w, PLACE(w, k));

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
  int result = w->entries[FirstTile(w)], seen = 0;

  UNROLL
  for (int k = 0; k < TILE; k++) {
    if (IsStop(w, PLACE(w, k))) {
      SCALAR sum[HEIGHT];

      UNROLL
      for (int i = 0; i < HEIGHT; i++) sum[i] = GetSum(w, sums, k, i);
      if (seen) Store(w, result, sum);
      seen = 1;
      result++;
    }
  }
}
