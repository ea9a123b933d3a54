/*
  bccoo_strategy2.cl - strategy 2: complete sums go to a result cache of CACHE x GROUP block rows, which is written in one go

  Source: algorithm 2. We differ: it adds the carry to result_cache[0] even if the work group has no row stop, whose entry 0 is
  then nobody's; here the carry goes to the work item that has the first row stop. Sums at a work item's first row stop wait in a
  register until they are complete, rather than in the cache or, past its end, in the result. It has no barrier between the last
  sums that go to the cache and the loop that writes the cache to the result.
*/
#define CACHED      (CACHE * GROUP)
#define OWN         (CACHED * HEIGHT) /* result_cache */
#define PLACE(w, k) (((size_t)(w)->group * TILE + (k)) * GROUP)

typedef int Sums; /* none */

INLINE void TileResult(const Work *w, int r, const SCALAR *sum)
{
  const int k = r - w->first;

  if (k < CACHED) {
    for (int i = 0; i < HEIGHT; i++) w->own[k * HEIGHT + i] = sum[i];
  } else Store(w, r, sum);
}

INLINE void TileSums(const Work *w, Tile *s, Sums *sums)
{
  TileBegin(w, FirstTile(w), s);
  for (int start = 0; start < TILE; start += CHUNK) {
    SCALAR p[CHUNK][HEIGHT];

    UNROLL
    for (int k = 0; k < CHUNK; k++) Product(w, PLACE(w, start + k), w->t, GROUP, s, p[k]); /* before the first branch on a flag */
    UNROLL
    for (int k = 0; k < CHUNK; k++) AddBlock(w, PLACE(w, start + k) + w->t, p[k], s);
  }
}

/* The cache to y, but for the first result of the work group: side by side where no block row is empty */
INLINE void TileRest(const Work *w, const Tile *s, const Sums *sums)
{
  const int results = FirstResult(w, w->group + 1) - w->first, cached = (results < CACHED ? results : CACHED) * HEIGHT;

  BARRIER;
  for (int q = HEIGHT + w->t; q < cached; q += GROUP) StoreRow(w, w->first + q / HEIGHT, q % HEIGHT, w->own[q]);
}
