/*
  bccoo_strategy2.cl - strategy 2: complete sums go to a result cache of CACHE x GROUP block rows, which is written in one go

  Source: algorithm 2. We differ: it adds the carry to result_cache[0] even if the work group has no row stop, whose entry 0 is
  then nobody's; here the carry goes to the work item that has the first row stop. Sums at a work item's first row stop wait in a
  register until they are complete, rather than in the cache or, past its end, in the result. It has no barrier between the last
  sums that go to the cache and the loop that writes the cache to the result.
*/
#define OWN (CACHED * HEIGHT) /* result_cache */

typedef int Sums; /* none */

/* CHUNK blocks from number k of the tile on: their columns are read, then all else, before the first branch on a flag */
INLINE void TileChunk(const Work *w, int k, uint stops, Tile *s)
{
  const size_t first = ((size_t)w->group * TILE + k) * GROUP;
  int          column[CHUNK];
  SCALAR       p[CHUNK][HEIGHT];

  if (k % REACH == 0) s->base = Base(w, FirstTile(w) * TILE + k);
  UNROLL
  for (int c = 0; c < CHUNK; c++) column[c] = Code(w, first + (size_t)c * GROUP + w->t);
  UNROLL
  for (int c = 0; c < CHUNK; c++) column[c] = Column(w, s, s->base, column[c]);
  UNROLL
  for (int c = 0; c < CHUNK; c++) Product(w, first + (size_t)c * GROUP, w->t, GROUP, column[c], p[c]);
  UNROLL
  for (int c = 0; c < CHUNK; c++) AddBlock(w, stops >> c & 1, p[c], s);
}

INLINE void TileSums(const Work *w, Tile *s, Sums *sums)
{
  TileBegin(w, FirstTile(w), s);
  for (int start = 0; start < TILE; start += FLAG_STEP) {
    const uint stops = Stops(w, FirstTile(w) * TILE + start);

    for (int c = 0; c < FLAG_STEP; c += CHUNK) TileChunk(w, start + c, stops >> c, s);
  }
}

INLINE void TileRest(const Work *w, const Tile *s, const Sums *sums)
{
  WriteResults(w);
}
