/*
  prelude.cl - scalars, real or complex, for the kernels of all APIs; the words it uses are of opencl.cl and cuda.cl

  Scalars are added with +. INDEX is a PetscInt.

  Put(y, row, sum, add)           y[row] <- sum, or y[row] + sum
  Ticket(counter, told, ngroups)  a number for this work group, in the order in which work groups start: who waits for one of a
                                  lower number waits for one that has started. counter: 0 in global memory, and 0 again after
                                  ngroups work groups; told: an integer of local memory for this alone. All work items of the
                                  group take part

  A source with -DCLEAR=n has the kernel spmv_clear, of work groups of n work items: y <- 0, for rows that no other kernel writes.
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

#if INDEX_BITS == 64
typedef long INDEX;
#else
typedef int INDEX;
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

#ifdef CLEAR
KERNEL(CLEAR)
void spmv_clear(GLOBAL SCALAR *y, int m)
{
  if (GLOBAL_ID < (size_t)m) y[GLOBAL_ID] = ZERO;
}
#endif
