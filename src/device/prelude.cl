/*
  prelude.cl - scalars, real or complex, for the kernels of all APIs; the words it uses are of opencl.cl and cuda.cl

  Scalars are added with +.

  Put(y, row, sum, add)           y[row] <- sum, or y[row] + sum
  Ticket(counter, told, ngroups)  a number for this work group, in the order in which work groups start: who waits for one of a
                                  lower number waits for one that has started. counter: 0 in global memory, and 0 again after
                                  ngroups work groups; told: an integer of local memory for this alone. All work items of the
                                  group take part

  A source with -DCLEAR=n has the kernel spmv_clear, of work groups of n work items: y <- 0, for rows that no other kernel writes.

  Subgroups, for a source with -DSUBGROUPS=1: 32 work items side by side, the last of a group perhaps fewer, that read each
  other's registers. All work items of the group take part, t is LOCAL_ID, items the size of the group. Where SHUFFLES is 0 they
  read local memory, which is for tests: kernels that want shuffles are refused there.

  SubgroupUp(place, items, t, v, d)  v of the work item d before; v of this one if that is in another subgroup. place: local
                                     memory for a scalar of each work item, free to use
  SubgroupVotes(starts, items, t)    a bit for each work item of the subgroup, set where starts is not 0: local memory that was
                                     written before a barrier
*/
#if COMPLEX
  #define ZERO MakeScalar(0, 0)
INLINE SCALAR Times(SCALAR a, SCALAR b)
{
  return MakeScalar(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
#else
typedef REAL  SCALAR;
  #define ZERO ((SCALAR)0)
INLINE SCALAR Times(SCALAR a, SCALAR b)
{
  return a * b;
}
#endif

INLINE void Put(GLOBAL SCALAR *y, size_t row, SCALAR sum, int add)
{
  y[row] = add ? y[row] + sum : sum;
}

INLINE int Ticket(GLOBAL volatile uint *counter, LOCAL_POINTER int *told, int ngroups)
{
  if (LOCAL_ID == 0) {
    *told = (int)ATOMIC_NEXT(counter);
    if (*told == ngroups - 1) ATOMIC_WRITE(counter, 0u);
  }
  BARRIER;
  return *told;
}

#if SUBGROUPS
  #define SUBGROUP 32
#endif
#if SUBGROUPS && SHUFFLES
  #define SUBGROUP_MASK(items) ((items) >= SUBGROUP ? 0xffffffffu : (1u << (items)) - 1u)
INLINE SCALAR SubgroupUp(LOCAL_POINTER SCALAR *place, int items, int t, SCALAR v, int d)
{
  #if COMPLEX
  return MakeScalar(SHUFFLE_UP(SUBGROUP_MASK(items), v.x, d), SHUFFLE_UP(SUBGROUP_MASK(items), v.y, d));
  #else
  return SHUFFLE_UP(SUBGROUP_MASK(items), v, d);
  #endif
}
INLINE uint SubgroupVotes(LOCAL_POINTER const int *starts, int items, int t)
{
  return BALLOT(SUBGROUP_MASK(items), starts[t]);
}
#elif SUBGROUPS
INLINE SCALAR SubgroupUp(LOCAL_POINTER SCALAR *place, int items, int t, SCALAR v, int d)
{
  SCALAR up;

  place[t] = v;
  BARRIER;
  up = t % SUBGROUP >= d ? place[t - d] : v;
  BARRIER;
  return up;
}
INLINE uint SubgroupVotes(LOCAL_POINTER const int *starts, int items, int t)
{
  const int first = t / SUBGROUP * SUBGROUP;
  uint      votes = 0;

  for (int k = 0; k < SUBGROUP && first + k < items; k++) votes |= starts[first + k] ? 1u << k : 0u;
  return votes;
}
#endif

#ifdef CLEAR
KERNEL(CLEAR)
void spmv_clear(GLOBAL SCALAR *y, int m)
{
  if (GLOBAL_ID < (size_t)m) y[GLOBAL_ID] = ZERO;
}
#endif
