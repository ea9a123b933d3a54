/*
  dense_simd.c - rows times several vectors, compiled once for each instruction set of isas.h

  Matrices that no cache holds are prefetched: a 27-point stencil of 27 million entries times eight vectors takes 24 ms, and 31
  without.

  Shifted rows (dense.h) are multiplied eight at a time, a row in each lane, with x and y as they are: laplace7:150 times eight
  vectors takes 93 ms, 150 with vectors side by side (Cascade Lake; 29 times one vector).

  At least four sums are made at a time: a multiplication and addition takes four cycles, and the next one would wait for it. They
  are those of twins, up to four rows with the same columns, and of every second or fourth entry of a row.
*/
#include "dense.h"
#include "../machine.h"
#include "../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvDenseKernels SPMV_ISA_NAME(SpmvDenseKernels) = {.reach = NULL};
#else

  #define SPMV_PREFETCH_ENTRIES 2048 /* entries between what is in use and what is prefetched */
  #define SPMV_PREFETCH_X       128  /* rows of x: shifted rows read x in more places than the hardware prefetches */
  #define SPMV_TWINS_MAX        4    /* rows with the same columns that are multiplied together */
  #define SPMV_SHIFTED_MAX      64   /* entries of a shifted row; longer rows are multiplied one by one */

/* How many rows from r on have the same columns, as the equations at one node of a mesh do, up to SPMV_TWINS_MAX */
SPMV_INLINE PetscInt SpmvDenseTwins(const SpmvCSR *csr, PetscInt r, PetscInt last)
{
  const PetscInt *j = csr->j + csr->i[r], n = csr->i[r + 1] - csr->i[r], most = PetscMin(last - r, SPMV_TWINS_MAX);
  PetscInt        twins = 1;

  while (twins < most && csr->i[r + twins + 1] - csr->i[r + twins] == n && n && j[twins * n] == j[0] &&
         !memcmp(j + twins * n, j, sizeof(PetscInt) * (size_t)n))
    twins++;
  return twins;
}

  /* V: a vector of N scalars; NV of them side by side. A row of x is read once for all twins, which have sums of their own */
  #define SPMV_DENSE(V, N, NV) \
    SPMV_INLINE void SpmvDenseEntry_##V##_##NV(const PetscScalar *a, PetscInt n, int twins, const PetscScalar *x, V sum[][NV]) \
    { \
      V xk[NV]; \
\
      for (int v = 0; v < NV; v++) xk[v] = V##Load(x + N * v); \
      SPMV_UNROLL \
      for (int t = 0; t < twins; t++) { \
        for (int v = 0; v < NV; v++) sum[t][v] = V##Fma(V##Splat(a[t * n]), xk[v], sum[t][v]); \
      } \
    } \
    SPMV_INLINE void SpmvDenseRows_##V##_##NV(const SpmvCSR *csr, PetscInt r, int twins, int sums, const PetscScalar *x, \
                                              PetscScalar *y) \
    { \
      const PetscInt     n = csr->i[r + 1] - csr->i[r], *j = csr->j + csr->i[r]; \
      const PetscScalar *a = csr->a + csr->i[r]; \
      PetscInt           k = 0; \
      V                  sum[4][SPMV_TWINS_MAX][NV]; \
\
      SPMV_UNROLL \
      for (int s = 0; s < sums; s++) { \
        SPMV_UNROLL \
        for (int t = 0; t < twins; t++) { \
          for (int v = 0; v < NV; v++) sum[s][t][v] = V##Zero(); \
        } \
      } \
      for (; k + sums <= n; k += sums) { \
        SpmvPrefetch(a + SPMV_PREFETCH_ENTRIES + k * twins, 1); \
        SPMV_UNROLL \
        for (int s = 0; s < sums; s++) SpmvDenseEntry_##V##_##NV(a + k + s, n, twins, x + (size_t)j[k + s] * (N * NV), sum[s]); \
      } \
      for (; k < n; k++) SpmvDenseEntry_##V##_##NV(a + k, n, twins, x + (size_t)j[k] * (N * NV), sum[0]); \
      SPMV_UNROLL \
      for (int t = 0; t < twins; t++) { \
        for (int v = 0; v < NV; v++) { \
          V total = sum[0][t][v]; \
\
          SPMV_UNROLL \
          for (int s = 1; s < sums; s++) total = V##Add(total, sum[s][t][v]); \
          V##StoreFirst(y + (NV * t + v) * N, total, N); \
        } \
      } \
    } \
    static void SpmvDenseApply_##V##_##NV(const SpmvCSR *csr, PetscInt first, PetscInt last, const PetscScalar *x, \
                                          PetscScalar *y) \
    { \
      const int large = csr->i[csr->m] >= SpmvMachineGet()->cached; \
\
      for (PetscInt r = first, twins; r < last; r += twins, y += N * NV * twins) { \
        twins = SpmvDenseTwins(csr, r, last); \
        if (large) { \
          SpmvPrefetch(csr->j + csr->i[r] + SPMV_PREFETCH_ENTRIES, sizeof(PetscInt) * (size_t)(csr->i[r + twins] - csr->i[r])); \
        } \
        if (twins == 1) SpmvDenseRows_##V##_##NV(csr, r, 1, 4 / NV, x, y); \
        else if (twins == 2) SpmvDenseRows_##V##_##NV(csr, r, 2, 2 / NV, x, y); \
        else if (twins == 3) SpmvDenseRows_##V##_##NV(csr, r, 3, 2 / NV, x, y); \
        else SpmvDenseRows_##V##_##NV(csr, r, 4, 1, x, y); \
      } \
    } \
    static void SpmvDenseTranspose_##V##_##NV(const SpmvCSR *csr, PetscInt first, PetscInt last, const PetscScalar *x, \
                                              PetscScalar *y) \
    { \
      for (PetscInt r = first; r < last; r++, x += N * NV) { \
        for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) { \
          PetscScalar *yk = y + (size_t)csr->j[k] * (N * NV); \
          const V      a  = V##Splat(csr->a[k]); \
\
          for (int v = 0; v < NV; v++) V##StoreFirst(yk + N * v, V##Fma(a, V##Load(x + N * v), V##Load(yk + N * v)), N); \
        } \
      } \
    }
SPMV_DENSE(Spmv4, 4, 1)
SPMV_DENSE(Spmv8, 8, 1)
SPMV_DENSE(Spmv8, 8, 2)
  #undef SPMV_DENSE

/* How many of so many vectors are multiplied at once */
static inline PetscInt SpmvDenseAtOnce(PetscInt count)
{
  return count >= 8 ? 8 : count >= 4 ? 4 : count >= 2 ? 2 : 1;
}

/* Rows [first, last) times n vectors, a constant: their sums are registers */
SPMV_INLINE void SpmvDenseColumns(const SpmvCSR *csr, PetscInt first, PetscInt last, PetscInt n, const PetscScalar *x, size_t ldx,
                                  PetscScalar *y, size_t ldy)
{
  for (PetscInt r = first; r < last; r++) {
    PetscScalar sum[8];

    SPMV_UNROLL
    for (PetscInt c = 0; c < n; c++) sum[c] = 0;
    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
      const PetscScalar *xk = x + csr->j[k], a = csr->a[k];

      SPMV_UNROLL
      for (PetscInt c = 0; c < n; c++) sum[c] += a * xk[(size_t)c * ldx];
    }
    SPMV_UNROLL
    for (PetscInt c = 0; c < n; c++) y[(size_t)c * ldy + (size_t)r] = sum[c];
  }
}

/* Lays columns side by side: eight columns and eight rows at a time while there are as many */
static void SpmvDenseInterleave(const PetscScalar *columns, size_t ld, PetscInt count, PetscInt width, PetscInt rows,
                                PetscScalar *out)
{
  for (PetscInt c = 0; c < width; c += 8) {
    const PetscScalar *from = columns + (size_t)c * ld;
    const PetscInt     live = PetscMin(8, count - c), wide = PetscMin(8, width - c);
    PetscInt           r = 0;

    for (; live == 8 && r + 8 <= rows; r += 8) {
      Spmv8 v[8];

      SPMV_UNROLL
      for (int k = 0; k < 8; k++) v[k] = Spmv8Load(from + (size_t)k * ld + (size_t)r);
      Spmv8Transpose(v);
      SPMV_UNROLL
      for (int k = 0; k < 8; k++) Spmv8Store(out + (size_t)(r + k) * (size_t)width + (size_t)c, v[k]);
    }
    for (; r < rows; r++) {
      for (PetscInt k = 0; k < wide; k++)
        out[(size_t)r * (size_t)width + (size_t)(c + k)] = k < live ? from[(size_t)k * ld + (size_t)r] : 0;
    }
  }
}

/* True if j[k + n] = j[k] + 1 for all k < entries */
SPMV_INLINE PetscBool SpmvDenseShiftedBy(const PetscInt *j, PetscInt n, PetscInt entries)
{
  PetscInt differ = 0;

  for (PetscInt k = 0; k < entries; k++) differ |= (j[k + n] - j[k]) ^ 1;
  return (PetscBool)!differ;
}

/* How many rows from r on, up to `most`, each have the columns of the one before plus one */
static PetscInt SpmvDenseShifted(const SpmvCSR *csr, PetscInt r, PetscInt most)
{
  const PetscInt *j = csr->j + csr->i[r], n = csr->i[r + 1] - csr->i[r];
  PetscInt        rows = 1, same = 0;

  if (n > SPMV_SHIFTED_MAX) return 1;
  while (rows < most && csr->i[r + rows + 1] - csr->i[r + rows] == n) rows++;
  if (SpmvDenseShiftedBy(j, n, n * (rows - 1))) return rows;
  while (same + 1 < rows && SpmvDenseShiftedBy(j + same * n, n, n)) same++;
  return same + 1;
}

/* `rows` shifted rows of n entries times nc vectors, a constant: a row in each lane. a has entry k of row l at 8 k + l */
SPMV_INLINE void SpmvDenseShift(const PetscScalar *a, const PetscInt *j, PetscInt n, int rows, int large, PetscInt nc,
                                const PetscScalar *x, size_t ldx, SpmvDenseTarget target, PetscScalar *y, size_t ldy)
{
  Spmv8 sum[8];

  SPMV_UNROLL
  for (PetscInt c = 0; c < nc; c++) sum[c] = Spmv8Zero();
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar *xk = x + j[k];
    const Spmv8        ak = Spmv8Load(a + 8 * k);

    if (large && (!k || j[k] - j[k - 1] >= 8)) {
      SPMV_UNROLL
      for (PetscInt c = 0; c < nc; c++) SpmvPrefetch(xk + (size_t)c * ldx + SPMV_PREFETCH_X, 1);
    }
    SPMV_UNROLL
    for (PetscInt c = 0; c < nc; c++)
      sum[c] = Spmv8Fma(ak, rows == 8 ? Spmv8Load(xk + (size_t)c * ldx) : Spmv8LoadFirst(xk + (size_t)c * ldx, rows), sum[c]);
  }
  SPMV_UNROLL
  for (PetscInt c = 0; c < nc; c++) {
    PetscScalar *at = y + (size_t)c * ldy;

    if (rows < 8) Spmv8StoreFirst(at, sum[c], rows);
    else if (target == SPMV_DENSE_PAST) Spmv8Stream(at, sum[c]);
    else Spmv8Store(at, sum[c]);
  }
}

/* The same with `rows` a constant where it is 8. A single row comes here as well: it rounds as it would among others */
SPMV_INLINE void SpmvDenseShiftSome(const PetscScalar *a, const PetscInt *j, PetscInt n, int rows, int large, PetscInt nc,
                                    const PetscScalar *x, size_t ldx, SpmvDenseTarget target, PetscScalar *y, size_t ldy)
{
  if (rows == 8) SpmvDenseShift(a, j, n, 8, large, nc, x, ldx, target, y, ldy);
  else SpmvDenseShift(a, j, n, rows, large, nc, x, ldx, target, y, ldy);
}

static void SpmvDenseRows(const SpmvCSR *csr, PetscInt first, PetscInt last, PetscInt count, const PetscScalar *x, size_t ldx,
                          SpmvDenseTarget target, PetscScalar *y, size_t ldy)
{
  for (PetscInt r = first, stop; r < last; r = stop) {
    stop = PetscMin(r + SPMV_PANEL, last);
    for (PetscInt c = 0, n; c < count; c += n) {
      const PetscScalar *xc = x + (size_t)c * ldx;
      PetscScalar       *yc = y + (size_t)c * ldy;

      n = SpmvDenseAtOnce(count - c);
      if (n == 8) SpmvDenseColumns(csr, r, stop, 8, xc, ldx, yc, ldy);
      else if (n == 4) SpmvDenseColumns(csr, r, stop, 4, xc, ldx, yc, ldy);
      else if (n == 2) SpmvDenseColumns(csr, r, stop, 2, xc, ldx, yc, ldy);
      else SpmvDenseColumns(csr, r, stop, 1, xc, ldx, yc, ldy);
    }
  }
}

/* Eight rows at a time. If y is written past the caches, eight begin where a cache line does */
static void SpmvDenseShiftedRows(const SpmvCSR *csr, PetscInt first, PetscInt last, PetscInt count, const PetscScalar *x,
                                 size_t ldx, SpmvDenseTarget target, PetscScalar *y, size_t ldy)
{
  const size_t   into  = target == SPMV_DENSE_PAST ? (size_t)(y + first) % SPMV_CACHE_LINE / sizeof(PetscScalar) : 0;
  const PetscInt nnz   = csr->i[csr->m];
  const int      large = nnz >= SpmvMachineGet()->cached;
  PetscScalar    a[8 * SPMV_SHIFTED_MAX] __attribute__((aligned(64)));

  for (PetscInt r = first, rows, stop = first + PetscMin(8 - (PetscInt)into % 8, last - first); r < last; r += rows) {
    const PetscInt     n = csr->i[r + 1] - csr->i[r], *j = csr->j + csr->i[r];
    const PetscScalar *ar = csr->a + csr->i[r];

    if (r == stop) stop += PetscMin(8, last - stop);
    rows = SpmvDenseShifted(csr, r, stop - r);
    if (large) {
      SpmvPrefetch(j + SPMV_PREFETCH_ENTRIES, sizeof(PetscInt) * (size_t)(n * rows));
      SpmvPrefetch(ar + SPMV_PREFETCH_ENTRIES, sizeof(PetscScalar) * (size_t)(n * rows));
    }
    if (n > SPMV_SHIFTED_MAX) {
      SpmvDenseRows(csr, r, r + 1, count, x, ldx, target, y, ldy);
      continue;
    }
    /* in eights while what follows may be read, too: it is not used */
    SpmvDenseInterleave(ar, (size_t)n, rows, 8, rows == 8 && nnz - csr->i[r + 8] >= 8 ? (n + 7) / 8 * 8 : n, a);
    for (PetscInt c = 0, nc; c < count; c += nc) {
      const PetscScalar *xc = x + (size_t)c * ldx;
      PetscScalar       *yc = y + (size_t)c * ldy + (size_t)r;

      nc = SpmvDenseAtOnce(count - c);
      if (nc == 8) SpmvDenseShiftSome(a, j, n, (int)rows, large, 8, xc, ldx, target, yc, ldy);
      else if (nc == 4) SpmvDenseShiftSome(a, j, n, (int)rows, large, 4, xc, ldx, target, yc, ldy);
      else if (nc == 2) SpmvDenseShiftSome(a, j, n, (int)rows, large, 2, xc, ldx, target, yc, ldy);
      else SpmvDenseShiftSome(a, j, n, (int)rows, large, 1, xc, ldx, target, yc, ldy);
    }
  }
}

/* The reverse of SpmvDenseInterleave() */
static void SpmvDenseSeparate(const PetscScalar *in, PetscInt count, PetscInt width, PetscInt rows, SpmvDenseTarget target,
                              PetscScalar *columns, size_t ld)
{
  const PetscBool add = (PetscBool)(target == SPMV_DENSE_ADD);

  for (PetscInt c = 0; c < count; c += 8) {
    PetscScalar   *to   = columns + (size_t)c * ld;
    const PetscInt live = PetscMin(8, count - c);
    PetscInt       r    = 0;

    for (; live == 8 && r + 8 <= rows; r += 8) {
      Spmv8 v[8];

      SPMV_UNROLL
      for (int k = 0; k < 8; k++) v[k] = Spmv8Load(in + (size_t)(r + k) * (size_t)width + (size_t)c);
      Spmv8Transpose(v);
      SPMV_UNROLL
      for (int k = 0; k < 8; k++) {
        PetscScalar *at = to + (size_t)k * ld + (size_t)r;

        if (target == SPMV_DENSE_PAST) Spmv8Stream(at, v[k]);
        else Spmv8Store(at, add ? Spmv8Add(Spmv8Load(at), v[k]) : v[k]);
      }
    }
    for (; r < rows; r++) {
      for (PetscInt k = 0; k < live; k++) {
        const PetscScalar value = in[(size_t)r * (size_t)width + (size_t)(c + k)];

        to[(size_t)k * ld + (size_t)r] = add ? to[(size_t)k * ld + (size_t)r] + value : value;
      }
    }
  }
}

/* Widens [low, high) by the columns of entries [first, end) */
static void SpmvDenseReach(const PetscInt *j, PetscInt first, PetscInt end, PetscInt *low, PetscInt *high)
{
  PetscInt least = *low, most = *high - 1;

  for (PetscInt k = first; k < end; k++) {
    least = PetscMin(least, j[k]);
    most  = PetscMax(most, j[k]);
  }
  *low  = least;
  *high = most + 1;
}

const SpmvDenseKernels SPMV_ISA_NAME(SpmvDenseKernels) = {
  {SpmvDenseApply_Spmv4_1, SpmvDenseApply_Spmv8_1, SpmvDenseApply_Spmv8_2},
  {SpmvDenseTranspose_Spmv4_1, SpmvDenseTranspose_Spmv8_1, SpmvDenseTranspose_Spmv8_2},
  {SpmvDenseRows, SpmvDenseShiftedRows},
  SpmvDenseShifted,
  SpmvDenseInterleave,
  SpmvDenseSeparate,
  SpmvDenseReach};
#endif
