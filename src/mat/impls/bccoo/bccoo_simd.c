/*
  bccoo_simd.c - the products of BCCOO, compiled once for each instruction set of isas.h

  Two ways through a storage: block after block (bccoo_blocks.h), or, with a bunch, eight tiles at once (bccoo_lanes.h).
  1x1 blocks multiply and add with two roundings and in AIJ's order, so that a row inside one tile has AIJ's bits.

  Source: as bccoo.c; section 3.2.2, strategy 3.
*/
#include "bccoo.h"
#include "../../../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {NULL, NULL};
#else

/* The vector that a product reads, with what its last block column needs when the width does not divide n */
typedef struct {
  const PetscScalar *x;
  size_t             limit;                 /* its length */
  int32_t            last;                  /* the incomplete block column, -1 if there is none */
  PetscScalar        tail[BCCOO_BLOCK_MAX]; /* [w] its part of x, then zeros */
} BccooInput;

/* The vector that a product writes: y, or the partial products of slices */
typedef struct {
  PetscScalar *y;
  PetscBool    beta;
  size_t       limit; /* rows */
} BccooOutput;

/* The vector that a transposed product adds to, with a place for what its last, incomplete block column is given */
typedef struct {
  PetscScalar *y;
  int32_t      last;                  /* as in BccooInput */
  PetscScalar  tail[BCCOO_BLOCK_MAX]; /* [w] */
} BccooTransposed;

/* Adds one value to, or stores it as, entry r of the result */
SPMV_INLINE void BccooPut(const BccooOutput *o, size_t r, PetscScalar value)
{
  o->y[r] = o->beta ? o->y[r] + value : value;
}

/* The part of x that block row number k multiplies in a transposed product; zeros for rows past the last, and for k past the last */
SPMV_INLINE void BccooRowOf(const BccooStorage *b, const BccooInput *in, size_t k, PetscInt h, PetscScalar x[])
{
  const size_t row = k < (size_t)b->nrows ? BccooRow(b, k) : 0, r = (b->slices == 1 ? row : row % (size_t)b->mb) * (size_t)h;

  for (PetscInt i = 0; i < h; i++) x[i] = k < (size_t)b->nrows && (h == 1 || r + (size_t)i < in->limit) ? in->x[r + (size_t)i] : 0;
}

/*
  Asks for bytes that memory has to send, into the second cache: the first has too few lines under way to wait for memory
  in. On Zen 4 a 27-point stencil out of cache takes 0.68 ns an entry with the first, 0.54 with the second, 0.46 with
  columns asked for as well; one in cache 0.35 with and 0.32 without, so it is done for large matrices only.
*/
  #define BCCOO_AHEAD_COLUMNS 2048 /* bytes between what is in use and what is asked for */
  #define BCCOO_AHEAD_VALUES  16384

SPMV_INLINE void BccooAhead(const char *first, size_t bytes)
{
  for (size_t k = 0; k < bytes; k += 64) __builtin_prefetch(first + k, 0, 2);
}

SPMV_INLINE size_t BccooColumnSize(const BccooStorage *b)
{
  return b->columns == BCCOO_COLUMNS_INT32 ? sizeof(int32_t) : sizeof(int16_t);
}

  #include "bccoo_blocks.h"
  #include "bccoo_lanes.h"

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
