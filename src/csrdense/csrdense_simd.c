/*
  csrdense_simd.c - rows times several vectors side by side, compiled once for each instruction set of isas.h

  Matrices that no cache holds are asked for early: a 27-point stencil of 27 million entries takes 24 ms times eight vectors, 31
  without.

  A row has four sums a vector at a time for widths 4 and 8 and two for 16: a multiplication and addition takes four cycles,
  and the entries of a row would wait for each other.
*/
#include "csrdense.h"
#include "../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvDenseKernels SPMV_ISA_NAME(SpmvDenseKernels) = {{NULL}, {NULL}, NULL, NULL, NULL, NULL};
#else

  #define SPMV_DENSE_AHEAD 2048 /* entries between the row at work and what is asked for */

  /* V: a vector of N scalars; NV of them side by side; SUMS sums of each */
  #define SPMV_DENSE(V, N, NV, SUMS) \
    SPMV_INLINE void SpmvDenseEntry_##V##_##NV(const SpmvCSR *csr, PetscInt k, const PetscScalar *x, V sum[]) \
    { \
      const PetscScalar *xk = x + (size_t)csr->j[k] * (N * NV); \
      const V            a  = V##Splat(csr->a[k]); \
\
      for (int v = 0; v < NV; v++) sum[v] = V##Fma(a, V##Load(xk + N * v), sum[v]); \
    } \
    static void SpmvDenseApply_##V##_##NV(const SpmvCSR *csr, PetscInt first, PetscInt last, const PetscScalar *x, PetscScalar *y) \
    { \
      const int large = csr->i[csr->m] >= SPMV_CACHE; \
\
      for (PetscInt r = first; r < last; r++, y += N * NV) { \
        const PetscInt end = csr->i[r + 1]; \
        PetscInt       k   = csr->i[r]; \
        V              sum[SUMS][NV]; \
\
        if (large) { \
          SpmvAhead(csr->a + k + SPMV_DENSE_AHEAD, sizeof(PetscScalar) * (size_t)(end - k)); \
          SpmvAhead(csr->j + k + SPMV_DENSE_AHEAD, sizeof(PetscInt) * (size_t)(end - k)); \
        } \
        for (int s = 0; s < SUMS; s++) { \
          for (int v = 0; v < NV; v++) sum[s][v] = V##Zero(); \
        } \
        for (; k + SUMS <= end; k += SUMS) { \
          for (int s = 0; s < SUMS; s++) SpmvDenseEntry_##V##_##NV(csr, k + s, x, sum[s]); \
        } \
        for (; k < end; k++) SpmvDenseEntry_##V##_##NV(csr, k, x, sum[0]); \
        for (int v = 0; v < NV; v++) { \
          V total = sum[0][v]; \
\
          for (int s = 1; s < SUMS; s++) total = V##Add(total, sum[s][v]); \
          V##StoreFirst(y + N * v, total, N); \
        } \
      } \
    } \
    static void SpmvDenseTranspose_##V##_##NV(const SpmvCSR *csr, PetscInt first, PetscInt last, const PetscScalar *x, PetscScalar *y) \
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
SPMV_DENSE(Spmv4, 4, 1, 4)
SPMV_DENSE(Spmv8, 8, 1, 4)
SPMV_DENSE(Spmv8, 8, 2, 2)
  #undef SPMV_DENSE

/* n vectors, a constant: their sums are registers */
SPMV_INLINE void SpmvDenseColumns(const SpmvCSR *csr, PetscInt first, PetscInt last, PetscInt n, const PetscScalar *x, size_t ldx, PetscScalar *y, size_t ldy)
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

static void SpmvDenseRows(const SpmvCSR *csr, PetscInt first, PetscInt last, PetscInt count, const PetscScalar *x, size_t ldx, PetscScalar *y, size_t ldy)
{
  for (PetscInt done; count > 0; count -= done, x += (size_t)done * ldx, y += (size_t)done * ldy) {
    done = count >= 8 ? 8 : count >= 4 ? 4
                          : count >= 2 ? 2
                                       : 1;
    if (done == 8) SpmvDenseColumns(csr, first, last, 8, x, ldx, y, ldy);
    else if (done == 4) SpmvDenseColumns(csr, first, last, 4, x, ldx, y, ldy);
    else if (done == 2) SpmvDenseColumns(csr, first, last, 2, x, ldx, y, ldy);
    else SpmvDenseColumns(csr, first, last, 1, x, ldx, y, ldy);
  }
}

/* Rows of columns, eight of each at a time as long as there are as many */
static void SpmvDenseInterleave(const PetscScalar *columns, size_t ld, PetscInt count, PetscInt width, PetscInt rows, PetscScalar *out)
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
      for (PetscInt k = 0; k < wide; k++) out[(size_t)r * (size_t)width + (size_t)(c + k)] = k < live ? from[(size_t)k * ld + (size_t)r] : 0;
    }
  }
}

static void SpmvDenseSeparate(const PetscScalar *in, PetscInt count, PetscInt width, PetscInt rows, PetscBool add, PetscScalar *columns, size_t ld)
{
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

        Spmv8Store(at, add ? Spmv8Add(Spmv8Load(at), v[k]) : v[k]);
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
  SpmvDenseRows,
  SpmvDenseInterleave,
  SpmvDenseSeparate,
  SpmvDenseReach};
#endif
