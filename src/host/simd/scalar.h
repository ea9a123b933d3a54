/*
  scalar.h - the vectors of simd.h in plain C, for any PetscScalar: what each operation means
*/
#pragma once

#define SPMV_SIMD_PLAIN 1

/* A function whose result has in each lane l what an expression says */
#define SPMV_LANES(N, V, name, arguments, expression) \
  SPMV_INLINE V name arguments \
  { \
    V out; \
\
    for (int l = 0; l < N; l++) out.a[l] = expression; \
    return out; \
  }

#define SPMV_VECTOR(N, V) \
  typedef struct { \
    PetscScalar a[N]; \
  } V; \
  SPMV_LANES(N, V, V##Zero, (void), 0) \
  SPMV_LANES(N, V, V##Load, (const PetscScalar *p), p[l]) \
  SPMV_LANES(N, V, V##Splat, (PetscScalar s), s) \
  SPMV_LANES(N, V, V##Add, (V a, V b), a.a[l] + b.a[l]) \
  SPMV_LANES(N, V, V##Mul, (V a, V b), a.a[l] * b.a[l]) \
  SPMV_LANES(N, V, V##Fma, (V a, V b, V c), c.a[l] + a.a[l] * b.a[l]) \
  SPMV_LANES(N, V, V##LoadFirst, (const PetscScalar *p, int n), l < n ? p[l] : 0) \
  SPMV_INLINE void V##StoreFirst(PetscScalar *p, V v, int n) \
  { \
    for (int l = 0; l < n; l++) p[l] = v.a[l]; \
  } \
  SPMV_LANES(N, V, V##SplatTwo, (PetscScalar s, PetscScalar t), l < N / 2 ? s : t) \
  SPMV_LANES(N, V, V##Fold, (V v), v.a[l] + v.a[(l + N / 2) % N]) \
  SPMV_INLINE PetscScalar V##Sum(V v) \
  { \
    PetscScalar s = v.a[0]; \
\
    for (int l = 1; l < N; l++) s += v.a[l]; \
    return s; \
  }
SPMV_VECTOR(4, Spmv4)
SPMV_VECTOR(8, Spmv8)
#undef SPMV_VECTOR
#define Spmv4LoadFew  Spmv4LoadFirst
#define Spmv8LoadFew  Spmv8LoadFirst
#define Spmv4StoreFew Spmv4StoreFirst
#define Spmv8StoreFew Spmv8StoreFirst

/* Entry k of an index, an unsigned number of so many bytes, without its lowest bits */
SPMV_INLINE size_t SpmvPlaceAt(const void *index, size_t size, int k, int bits)
{
  if (size == 8) return ((const uint64_t *)index)[k] >> bits;
  if (size == 4) return ((const uint32_t *)index)[k] >> bits;
  return ((const uint16_t *)index)[k];
}

SPMV_LANES(8, Spmv8, Spmv8LoadFloat, (const float *p), (PetscScalar)p[l])
SPMV_LANES(8, Spmv8, SpmvGather8, (const PetscScalar *x, const void *i, size_t size, int bits), x[SpmvPlaceAt(i, size, l, bits)])
SPMV_LANES(8, Spmv8, SpmvGatherFirst8, (const PetscScalar *x, const void *i, size_t size, int n),
           l < n ? x[SpmvPlaceAt(i, size, l, 0)] : 0)
SPMV_LANES(8, Spmv8, Spmv8Permute, (Spmv8 v, const uint8_t *i), v.a[i[l]])
SPMV_LANES(8, Spmv8, Spmv8AddWhere, (Spmv8 a, unsigned mask, Spmv8 b), mask >> l & 1 ? a.a[l] + b.a[l] : b.a[l])
SPMV_LANES(8, Spmv8, Spmv8SplatPair, (const PetscScalar *p), p[l % 2])
SPMV_LANES(4, Spmv4, Spmv8Pairs, (Spmv8 v), v.a[2 * l] + v.a[2 * l + 1])
SPMV_LANES(8, Spmv8, Spmv8Sums, (const Spmv8 v[8]), Spmv8Sum(v[l]))

typedef struct {
  int32_t a[8];
} SpmvIndex;
SPMV_LANES(8, SpmvIndex, SpmvIndexLoad32, (const int32_t *p), p[l])
SPMV_LANES(8, SpmvIndex, SpmvIndexLoadU16, (const uint16_t *p), p[l])
SPMV_LANES(8, SpmvIndex, SpmvIndexLoadS16, (const int16_t *p), p[l])
SPMV_LANES(8, SpmvIndex, SpmvIndexSplat, (int32_t c), c)
SPMV_LANES(8, SpmvIndex, SpmvIndexLast, (SpmvIndex a), a.a[7])
SPMV_LANES(8, SpmvIndex, SpmvIndexAdd, (SpmvIndex a, SpmvIndex b), a.a[l] + b.a[l])
SPMV_LANES(8, SpmvIndex, SpmvIndexSub, (SpmvIndex a, SpmvIndex b), a.a[l] - b.a[l])
SPMV_LANES(8, SpmvIndex, SpmvIndexMul, (SpmvIndex a, SpmvIndex b), a.a[l] * b.a[l])
SPMV_LANES(8, SpmvIndex, SpmvIndexMin, (SpmvIndex a, SpmvIndex b), PetscMin(a.a[l], b.a[l]))
SPMV_LANES(8, SpmvIndex, SpmvIndexPick, (SpmvIndex a, uint32_t w), a.a[w >> (4 * l + 2) & 3] + (int32_t)(w >> 4 * l & 3))
SPMV_LANES(8, SpmvIndex, SpmvIndexScan, (SpmvIndex a), l ? out.a[l - 1] + a.a[l] : a.a[l])

typedef struct {
  PetscScalar a[16];
} SpmvPieces;
SPMV_LANES(16, SpmvPieces, SpmvPieces4, (const PetscScalar *x, const void *i, size_t size),
           x[SpmvPlaceAt(i, size, l / 4, 0) + (size_t)l % 4])

typedef struct {
  const PetscScalar *all;
} SpmvTable;
SPMV_INLINE SpmvTable SpmvTableOf(const PetscScalar *p)
{
  return (SpmvTable){p};
}
SPMV_LANES(8, Spmv8, Spmv8Few, (const SpmvTable *t, const uint8_t *i), t->all[i[l]])
SPMV_LANES(8, Spmv8, Spmv8Many, (const PetscScalar *p, const uint8_t *i), p[i[l]])
SPMV_LANES(8, Spmv8, Spmv8First, (Spmv8 v, int n), l < n ? v.a[l] : 0)
#undef SPMV_LANES

SPMV_INLINE Spmv8 SpmvPick(const SpmvPieces *p, const void *word)
{
  Spmv8    v;
  uint32_t w;

  memcpy(&w, word, 4);
  for (int l = 0; l < 8; l++) v.a[l] = p->a[w >> 4 * l & 15];
  return v;
}

SPMV_INLINE void SpmvPairs8(const PetscScalar *x, const void *i, size_t size, Spmv8 *a, Spmv8 *b)
{
  *a = SpmvGather8(x, i, size, 0);
  *b = SpmvGather8(x + 1, i, size, 0);
}

SPMV_INLINE void SpmvScatter8(PetscScalar *y, const void *i, size_t size, Spmv8 v)
{
  for (int l = 0; l < 8; l++) y[SpmvPlaceAt(i, size, l, 0)] = v.a[l];
}

SPMV_INLINE void SpmvScatterAdd8(PetscScalar *y, const void *i, size_t size, Spmv8 v)
{
  for (int l = 0; l < 8; l++) y[SpmvPlaceAt(i, size, l, 0)] += v.a[l];
}

SPMV_INLINE void SpmvIndexStore32(int32_t *p, SpmvIndex v)
{
  for (int l = 0; l < 8; l++) p[l] = v.a[l];
}

#define Spmv8Store(p, v) Spmv8StoreFirst(p, v, 8)
#define Spmv8Stream      Spmv8Store
SPMV_INLINE void SpmvStreamEnd(void) {}

SPMV_INLINE Spmv8 Spmv8AddFirst(Spmv8 a, Spmv8 b, unsigned n)
{
  for (unsigned l = 0; l < n; l++) a.a[l] += b.a[l];
  return a;
}

SPMV_INLINE Spmv8 Spmv8LoadWhere(Spmv8 v, unsigned mask, const PetscScalar *p)
{
  for (; mask; mask &= mask - 1) v.a[__builtin_ctz(mask)] = p[__builtin_ctz(mask)];
  return v;
}

SPMV_INLINE Spmv8 Spmv8FmaWhere(Spmv8 a, Spmv8 b, Spmv8 c, unsigned mask)
{
  for (; mask; mask &= mask - 1) c.a[__builtin_ctz(mask)] += a.a[__builtin_ctz(mask)] * b.a[__builtin_ctz(mask)];
  return c;
}

SPMV_INLINE Spmv8 Spmv8FmaExpand(const PetscScalar *p, const uint32_t *word, Spmv8 b, Spmv8 c, int few)
{
  (void)few;
  for (unsigned m = *word & 0xff; m; m &= m - 1) c.a[__builtin_ctz(m)] += *p++ * b.a[__builtin_ctz(m)];
  return c;
}
SPMV_INLINE void SpmvAddPairs(PetscScalar *y, Spmv8 v)
{
  for (int l = 0; l < 8; l++) y[l % 2] += v.a[l];
}

#define SPMV_COMPARE(name, operation) \
  static inline unsigned name(SpmvIndex a, int32_t value) \
  { \
    unsigned mask = 0; \
\
    for (int l = 0; l < 8; l++) mask |= (unsigned)(a.a[l] operation value) << l; \
    return mask; \
  }
SPMV_COMPARE(SpmvIndexEqual, ==)
SPMV_COMPARE(SpmvIndexGreater, >)
#undef SPMV_COMPARE

SPMV_INLINE SpmvIndex SpmvIndexExpand(SpmvIndex a, unsigned mask, const int32_t *p)
{
  for (; mask; mask &= mask - 1) a.a[__builtin_ctz(mask)] = *p++;
  return a;
}

SPMV_INLINE void SpmvIndexPack(int32_t *p, SpmvIndex a, unsigned mask)
{
  for (; mask; mask &= mask - 1) *p++ = a.a[__builtin_ctz(mask)];
}

SPMV_INLINE Spmv8 Spmv8SumRuns(const PetscScalar *p, const PetscInt *i, SpmvIndex n, int32_t depth)
{
  Spmv8 s = Spmv8Zero();

  for (int l = 0; l < 8; l++)
    for (int32_t k = 0; k < n.a[l] && k < depth; k++) s.a[l] += p[i[l] + k];
  return s;
}

/* Eight vectors as the rows of a matrix, which is transposed */
SPMV_INLINE void Spmv8Transpose(Spmv8 v[8])
{
  for (int k = 0; k < 8; k++) {
    for (int l = 0; l < k; l++) {
      const PetscScalar other = v[k].a[l];

      v[k].a[l] = v[l].a[k];
      v[l].a[k] = other;
    }
  }
}

SPMV_INLINE PetscScalar SpmvFma(PetscScalar a, PetscScalar b, PetscScalar c)
{
  return c + a * b;
}

SPMV_INLINE unsigned Spmv8Beyond(Spmv8 v, PetscReal limit)
{
  unsigned mask = 0;

  for (int l = 0; l < 8; l++) mask |= (unsigned)(PetscAbsScalar(v.a[l]) > limit) << l;
  return mask;
}

SPMV_INLINE Spmv8 Spmv8ShiftUp(Spmv8 v, Spmv8 before)
{
  for (int l = 7; l > 0; l--) v.a[l] = v.a[l - 1];
  v.a[0] = before.a[7];
  return v;
}
SPMV_INLINE Spmv8 Spmv8ShiftDown(Spmv8 v, Spmv8 before)
{
  for (int l = 0; l < 7; l++) v.a[l] = v.a[l + 1];
  v.a[7] = before.a[0];
  return v;
}
SPMV_INLINE Spmv8 Spmv8ScanUp(Spmv8 a, Spmv8 c, Spmv8 before)
{
  for (int l = 0; l < 8; l++) a.a[l] += c.a[l] * (l ? a.a[l - 1] : before.a[7]);
  return a;
}
SPMV_INLINE Spmv8 Spmv8ScanDown(Spmv8 a, Spmv8 c, Spmv8 before)
{
  for (int l = 7; l >= 0; l--) a.a[l] += c.a[l] * (l < 7 ? a.a[l + 1] : before.a[0]);
  return a;
}
