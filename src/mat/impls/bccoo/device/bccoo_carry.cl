/*
  bccoo_carry.cl - sums that go on from one work item to the next (Scan), and from one work group to the next

    CARRY 0  a second kernel, bccoo_carry, adds the tails
    CARRY 1  adjacent synchronisation: each work group waits for the one before. For GPUs, as in the paper: neither API promises
             that work groups that started go on, but GPUs run what started to its end. Numbers are given to work groups in the
             order in which they start. Tests run it on PoCL, whose threads run a work group to its end

  Source: as bccoo.cl, section 3.2.3. Between work groups, only tails, heads (what a work group has of its first result) and flags
  are read while they may be written, by exchange in one piece. We differ: Sync_flag (`sync`) holds the number of the product, so
  that it is not cleared between products.
*/

/*
  Inclusive segmented scan of the last partial sums, where a work item with a row stop starts a segment. sums and starts have two
  halves that take turns, so that one barrier a step is enough. Returns the half with the result
*/
INLINE int Scan(LOCAL_POINTER SCALAR *sums, LOCAL_POINTER int *starts, int t)
{
  int turn = 0; /* the half that has the sums */

  for (int d = 1; d < GROUP; d *= 2) {
    const int here = turn * GROUP + t, there = GROUP - turn * GROUP + t; /* this work item in one half and the other */
    const int start = starts[here], joins = t >= d && !start;

    for (int i = 0; i < HEIGHT; i++) {
      const SCALAR sum = sums[i * 2 * GROUP + here];

      sums[i * 2 * GROUP + there] = joins ? sums[i * 2 * GROUP + here - d] + sum : sum;
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

/* The first result of work group g, complete: its head, and the tails before */
INLINE void Carry(const Work *w, int g)
{
  const int first = FirstResult(w, g);
  int       from  = g;
  SCALAR    sum[HEIGHT];

  if (first == FirstResult(w, g + 1)) return; /* no row stop, so no result */
  while (from > 0 && FirstResult(w, from - 1) == first) from--;
  if (from > 0) from--; /* the last work group with a row stop before, whose tail is the first part of the sum */
  for (int i = 0; i < HEIGHT; i++) sum[i] = ZERO;
  for (; from < g; from++) {
    for (int i = 0; i < HEIGHT; i++) sum[i] = sum[i] + GET(&w->tails[(size_t)from * HEIGHT + i]);
  }
  for (int i = 0; i < HEIGHT; i++) sum[i] = sum[i] + GET(&w->heads[(size_t)g * HEIGHT + i]);
  Store(w, first, sum);
}
