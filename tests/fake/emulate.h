/*
  emulate.h - CUDA's words in C++ for this processor, in front of a kernel source that emulate.c compiles
*/
#pragma once
#include <stddef.h>
#include <utility>

extern "C" {
double fabs(double);
float  fabsf(float);
double sqrt(double);
float  sqrtf(float);
double hypot(double, double);
float  hypotf(float, float);

struct ulong2 {
  unsigned long x, y;
};

/* What emulate.c tells the work item that runs, and does for it */
struct Emulated {
  struct {
    unsigned x;
  } thread, block, threads, blocks;
  void (*wait)(int warp); /* returns when all of the group, or of the warp, have called it; 2: to show each other something */
  double slot[1024][2];   /* what a work item shows to others of its warp */
  size_t large;           /* bytes of the LOCAL_LARGE array, which the kernel says */
};
extern struct Emulated *emulated;
struct Emulated        *emulated;

/* Where shared memory begins and ends, which the linker says; null if there is none */
extern char        __start_emulated_shared __attribute__((weak, visibility("hidden")));
extern char        __stop_emulated_shared __attribute__((weak, visibility("hidden")));
extern char *const emulated_range[2];
char *const        emulated_range[2] = {&__start_emulated_shared, &__stop_emulated_shared};
}

/* Copied as a whole, as a GPU loads it */
struct alignas(16) int4 {
  int x, y, z, w;
  int4(const int4 &from)
  {
    typedef int Whole __attribute__((vector_size(16), may_alias));

    *(Whole *)this = *(const Whole *)&from;
  }
};

#define threadIdx (emulated->thread)
#define blockIdx  (emulated->block)
#define blockDim  (emulated->threads)
#define gridDim   (emulated->blocks)
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(n)
#define __shared__ static __attribute__((section("emulated_shared"), aligned(128)))
#define LOCAL_LARGE(type, name, count) \
  __shared__ type name[count]; \
  emulated->large = sizeof(name)
#define __syncthreads() emulated->wait(0)
#define __syncwarp()    emulated->wait(1)
#define __threadfence() ((void)0)
#define __clz(x)        ((x) ? __builtin_clz((unsigned)(x)) : 32)

template <typename T, typename V> static inline T atomicAdd(T *p, V v)
{
  const T was = *p;

  *p = was + (T)v;
  return was;
}
template <typename T, typename V> static inline T atomicExch(T *p, V v)
{
  const T was = *p;

  *p = (T)v;
  return was;
}
template <typename T> static inline T __ldcs(const T *p)
{
  return *p;
}
template <typename T> static inline T __ldcg(const T *p)
{
  return *p;
}
template <typename To, typename From> static inline To EmulatedBits(From from)
{
  To to;

  static_assert(sizeof(to) == sizeof(from), "");
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
#define __double_as_longlong(v) EmulatedBits<long long, double>(v)
#define __longlong_as_double(v) EmulatedBits<double, long long>(v)
#define __double2hiint(v)       ((int)(EmulatedBits<long long, double>(v) >> 32))
#define __float_as_uint(v)      EmulatedBits<unsigned, float>(v)
#define __uint_as_float(v)      EmulatedBits<float, unsigned>(v)

/* A GPU has an instruction for it, so that meter.c is not to see how it is done here */
#define EMULATED_WORD static __attribute__((noinline, no_sanitize_coverage, no_sanitize_thread))

/* A value that all of the warp show each other; what follows must be read before the second wait */
template <typename T> EMULATED_WORD void EmulatedShow(T v)
{
  static_assert(sizeof(v) <= sizeof(emulated->slot[0]), "");
  __builtin_memcpy(emulated->slot[threadIdx.x], &v, sizeof(v));
  emulated->wait(2);
}
template <typename T> EMULATED_WORD T __shfl_up_sync(unsigned mask, T v, unsigned d)
{
  T up = v;

  EmulatedShow(v);
  if (threadIdx.x % 32 >= d) __builtin_memcpy(&up, emulated->slot[threadIdx.x - d], sizeof(up));
  emulated->wait(2);
  return up;
}
template <typename T> EMULATED_WORD T __shfl_down_sync(unsigned mask, T v, unsigned d)
{
  T down = v;

  EmulatedShow(v);
  if (threadIdx.x % 32 + d < 32 && threadIdx.x + d < blockDim.x)
    __builtin_memcpy(&down, emulated->slot[threadIdx.x + d], sizeof(down));
  emulated->wait(2);
  return down;
}
EMULATED_WORD unsigned __ballot_sync(unsigned mask, int p)
{
  unsigned votes = 0;

  EmulatedShow(p);
  for (unsigned k = 0; k < 32; k++) {
    int one;

    __builtin_memcpy(&one, emulated->slot[(threadIdx.x / 32 * 32 + k) % 1024], sizeof(one));
    if (mask >> k & 1 && one) votes |= 1u << k;
  }
  emulated->wait(2);
  return votes;
}

/* For what emulate.c adds at the end, for each kernel: what calls it with arguments by their addresses, and their sizes */
template <typename... A, std::size_t... k>
static inline void EmulatedCall(void (*kernel)(A...), void **args, std::index_sequence<k...>)
{
  kernel(*(A *)args[k]...);
}
template <typename... A> static inline void EmulatedCall(void (*kernel)(A...), void **args)
{
  EmulatedCall(kernel, args, std::index_sequence_for<A...>());
}
template <typename... A> static inline void EmulatedSizes(void (*)(A...), std::size_t bytes[])
{
  const std::size_t sizes[] = {sizeof(A)...};

  for (std::size_t k = 0; k < sizeof...(A); k++) bytes[k] = sizes[k];
}
