/*
  bccoo_carry.cl - sums that go on from one work item to the next (Scan), and from one work group to the next

    CARRY 0  a second kernel, bccoo_carry, adds the tails, in a segmented scan of FLAT_GROUP work items
    CARRY 1  adjacent synchronisation: each work group waits for the one before. For GPUs, as in the paper: neither API promises
             that work groups that started go on, but GPUs run what started to its end. Numbers are given to work groups in the
             order in which they start. Tests run it on PoCL, whose threads run a work group to its end

  Source: as bccoo.cl, section 3.2.3. Between work groups, only tails, heads (what a work group has of its first result) and flags
  are read while they may be written, by exchange in one piece. We differ: Sync_flag (`sync`) holds the number of the product, so
  that it is not cleared between products.
*/

/*
  Inclusive segmented scan over the `size` work items of a group, where a work item with a start begins a segment. sums (of row i of
  a block from 2 size i on) and starts have two halves that take turns, so that one barrier a step is enough. Returns the half with
  the result
*/
INLINE int Scan(LOCAL_POINTER SCALAR *sums, LOCAL_POINTER int *starts, int t, int size)
{
  int turn = 0; /* the half that has the sums */

  for (int d = 1; d < size; d *= 2) {
    const int here = turn * size + t, there = size - turn * size + t; /* this work item in one half and the other */
    const int start = starts[here], joins = t >= d && !start;

    for (int i = 0; i < HEIGHT; i++) {
      const SCALAR sum = sums[i * 2 * size + here];

      sums[i * 2 * size + there] = joins ? sums[i * 2 * size + here - d] + sum : sum;
    }
    starts[there] = t >= d ? start | starts[here - d] : start;
    turn          = 1 - turn;
    BARRIER;
  }
  return turn;
}

/* What comes before a work group, from the one before it */
INLINE void Await(const Work *w, LOCAL_POINTER SCALAR *before)
{
  for (int i = 0; i < HEIGHT; i++) before[i] = ZERO;
  if (w->group > 0) {
    while (ATOMIC_READ(&w->sync[w->group]) != w->epoch) {}
    FENCE;
    for (int i = 0; i < HEIGHT; i++) before[i] = GET(&w->tails[(size_t)(w->group - 1) * HEIGHT + i]);
  }
}

/*
  The tail of a work group, its sums 2 * GROUP apart, by one work item. With adjacent synchronisation it waits for the work group
  before, and tells the one after what comes before that: the tail, or, without a row stop, the tail and all before. Who has a row
  stop breaks the chain: the next one need not wait for what comes here
*/
INLINE void PutTail(const Work *w, LOCAL_POINTER const SCALAR *tail, LOCAL_POINTER SCALAR *before)
{
  const int joins = CARRY == CARRY_ADJACENT && FirstResult(w, w->group + 1) == w->first;

  if (joins) Await(w, before);
  for (int i = 0; i < HEIGHT; i++) {
    const SCALAR sum = tail[i * 2 * GROUP];

    PUT(&w->tails[(size_t)w->group * HEIGHT + i], joins ? before[i] + sum : sum);
  }
  if (CARRY == CARRY_ADJACENT) {
    FENCE;
    ATOMIC_WRITE(&w->sync[1 + w->group], w->epoch);
    if (!joins) Await(w, before);
  }
}

/* What a work group has of its first result: with what comes `before` it is complete, otherwise a head */
INLINE void PutHead(const Work *w, int r, SCALAR *sum, LOCAL_POINTER const SCALAR *before)
{
#if CARRY == CARRY_ADJACENT
  for (int i = 0; i < HEIGHT; i++) sum[i] = before[i] + sum[i];
  Store(w, r, sum);
#else
  for (int i = 0; i < HEIGHT; i++) PUT(&w->heads[(size_t)w->group * HEIGHT + i], sum[i]);
#endif
}

/*
  The first work group whose tail belongs to the result that work group g begins with: the last one before g with a row stop, or 0.
  Numbers of first results increase, so it is found by halving, after a look at the one before g, which it nearly always is
*/
INLINE int FirstTail(const Work *w, int g)
{
  const int result = FirstResult(w, g);
  int       first = 0, end = g;

  if (g > 0 && FirstResult(w, g - 1) < result) return g - 1;
  while (first < end) {
    const int middle = first + (end - first) / 2;

    if (FirstResult(w, middle) < result) first = middle + 1;
    else end = middle;
  }
  return first > 0 ? first - 1 : 0;
}

/*
  Completes the first results of FLAT_GROUP work groups of the product from g on, by as many work items. What comes before the
  first of them, which may be most of a long row, is added up by all work items, each every FLAT_GROUP-th tail; then their own tails
  are scanned. Only those in which a row ends add up what was before, so that each tail is read twice at most
*/
INLINE void Carry(const Work *w, int g, int t, LOCAL_POINTER SCALAR *sums, LOCAL_POINTER int *starts,
                  LOCAL_POINTER SCALAR *before)
{
  const int end = w->ngroups - g < FLAT_GROUP ? w->ngroups : g + FLAT_GROUP, here = g + t < end ? g + t : end;
  const int from = FirstResult(w, g) < FirstResult(w, end) ? FirstTail(w, g) : g; /* without a row stop there is no result */
  const int ends = here < end && FirstResult(w, here) < FirstResult(w, here + 1);
  int       turn;
  SCALAR    sum[HEIGHT];

  for (int i = 0; i < HEIGHT; i++) sum[i] = ZERO;
  for (int k = from + t; k < g; k += FLAT_GROUP) {
    for (int i = 0; i < HEIGHT; i++) sum[i] = sum[i] + GET(&w->tails[(size_t)k * HEIGHT + i]);
  }
  for (int i = 0; i < HEIGHT; i++) sums[i * 2 * FLAT_GROUP + t] = sum[i];
  starts[t] = 0;
  BARRIER;
  turn = Scan(sums, starts, t, FLAT_GROUP); /* its last sum is that of all */
  if (t == 0) {
    for (int i = 0; i < HEIGHT; i++) before[i] = sums[i * 2 * FLAT_GROUP + turn * FLAT_GROUP + FLAT_GROUP - 1];
  }
  BARRIER;
  for (int i = 0; i < HEIGHT; i++) {
    sum[i] = here < end ? GET(&w->tails[(size_t)here * HEIGHT + i]) : ZERO;
    if (t == 0 && !ends) sum[i] = before[i] + sum[i];
    sums[i * 2 * FLAT_GROUP + t] = sum[i];
  }
  starts[t] = ends;
  BARRIER;
  turn = Scan(sums, starts, t, FLAT_GROUP);
  if (ends) {
    for (int i = 0; i < HEIGHT; i++) {
      sum[i] = (t ? sums[i * 2 * FLAT_GROUP + turn * FLAT_GROUP + t - 1] : before[i]) + GET(&w->heads[(size_t)here * HEIGHT + i]);
    }
    Store(w, FirstResult(w, here), sum);
  }
}
