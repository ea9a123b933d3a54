/*
  bccoo_simd.c - the products of BCCOO, compiled once for each instruction set of isas.h

  Two ways through a storage: block after block (bccoo_blocks.h), or, with a bunch, eight tiles at once (bccoo_lanes.h).
  1x1 blocks multiply and add with two roundings and in AIJ's order, so that a row inside one tile has AIJ's bits.

  Source: as bccoo.c; section 3.2.2, strategy 3.
*/
#include "bccoo_blocks.h"
#include "bccoo_lanes.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {NULL, NULL};
#else

  /* The 64 shapes, each without and with a bunch: BccooApply_3x2_1() and so on, and tables of them by height, width and bunch */
  #define SHAPE(H, W) \
    static void BccooApply_##H##x##W##_1(const BccooStorage *b, const BccooInput *in, const BccooOutput *o) \
    { \
      BccooApplyBlocks(b, in, o, H, W); \
    } \
    static void BccooApply_##H##x##W##_8(const BccooStorage *b, const BccooInput *in, const BccooOutput *o) \
    { \
      BccooApplyLanes(b, in, o, H, W); \
    } \
    static void BccooTranspose_##H##x##W##_1(const BccooStorage *b, const BccooInput *in, BccooTransposed *o) \
    { \
      BccooTransposeBlocks(b, in, o, H, W); \
    } \
    static void BccooTranspose_##H##x##W##_8(const BccooStorage *b, const BccooInput *in, BccooTransposed *o) \
    { \
      BccooTransposeLanes(b, in, o, H, W); \
    }
  #define APPLY(H, W)     {BccooApply_##H##x##W##_1, BccooApply_##H##x##W##_8},
  #define TRANSPOSE(H, W) {BccooTranspose_##H##x##W##_1, BccooTranspose_##H##x##W##_8},
  #define WIDTHS(F, H)    F(H, 1) F(H, 2) F(H, 3) F(H, 4) F(H, 5) F(H, 6) F(H, 7) F(H, 8)
  #define TABLE(F) \
    { \
      {WIDTHS(F, 1)}, {WIDTHS(F, 2)}, {WIDTHS(F, 3)}, {WIDTHS(F, 4)}, {WIDTHS(F, 5)}, {WIDTHS(F, 6)}, {WIDTHS(F, 7)}, \
      { \
        WIDTHS(F, 8) \
      } \
    }

WIDTHS(SHAPE, 1)
WIDTHS(SHAPE, 2)
WIDTHS(SHAPE, 3)
WIDTHS(SHAPE, 4)
WIDTHS(SHAPE, 5)
WIDTHS(SHAPE, 6)
WIDTHS(SHAPE, 7)
WIDTHS(SHAPE, 8)

typedef void BccooApplyFn(const BccooStorage *, const BccooInput *, const BccooOutput *);
typedef void BccooTransposeFn(const BccooStorage *, const BccooInput *, BccooTransposed *);

static BccooApplyFn *const     BccooApplies[BCCOO_BLOCK_MAX][BCCOO_BLOCK_MAX][2]    = TABLE(APPLY);
static BccooTransposeFn *const BccooTransposes[BCCOO_BLOCK_MAX][BCCOO_BLOCK_MAX][2] = TABLE(TRANSPOSE);

static void BccooMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const BccooStorage *b    = (const BccooStorage *)storage;
  const size_t        rows = (size_t)(b->mb * b->h);
  BccooInput          in   = {.x = x, .limit = (size_t)b->n, .last = -1};
  BccooOutput         o    = {.y = y, .beta = beta, .limit = (size_t)b->m};

  if (b->n % b->w) {
    in.last = (int32_t)(b->n / b->w);
    memcpy(in.tail, x + (size_t)in.last * (size_t)b->w, sizeof(PetscScalar) * (size_t)(b->n % b->w));
  }
  if (b->slices > 1) o = (BccooOutput){.y = b->partial, .beta = PETSC_FALSE, .limit = (size_t)b->slices * rows};
  else if (!beta && b->row) memset(y, 0, sizeof(PetscScalar) * (size_t)b->m); /* the rows that are not listed */
  BccooApplies[b->h - 1][b->w - 1][b->bunch > 1](b, &in, &o);
  for (PetscInt r = 0; b->slices > 1 && r < b->m; r++) { /* rows that a slice does not list stay 0 in its part */
    PetscScalar sum = beta ? y[r] : 0;

    for (PetscInt s = 0; s < b->slices; s++) sum += b->partial[(size_t)s * rows + (size_t)r];
    y[r] = sum;
  }
}

static void BccooMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const BccooStorage *b    = (const BccooStorage *)storage;
  const PetscInt      rest = b->n % b->w;
  const BccooInput    in   = {.x = x, .limit = (size_t)b->m, .last = -1};
  BccooTransposed     o    = {.y = y, .last = rest ? (int32_t)(b->n / b->w) : -1};

  if (!beta) memset(y, 0, sizeof(PetscScalar) * (size_t)b->n);
  BccooTransposes[b->h - 1][b->w - 1][b->bunch > 1](b, &in, &o);
  for (PetscInt j = 0; j < rest; j++) y[(size_t)o.last * (size_t)b->w + (size_t)j] += o.tail[j];
}

const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {BccooMult, BccooMultTranspose};
#endif
