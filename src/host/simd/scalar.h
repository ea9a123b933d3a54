/*
  scalar.h - the vectors of simd.h in plain C, for any PetscScalar
*/
#pragma once

#define SPMV_SIMD_PLAIN 1 /* "vectors" are arrays */

#define SPMV_VECTOR(V, N) \
  typedef struct { \
    PetscScalar a[N]; \
  } V; \
  static inline V V##Zero(void) \
  { \
    return (V){{0}}; \
  } \
  static inline V V##Load(const PetscScalar *p) \
  { \
    V v; \
    for (int l = 0; l < N; l++) v.a[l] = p[l]; \
    return v; \
  } \
  static inline V V##LoadFirst(const PetscScalar *p, int n) \
  { \
    V v = {{0}}; \
    for (int l = 0; l < n; l++) v.a[l] = p[l]; \
    return v; \
  } \
  static inline void V##StoreFirst(PetscScalar *p, V v, int n) \
  { \
    for (int l = 0; l < n; l++) p[l] = v.a[l]; \
  } \
  static inline V V##Splat(PetscScalar s) \
  { \
    V v; \
    for (int l = 0; l < N; l++) v.a[l] = s; \
    return v; \
  } \
  static inline V V##Add(V a, V b) \
  { \
    for (int l = 0; l < N; l++) a.a[l] += b.a[l]; \
    return a; \
  } \
  static inline V V##Mul(V a, V b) \
  { \
    for (int l = 0; l < N; l++) a.a[l] *= b.a[l]; \
    return a; \
  } \
  static inline V V##Fma(V a, V b, V c) \
  { \
    for (int l = 0; l < N; l++) c.a[l] += a.a[l] * b.a[l]; \
    return c; \
  } \
  static inline PetscScalar V##Sum(V v) \
  { \
    PetscScalar s = v.a[0]; \
    for (int l = 1; l < N; l++) s += v.a[l]; \
    return s; \
  }

SPMV_VECTOR(Spmv4, 4)
SPMV_VECTOR(Spmv8, 8)
#undef SPMV_VECTOR

/* Eight vectors as the rows of a matrix, which is transposed */
static inline void Spmv8Transpose(Spmv8 v[8])
{
  for (int k = 0; k < 8; k++) {
    for (int l = 0; l < k; l++) {
      const PetscScalar other = v[k].a[l];

      v[k].a[l] = v[l].a[k];
      v[l].a[k] = other;
    }
  }
}

typedef struct {
  int32_t a[8];
} SpmvIndex;

#define SPMV_INDEX_LOAD(name, type) \
  static inline SpmvIndex name(const type *p) \
  { \
    SpmvIndex v; \
    for (int l = 0; l < 8; l++) v.a[l] = p[l]; \
    return v; \
  }
SPMV_INDEX_LOAD(SpmvIndexLoad32, int32_t)
SPMV_INDEX_LOAD(SpmvIndexLoadU16, uint16_t)
SPMV_INDEX_LOAD(SpmvIndexLoadS16, int16_t)
#undef SPMV_INDEX_LOAD

static inline void SpmvIndexStore32(int32_t *p, SpmvIndex v)
{
  for (int l = 0; l < 8; l++) p[l] = v.a[l];
}

static inline SpmvIndex SpmvIndexAdd(SpmvIndex a, SpmvIndex b)
{
  for (int l = 0; l < 8; l++) a.a[l] += b.a[l];
  return a;
}

static inline SpmvIndex SpmvIndexSub(SpmvIndex a, SpmvIndex b)
{
  for (int l = 0; l < 8; l++) a.a[l] -= b.a[l];
  return a;
}

static inline SpmvIndex SpmvIndexMulAdd(SpmvIndex a, int32_t k, int32_t c)
{
  for (int l = 0; l < 8; l++) a.a[l] = a.a[l] * k + c;
  return a;
}

static inline SpmvIndex SpmvIndexMin(SpmvIndex a, int32_t limit)
{
  for (int l = 0; l < 8; l++) a.a[l] = a.a[l] < limit ? a.a[l] : limit;
  return a;
}

#define SPMV_GATHER(name, type) \
  static inline Spmv8 name(const PetscScalar *x, const type *i) \
  { \
    Spmv8 v; \
\
    for (int l = 0; l < 8; l++) v.a[l] = x[i[l]]; \
    return v; \
  }
SPMV_GATHER(Spmv8Gather, int32_t)
SPMV_GATHER(Spmv8GatherU16, uint16_t)
SPMV_GATHER(Spmv8Gather64, int64_t)
#undef SPMV_GATHER

typedef struct {
  PetscScalar a[16];
} SpmvPieces;
#define SPMV_PIECES(name, type) \
  SPMV_INLINE SpmvPieces name(const PetscScalar *x, const type *i) \
  { \
    SpmvPieces p; \
\
    for (int k = 0; k < 16; k++) p.a[k] = x[i[k / 4] + k % 4]; \
    return p; \
  }
SPMV_PIECES(SpmvPiecesLoad, int32_t)
SPMV_PIECES(SpmvPiecesLoadU16, uint16_t)
#undef SPMV_PIECES
SPMV_INLINE Spmv8 SpmvPick(const SpmvPieces *p, const void *word)
{
  Spmv8    v;
  uint32_t w;

  memcpy(&w, word, 4);
  for (int l = 0; l < 8; l++) v.a[l] = p->a[w >> 4 * l & 15];
  return v;
}

#define SPMV_GATHER_PACKED(name, type) \
  static inline Spmv8 name(const PetscScalar *x, const type *w, int bits) \
  { \
    Spmv8 v; \
\
    for (int l = 0; l < 8; l++) v.a[l] = x[w[l] >> bits]; \
    return v; \
  }
SPMV_GATHER_PACKED(Spmv8GatherPacked32, uint32_t)
SPMV_GATHER_PACKED(Spmv8GatherPacked64, uint64_t)
#undef SPMV_GATHER_PACKED

#define SPMV_GATHER_FIRST(name, type) \
  static inline Spmv8 name(const PetscScalar *x, const type *i, int n) \
  { \
    Spmv8 v = {{0}}; \
\
    for (int l = 0; l < n; l++) v.a[l] = x[i[l]]; \
    return v; \
  }
SPMV_GATHER_FIRST(Spmv8GatherFirst, int32_t)
SPMV_GATHER_FIRST(Spmv8GatherFirstU16, uint16_t)
#undef SPMV_GATHER_FIRST

#define SPMV_GATHER_PAIRS(name, type) \
  static inline void name(const PetscScalar *x, const type *i, Spmv8 *a, Spmv8 *b) \
  { \
    for (int l = 0; l < 8; l++) a->a[l] = x[i[l]]; \
    for (int l = 0; l < 8; l++) b->a[l] = x[i[l] + 1]; \
  }
SPMV_GATHER_PAIRS(Spmv8GatherPairs, int32_t)
SPMV_GATHER_PAIRS(Spmv8GatherPairsU16, uint16_t)
#undef SPMV_GATHER_PAIRS

#define SPMV_SCATTER(name, type, operation) \
  static inline void name(PetscScalar *y, const type *i, Spmv8 v) \
  { \
    for (int l = 0; l < 8; l++) y[i[l]] operation v.a[l]; \
  }
SPMV_SCATTER(Spmv8Scatter, int32_t, =)
SPMV_SCATTER(Spmv8ScatterU16, uint16_t, =)
SPMV_SCATTER(Spmv8ScatterAdd, int32_t, +=)
SPMV_SCATTER(Spmv8ScatterAddU16, uint16_t, +=)
#undef SPMV_SCATTER

static inline void Spmv8Store(PetscScalar *p, Spmv8 v)
{
  Spmv8StoreFirst(p, v, 8);
}

static inline void Spmv8Stream(PetscScalar *p, Spmv8 v)
{
  Spmv8Store(p, v);
}
static inline void SpmvStreamEnd(void) {}

static inline Spmv8 Spmv8AddWhere(Spmv8 a, unsigned mask, Spmv8 b)
{
  for (int l = 0; l < 8; l++) b.a[l] = mask >> l & 1 ? a.a[l] + b.a[l] : b.a[l];
  return b;
}

static inline Spmv8 Spmv8AddFirst(Spmv8 a, Spmv8 b, unsigned n)
{
  for (unsigned l = 0; l < n; l++) a.a[l] += b.a[l];
  return a;
}

static inline Spmv8 Spmv8Permute(Spmv8 v, const uint8_t *i)
{
  Spmv8 w;

  for (int l = 0; l < 8; l++) w.a[l] = v.a[i[l]];
  return w;
}

static inline Spmv8 Spmv8LoadWhere(Spmv8 v, unsigned mask, const PetscScalar *p)
{
  for (; mask; mask &= mask - 1) v.a[__builtin_ctz(mask)] = p[__builtin_ctz(mask)];
  return v;
}

static inline Spmv8 Spmv8LoadMasked(const PetscScalar *p, unsigned mask)
{
  return Spmv8LoadWhere(Spmv8Zero(), mask, p);
}

static inline Spmv8 Spmv8FmaWhere(Spmv8 a, Spmv8 b, Spmv8 c, unsigned mask)
{
  for (; mask; mask &= mask - 1) c.a[__builtin_ctz(mask)] += a.a[__builtin_ctz(mask)] * b.a[__builtin_ctz(mask)];
  return c;
}

static inline SpmvIndex SpmvIndexScan(SpmvIndex a)
{
  for (int l = 1; l < 8; l++) a.a[l] += a.a[l - 1];
  return a;
}

static inline SpmvIndex SpmvIndexSplat(int32_t c)
{
  SpmvIndex v;

  for (int l = 0; l < 8; l++) v.a[l] = c;
  return v;
}

static inline SpmvIndex SpmvIndexLast(SpmvIndex a)
{
  return SpmvIndexSplat(a.a[7]);
}

static inline unsigned SpmvIndexEqual(SpmvIndex a, int32_t value)
{
  unsigned mask = 0;

  for (int l = 0; l < 8; l++) mask |= (unsigned)(a.a[l] == value) << l;
  return mask;
}

static inline SpmvIndex SpmvIndexExpand(SpmvIndex a, unsigned mask, const int32_t *p)
{
  for (; mask; mask &= mask - 1) a.a[__builtin_ctz(mask)] = *p++;
  return a;
}

static inline unsigned SpmvIndexGreater(SpmvIndex a, int32_t value)
{
  unsigned mask = 0;

  for (int l = 0; l < 8; l++) mask |= (unsigned)(a.a[l] > value) << l;
  return mask;
}

static inline Spmv8 Spmv8Sums(const Spmv8 v[8])
{
  Spmv8 s;

  for (int l = 0; l < 8; l++) s.a[l] = Spmv8Sum(v[l]);
  return s;
}

static inline Spmv8 Spmv8SumRuns(const PetscScalar *p, const PetscInt *i, SpmvIndex n, int32_t depth)
{
  Spmv8 s = Spmv8Zero();

  for (int l = 0; l < 8; l++)
    for (int32_t k = 0; k < n.a[l] && k < depth; k++) s.a[l] += p[i[l] + k];
  return s;
}

static inline void SpmvIndexPack(int32_t *p, SpmvIndex a, unsigned mask)
{
  for (; mask; mask &= mask - 1) *p++ = a.a[__builtin_ctz(mask)];
}
