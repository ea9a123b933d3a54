/*
  opencl.cl - the words that kernels are written in, for OpenCL C 1.2

  KERNEL(items)  a kernel of work groups of so many work items
  BARRIER        of a work group, for its local memory
  WARP_BARRIER   of 32 work items that follow each other, for local memory. OpenCL 1.2 has none, so here it is the work group's:
                 all of that must come to it as often
  WARPS_ALONE    1: they need not, since WARP_BARRIER is of a warp and no more. Then, and only then, there are words for all work
                 items of a warp: ShuffleUp(v, d) and ShuffleDown(v, d), the v of the work item d before or after this one (its
                 own or anything where there is none), BALLOT(p), a bit for each that has p, HIGHEST_BIT(word), and HighBits(v), the
                 first 32 bits of a real number
  FENCE          what was written to global memory before is there for others before what is written after: for others of the
                 work group, and with -DACROSS=1 for all work groups, which OpenCL 1.2 has no fence for (its atomics have that scope)
  LOCAL_LARGE(type, name, count)
                 the largest local array of a kernel, first thing in it: CUDA has more memory for one that the launch gives the
                 size of (SpmvDeviceLocal()) than for those that are declared
  STREAM(p)      *p, which is read once
  FRESH(p)       *p, which another work group wrote while this kernel runs, behind a fence
  UNROLL         before a loop of constant length
  APART(v)       compilers are to take a pointer or an int as it is: NVIDIA's makes it anew of what it was made of wherever it is
                 used, in six instructions for two
  BITS_FOR(n)    how many bits a number from 0 on has: 0 for 0, 3 for 4 to 7
  ROLLED         before a loop that compilers are to leave as it is
  UNIFORM_IF     a branch with barriers in it that all work items of a group take or none. Where work groups are not run by
                 hardware it is always taken (PoCL 3.1 hangs on barriers in branches), so what it guards must do no harm
  REAL_WORD      a real number that other work groups read while this kernel runs: put and got in one piece (3.2.3 of the
                 BCCOO paper: 64-bit exchange for double), or added to in one piece. Not there without ATOMIC_64
*/
#if REAL_BITS == 64
  #pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if ATOMIC_64
  #pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

#define KERNEL(items)                  __kernel __attribute__((reqd_work_group_size(items, 1, 1)))
#define GLOBAL                         __global
#define LOCAL                          __local
#define LOCAL_POINTER                  __local
#define LOCAL_LARGE(type, name, count) __local type name[count]
#define RESTRICT                       restrict
#define INLINE                         static inline
#define LOCAL_ID                       ((int)get_local_id(0))
#define GROUP_ID                       ((int)get_group_id(0))
#define GLOBAL_ID                      (get_global_id(0))
#define BARRIER                        barrier(CLK_LOCAL_MEM_FENCE)
#define WARP_BARRIER                   BARRIER
#define WARPS_ALONE                    0
#if ACROSS && __OPENCL_C_VERSION__ >= 200 /* tests have work groups of 1.2 wait as well, in simulators */
  #define FENCE atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#else
  #define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
#define STREAM(p) (*(p))
#define FRESH(p)  (*(p))
#define UNROLL
#define ROLLED
#define APART(v)
#define BITS_FOR(n)        (32 - (int)clz((uint)(n)))
#define ATOMIC_NEXT(p)     atomic_inc(p)
#define ATOMIC_READ(p)     atomic_add(p, 0u)
#define ATOMIC_WRITE(p, v) ((void)atomic_xchg(p, v))
#if UNIFORM_BRANCHES
  #define UNIFORM_IF(condition) if (condition)
#else
  #define UNIFORM_IF(condition)
#endif

#if REAL_BITS == 64
typedef double  REAL;
typedef double2 REAL2;
typedef ulong   REAL_WORD;
  #define REAL_TO_WORD      as_ulong
  #define WORD_TO_REAL      as_double
  #define WORD_ATOMIC(name) atom_##name
#else
typedef float  REAL;
typedef float2 REAL2;
typedef uint   REAL_WORD;
  #define REAL_TO_WORD      as_uint
  #define WORD_TO_REAL      as_float
  #define WORD_ATOMIC(name) atomic_##name
#endif

#if REAL_BITS == 32 || ATOMIC_64
  #define REAL_PUT(p, v) ((void)WORD_ATOMIC(xchg)(p, REAL_TO_WORD(v)))
  #define REAL_GET(p)    WORD_TO_REAL(WORD_ATOMIC(add)(p, (REAL_WORD)0))
INLINE void REAL_ADD(volatile GLOBAL REAL_WORD *p, REAL v)
{
  REAL_WORD was, is = WORD_ATOMIC(add)(p, (REAL_WORD)0);

  do {
    was = is;
    is  = WORD_ATOMIC(cmpxchg)(p, was, REAL_TO_WORD(WORD_TO_REAL(was) + v));
  } while (is != was);
}
#endif

#if COMPLEX
typedef REAL2 SCALAR;
INLINE SCALAR MakeScalar(REAL x, REAL y)
{
  return (SCALAR)(x, y);
}
#endif
