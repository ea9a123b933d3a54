/*
  bccoo_simd.c - the products of BCCOO, compiled once for each instruction set of isas.h

  One loop for every block shape: height and width are constants when it is inlined, so that the compiler unrolls a
  block. The run of blocks up to the next row stop is found first: no test of a flag per block.

  Source: as bccoo.c; Algorithm 1 without its scan, since one thread takes whole block rows.
*/
#include "bccoo.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {NULL, NULL};
#else

/* x, or a padded copy of its last block's part when the width does not divide n: a block never reads past x's end */
typedef struct {
  int32_t     last;                  /* the block column that the copy stands for, -1 if none */
  PetscScalar tail[BCCOO_BLOCK_MAX]; /* [w] */
} BccooTail;

static inline __attribute__((always_inline)) BccooTail BccooTailOf(const BccooStorage *b, PetscInt w)
{
  BccooTail t = {.last = -1};

  if (b->n % w) t.last = (int32_t)(b->n / w);
  return t;
}

static inline __attribute__((always_inline)) void BccooApply(const BccooStorage *b, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscInt h, PetscInt w)
{
  const PetscScalar *v    = b->value;
  const PetscInt     full = b->m / h; /* block rows before this one have all their rows */
  BccooTail          t    = BccooTailOf(b, w);
  size_t             q    = 0;

  if (t.last >= 0) memcpy(t.tail, x + (size_t)t.last * w, sizeof(PetscScalar) * (b->n % w));
  if (!beta && b->row) memset(y, 0, sizeof(PetscScalar) * b->m); /* the rows that are not listed */
  for (PetscInt k = 0; k < b->nrows; k++) {
    const PetscInt r                    = b->row ? b->row[k] : k;
    const size_t   end                  = BccooRowStop(b->flags, q);
    PetscScalar    sum[BCCOO_BLOCK_MAX] = {0};
    PetscScalar   *yr                   = y + (size_t)r * h;

    for (; q < end; q++, v += h * w) {
      const PetscScalar *xb = w > 1 && b->column[q] == t.last ? t.tail : x + (size_t)b->column[q] * w;

      for (PetscInt j = 0; j < w; j++) {
        for (PetscInt i = 0; i < h; i++) sum[i] += v[j * h + i] * xb[j];
      }
    }
    if (r < full) {
      if (beta)
        for (PetscInt i = 0; i < h; i++) yr[i] += sum[i];
      else
        for (PetscInt i = 0; i < h; i++) yr[i] = sum[i];
    } else {
      for (PetscInt i = 0; i < b->m - r * h; i++) yr[i] = beta ? yr[i] + sum[i] : sum[i];
    }
  }
}

static inline __attribute__((always_inline)) void BccooApplyTranspose(const BccooStorage *b, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscInt h, PetscInt w)
{
  const PetscScalar *v    = b->value;
  const PetscInt     full = b->m / h;
  BccooTail          t    = BccooTailOf(b, w);
  size_t             q    = 0;

  if (!beta) memset(y, 0, sizeof(PetscScalar) * b->n);
  for (PetscInt k = 0; k < b->nrows; k++) {
    const PetscInt r                   = b->row ? b->row[k] : k;
    const size_t   end                 = BccooRowStop(b->flags, q);
    PetscScalar    xr[BCCOO_BLOCK_MAX] = {0}; /* rows past the last read as 0 */

    memcpy(xr, x + (size_t)r * h, sizeof(PetscScalar) * (r < full ? h : b->m - r * h));
    for (; q < end; q++, v += h * w) {
      PetscScalar *yb = w > 1 && b->column[q] == t.last ? t.tail : y + (size_t)b->column[q] * w;

      for (PetscInt j = 0; j < w; j++) {
        PetscScalar sum = 0;

        for (PetscInt i = 0; i < h; i++) sum += v[j * h + i] * xr[i];
        yb[j] += sum;
      }
    }
  }
  if (t.last >= 0) {
    for (PetscInt j = 0; j < b->n % w; j++) y[(size_t)t.last * w + j] += t.tail[j];
  }
}

  /* The 64 shapes: BccooApply_3x2() and so on, and a table of them by height and width */
  #define SHAPE(H, W) \
    static void BccooApply_##H##x##W(const BccooStorage *b, const PetscScalar *x, PetscScalar *y, PetscBool beta) \
    { \
      BccooApply(b, x, y, beta, H, W); \
    } \
    static void BccooApplyTranspose_##H##x##W(const BccooStorage *b, const PetscScalar *x, PetscScalar *y, PetscBool beta) \
    { \
      BccooApplyTranspose(b, x, y, beta, H, W); \
    }
  #define ENTRY(H, W)  {BccooApply_##H##x##W, BccooApplyTranspose_##H##x##W},
  #define WIDTHS(F, H) F(H, 1) F(H, 2) F(H, 3) F(H, 4) F(H, 5) F(H, 6) F(H, 7) F(H, 8)

WIDTHS(SHAPE, 1)
WIDTHS(SHAPE, 2)
WIDTHS(SHAPE, 3)
WIDTHS(SHAPE, 4) WIDTHS(SHAPE, 5) WIDTHS(SHAPE, 6) WIDTHS(SHAPE, 7) WIDTHS(SHAPE, 8)

  typedef void BccooShapeFn(const BccooStorage *, const PetscScalar *, PetscScalar *, PetscBool);

static BccooShapeFn *const BccooShapes[BCCOO_BLOCK_MAX][BCCOO_BLOCK_MAX][2] = {
  {WIDTHS(ENTRY, 1)},
  {WIDTHS(ENTRY, 2)},
  {WIDTHS(ENTRY, 3)},
  {WIDTHS(ENTRY, 4)},
  {WIDTHS(ENTRY, 5)},
  {WIDTHS(ENTRY, 6)},
  {WIDTHS(ENTRY, 7)},
  {WIDTHS(ENTRY, 8)},
};

static void BccooMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const BccooStorage *b = (const BccooStorage *)storage;

  BccooShapes[b->h - 1][b->w - 1][0](b, x, y, beta);
}

static void BccooMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const BccooStorage *b = (const BccooStorage *)storage;

  BccooShapes[b->h - 1][b->w - 1][1](b, x, y, beta);
}

const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {BccooMult, BccooMultTranspose};
#endif
