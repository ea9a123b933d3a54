/*
  cuda.cl - the words that kernels are written in, for CUDA through NVRTC; opencl.cl has the same ones

  STREAM lets the matrix, which is read once, leave the L2 cache first, so that x stays in it.
*/
typedef unsigned char      uchar;
typedef unsigned short     ushort;
typedef unsigned int       uint;
typedef unsigned long long ulong;

#define KERNEL(items) extern "C" __global__ __launch_bounds__(items)
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_POINTER
#ifndef LOCAL_LARGE
extern __shared__ double2 LocalLarge[]; /* of the size that the launch has */
  #define LOCAL_LARGE(type, name, count) type *const name = (type *)LocalLarge
#endif
#define RESTRICT              __restrict__
#define INLINE                static __device__ __forceinline__
#define LOCAL_ID              ((int)threadIdx.x)
#define GROUP_ID              ((int)blockIdx.x)
#define GLOBAL_ID             ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define BARRIER               __syncthreads()
#define WARP_BARRIER          __syncwarp()
#define WARPS_ALONE           1
#define FENCE                 __threadfence()
#define STREAM(p)             Stream(p)
#define FRESH(p)              Fresh(p)
#define UNROLL                _Pragma("unroll")
#define ROLLED                _Pragma("unroll 1")
#define APART(v)              Apart(v)
#define ATOMIC_NEXT(p)        atomicAdd((uint *)(p), 1u)
#define ATOMIC_READ(p)        atomicAdd((uint *)(p), 0u)
#define ATOMIC_WRITE(p, v)    ((void)atomicExch((uint *)(p), v))
#define UNIFORM_IF(condition) if (condition)
#define BALLOT(p)             __ballot_sync(WARP_ITEMS, p)
#define HIGHEST_BIT(word)     (31 - __clz((int)(word)))
#define BITS_FOR(n)           (32 - __clz(n))
#if defined(GROUP) && GROUP < 32
  #define WARP_ITEMS ((1u << GROUP) - 1)
#else
  #define WARP_ITEMS (~0u)
#endif

#if REAL_BITS == 64
typedef double REAL;
typedef ulong  REAL_WORD;
  #define REAL_PUT(p, v) ((void)atomicExch(p, (ulong)__double_as_longlong(v)))
  #define REAL_GET(p)    __longlong_as_double((long long)atomicAdd(p, (ulong)0))
#else
typedef float REAL;
typedef uint  REAL_WORD;
  #define REAL_PUT(p, v) ((void)atomicExch(p, __float_as_uint(v)))
  #define REAL_GET(p)    __uint_as_float(atomicAdd(p, 0u))
#endif
#define REAL_ADD(p, v) ((void)atomicAdd((REAL *)(p), v))
#if REAL_BITS == 64
  #define HighBits(v) ((uint)__double2hiint(v))
#else
  #define HighBits(v) __float_as_uint(v)
#endif

template <typename T> INLINE void Apart(T *&p)
{
  asm("" : "+l"(p));
}
INLINE void Apart(int &v)
{
  asm("" : "+r"(v));
}
template <typename T> INLINE T Stream(const T *p)
{
  return __ldcs(p);
}
template <typename T> INLINE T Fresh(const T *p)
{
  return __ldcg(p);
}
template <typename T> INLINE T ShuffleUp(T v, int d)
{
  return __shfl_up_sync(WARP_ITEMS, v, d);
}
template <typename T> INLINE T ShuffleDown(T v, int d)
{
  return __shfl_down_sync(WARP_ITEMS, v, d);
}

#if COMPLEX
struct SCALAR {
  REAL x, y;
};
INLINE SCALAR operator+(SCALAR a, SCALAR b)
{
  return SCALAR{a.x + b.x, a.y + b.y};
}
INLINE SCALAR MakeScalar(REAL x, REAL y)
{
  return SCALAR{x, y};
}
INLINE SCALAR Stream(const SCALAR *p)
{
  return SCALAR{__ldcs(&p->x), __ldcs(&p->y)};
}
INLINE SCALAR Fresh(const SCALAR *p)
{
  return SCALAR{__ldcg(&p->x), __ldcg(&p->y)};
}
INLINE SCALAR ShuffleUp(SCALAR v, int d)
{
  return SCALAR{ShuffleUp(v.x, d), ShuffleUp(v.y, d)};
}
INLINE SCALAR ShuffleDown(SCALAR v, int d)
{
  return SCALAR{ShuffleDown(v.x, d), ShuffleDown(v.y, d)};
}
#endif
