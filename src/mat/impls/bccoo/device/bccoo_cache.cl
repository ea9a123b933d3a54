/*
  bccoo_cache.cl - results that are complete: to y as they come, or to a cache in local memory, which is written in one go

  CACHED block rows of the cache, which is the strategy's own memory: CACHE times the work group in strategy 2; in strategy 1, where
  what was transposed is all in registers, the memory that it was transposed in, which has room for all results

    TileResult(w, r, sum)   takes result r of a work item, but for its work group's first one
    WriteResults(w)         at the end of a work group: what the cache holds

  Source: as bccoo.cl, section 3.2.2, strategy 2. We differ: strategy 1 has the cache as well, where it costs no memory. Neighbours
  in y are written by neighbouring work items, rather than a tile of rows apart.
*/
#if STRATEGY == 2
  #define CACHED (CACHE * GROUP)
#elif STRATEGY == 1 && ONLINE && REGISTERS >= TILE
  #define CACHED (TILE * GROUP)
#endif

#ifdef CACHED
INLINE void TileResult(const Work *w, int r, const SCALAR *sum)
{
  const int k = r - w->first;

  if (k < CACHED) {
    for (int i = 0; i < HEIGHT; i++) w->own[k * HEIGHT + i] = sum[i];
  } else Store(w, r, sum);
}

/* Side by side where no block row is empty */
INLINE void WriteResults(const Work *w)
{
  const int results = FirstResult(w, w->group + 1) - w->first, cached = (results < CACHED ? results : CACHED) * HEIGHT;

  BARRIER;
  for (int q = HEIGHT + w->t; q < cached; q += GROUP) StoreRow(w, w->first + q / HEIGHT, q % HEIGHT, w->own[q]);
}
#else
  #define TileResult      Store
  #define WriteResults(w) ((void)0)
#endif

#if defined(CACHED) || STRATEGY == 3
/* Adds the product of a block; a sum that ends there is a result, but for the first one, which is not complete */
INLINE void AddBlock(const Work *w, int stop, const SCALAR *product, Tile *s)
{
  UNROLL
  for (int i = 0; i < HEIGHT; i++) s->last[i] = s->last[i] + product[i];
  if (stop) {
    if (s->seen) TileResult(w, s->result, s->last);
    for (int i = 0; i < HEIGHT; i++) {
      if (!s->seen) s->head[i] = s->last[i];
      s->last[i] = ZERO;
    }
    s->seen = 1;
    s->result++;
  }
}
#endif
