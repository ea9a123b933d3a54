/*
  bccoo_strategy3.cl - strategy 3, for devices with vectors: a work item has BUNCH tiles side by side, one in each lane of
  BUNCH x HEIGHT sums, and writes what is complete; at the end it joins its lanes, and is from then on like one with a single tile

  Source: algorithm 3. We differ: its loop over the tiles of a bunch is inside "i != 0", so that work item 0 loses their carry. It
  adds carries to results that were written; here sums at a lane's first row stop wait in registers, and are written once.
*/
#define OWN         1                                 /* none */
#define PLACE(w, k) (FirstTile(w) * TILE + (k)*BUNCH) /* of lane 0 */

typedef int Sums; /* none */

/* Block k of each lane */
INLINE void TileStep(const Work *w, int k, uint *stops, Tile *lane)
{
  SCALAR p[BUNCH][HEIGHT];

  UNROLL
  for (int l = 0; l < BUNCH; l++) /* before the first branch on a flag */
    Product(w, PLACE(w, k), l, BUNCH, Column(w, &lane[l], lane[l].base, Code(w, PLACE(w, k) + l)), p[l]);
  UNROLL
  for (int l = 0; l < BUNCH; l++) {
    AddBlock(w, stops[l] & 1, p[l], &lane[l]);
    stops[l] >>= 1;
  }
}

INLINE void TileSums(const Work *w, Tile *s, Sums *sums)
{
  const size_t tile = FirstTile(w);
  Tile         lane[BUNCH];

  UNROLL
  for (int l = 0; l < BUNCH; l++) TileBegin(w, tile + l, &lane[l]);
  for (int start = 0; start < TILE; start += FLAG_STEP) {
    uint stops[BUNCH];

    UNROLL
    for (int l = 0; l < BUNCH; l++) {
      stops[l] = Stops(w, (tile + l) * TILE + start);
      if (start % REACH == 0) lane[l].base = Base(w, (tile + l) * TILE + start);
    }
    for (int k = start; k < start + FLAG_STEP; k++) TileStep(w, k, stops, lane);
  }
  TileBegin(w, tile, s);
  UNROLL
  for (int l = 0; l < BUNCH; l++) { /* lines 10 to 12: what the tiles before left goes to this one's first row stop */
    for (int i = 0; i < HEIGHT; i++) lane[l].head[i] = s->last[i] + lane[l].head[i];
    if (lane[l].seen && s->seen) Store(w, lane[l].first, lane[l].head);
    for (int i = 0; i < HEIGHT; i++) {
      if (lane[l].seen && !s->seen) s->head[i] = lane[l].head[i];
      s->last[i] = lane[l].seen ? lane[l].last[i] : s->last[i] + lane[l].last[i];
    }
    s->seen |= lane[l].seen;
  }
}

/* All are written */
INLINE void TileRest(const Work *w, const Tile *s, const Sums *sums) {}
