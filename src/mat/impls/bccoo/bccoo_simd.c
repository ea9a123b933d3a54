/*
  bccoo_simd.c - the products of BCCOO, compiled once for each instruction set of isas.h

  Two ways through a storage: block after block (bccoo_blocks.h), or, with a bunch, eight tiles at once (bccoo_lanes.h).
  1x1 blocks multiply and add with two roundings and in AIJ's order, so that a row inside one tile has AIJ's bits.

  Source: as bccoo.c; section 3.2.2, strategy 3.
*/
#include "bccoo_blocks.h"
#include "bccoo_lanes.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {.apply = NULL};
#else

  /* The 64 shapes, each without and with a bunch: BccooApply_3x2_1() and so on, and tables of them by height, width and bunch */
  #define SHAPE(H, W) \
    static void BccooApply_##H##x##W##_1(const BccooStorage *b, const BccooPart *part, const BccooInput *in, const BccooOutput *o, PetscScalar carry[]) \
    { \
      BccooApplyBlocks(b, part, in, o, carry, H, W); \
    } \
    static void BccooApply_##H##x##W##_8(const BccooStorage *b, const BccooPart *part, const BccooInput *in, const BccooOutput *o, PetscScalar carry[]) \
    { \
      BccooApplyLanes(b, part, in, o, carry, H, W); \
    } \
    static void BccooTranspose_##H##x##W##_1(const BccooStorage *b, const BccooPart *part, const BccooInput *in, BccooTransposed *o) \
    { \
      BccooTransposeBlocks(b, part, in, o, H, W); \
    } \
    static void BccooTranspose_##H##x##W##_8(const BccooStorage *b, const BccooPart *part, const BccooInput *in, BccooTransposed *o) \
    { \
      BccooTransposeLanes(b, part, in, o, H, W); \
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

typedef void BccooApplyFn(const BccooStorage *, const BccooPart *, const BccooInput *, const BccooOutput *, PetscScalar[]);
typedef void BccooTransposeFn(const BccooStorage *, const BccooPart *, const BccooInput *, BccooTransposed *);

static BccooApplyFn *const     BccooApplies[BCCOO_BLOCK_MAX][BCCOO_BLOCK_MAX][2]    = TABLE(APPLY);
static BccooTransposeFn *const BccooTransposes[BCCOO_BLOCK_MAX][BCCOO_BLOCK_MAX][2] = TABLE(TRANSPOSE);

/* What the tasks of a product share */
typedef struct {
  const BccooStorage *b;
  BccooInput          in;
  BccooOutput         o;                 /* what the parts write */
  PetscScalar        *y;                 /* the result; o.y, or what slices are added to */
  PetscScalar (*carry)[BCCOO_BLOCK_MAX]; /* [nparts] */
  PetscScalar *work;                     /* of a transposed product: vectors of the parts */
} BccooProduct;

/* Rows of the matrix from which on part p's are: those that end in it, and the empty ones before each */
static size_t BccooPartRow(const BccooStorage *b, PetscInt p)
{
  const size_t ended = p < b->nparts ? (size_t)b->entry[b->part[p].first] : (size_t)b->nrows;

  if (p == 0) return 0;
  if (p == b->nparts) return (size_t)b->m;
  return ended ? PetscMin((BccooRow(b, ended - 1) + 1) * (size_t)b->h, (size_t)b->m) : 0;
}

static void BccooMultPart(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooStorage *b       = product->b;

  if (b->row && b->slices == 1 && !product->o.beta) { /* the rows that are not listed */
    const size_t first = BccooPartRow(b, p), end = BccooPartRow(b, p + 1);

    memset(product->y + first, 0, sizeof(PetscScalar) * (end - first));
  }
  BccooApplies[b->h - 1][b->w - 1][b->bunch > 1](b, &b->part[p], &product->in, &product->o, product->carry[p]);
}

/* Adds what parts left to the rows that end in later ones, in the order of the parts */
static void BccooCarryParts(const BccooProduct *product)
{
  const BccooStorage *b                      = product->b;
  PetscScalar         carry[BCCOO_BLOCK_MAX] = {0};

  for (PetscInt p = 0; p < b->nparts; p++) {
    const size_t first = (size_t)b->entry[b->part[p].first];
    const int    stops = (size_t)b->entry[b->part[p].last] > first;

    for (size_t i = 0; i < (size_t)b->h; i++) {
      const size_t r = stops ? BccooRow(b, first) * (size_t)b->h + i : 0;

      if (stops && p && r < product->o.limit) product->o.y[r] += carry[i];
      carry[i] = stops ? product->carry[p][i] : carry[i] + product->carry[p][i];
    }
  }
}

/* Adds up the slices' parts of rows; rows that a slice does not list stay 0 in its part */
static void BccooAddSlices(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooStorage *b       = product->b;
  const size_t        rows = (size_t)(b->mb * b->h), first = SpmvShare((size_t)b->m, p, b->nparts), end = SpmvShare((size_t)b->m, p + 1, b->nparts);

  for (size_t r = first; r < end; r++) {
    PetscScalar sum = product->o.beta ? product->y[r] : 0;

    for (size_t s = 0; s < (size_t)b->slices; s++) sum += b->partial[s * rows + r];
    product->y[r] = sum;
  }
}

static void BccooMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const BccooStorage *b = (const BccooStorage *)storage;
  PetscScalar         carry[SPMV_THREADS_MAX][BCCOO_BLOCK_MAX];
  BccooProduct        product = {.b = b, .in = {.x = x, .limit = (size_t)b->n, .last = -1}, .o = {.y = y, .beta = beta, .limit = (size_t)b->m}, .y = y, .carry = carry};

  if (b->whole) {
    memcpy(b->whole, x, sizeof(PetscScalar) * (size_t)b->n);
    product.in.x = b->whole;
  } else if (b->n % b->w) {
    product.in.last = (int32_t)(b->n / b->w);
    memcpy(product.in.tail, x + (size_t)product.in.last * (size_t)b->w, sizeof(PetscScalar) * (size_t)(b->n % b->w));
  }
  if (b->slices > 1) product.o = (BccooOutput){.y = b->partial, .beta = PETSC_FALSE, .limit = (size_t)(b->slices * b->mb * b->h)};
  SpmvRun(b->nparts, BccooMultPart, &product);
  BccooCarryParts(&product);
  if (b->slices > 1) {
    product.o.beta = beta;
    SpmvRun(b->nparts, BccooAddSlices, &product);
  }
}

static void BccooTransposePart(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooStorage *b       = product->b;
  const BccooPart    *part    = &b->part[p];
  const PetscInt      rest    = b->n % b->w;
  BccooTransposed     o       = {.y = SpmvTaskVector(b->n, p, product->work, product->y), .last = rest ? (int32_t)(b->n / b->w) : -1};

  if (p) memset(o.y + part->low, 0, sizeof(PetscScalar) * (size_t)(part->high - part->low));
  else if (!product->o.beta) memset(o.y, 0, sizeof(PetscScalar) * (size_t)b->n);
  BccooTransposes[b->h - 1][b->w - 1][b->bunch > 1](b, part, &product->in, &o);
  for (PetscInt j = 0; j < rest && part->high == b->n; j++) o.y[(size_t)o.last * (size_t)b->w + (size_t)j] += o.tail[j];
}

/* Adds up the parts' vectors: task p those columns that are its share */
static void BccooAddTransposed(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooStorage *b       = product->b;
  const PetscInt      first = (PetscInt)SpmvShare((size_t)b->n, p, b->nparts), end = (PetscInt)SpmvShare((size_t)b->n, p + 1, b->nparts);

  for (PetscInt q = 1; q < b->nparts; q++) {
    const PetscScalar *sum  = SpmvTaskVector(b->n, q, product->work, product->y);
    const PetscInt     stop = PetscMin(end, b->part[q].high);

    for (PetscInt c = PetscMax(first, b->part[q].low); c < stop; c++) product->y[c] += sum[c];
  }
}

static size_t BccooTransposeWork(const void *storage)
{
  const BccooStorage *b = (const BccooStorage *)storage;

  return SpmvTaskVectors(b->n, b->nparts);
}

static void BccooMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  const BccooStorage *b       = (const BccooStorage *)storage;
  BccooProduct        product = {.b = b, .in = {.x = x, .limit = (size_t)b->m, .last = -1}, .o = {.beta = beta}, .y = y, .work = work};

  SpmvRun(b->nparts, BccooTransposePart, &product);
  if (b->nparts > 1) SpmvRun(b->nparts, BccooAddTransposed, &product);
}

const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {.apply = BccooMult, .apply_transpose = BccooMultTranspose, .transpose_work = BccooTransposeWork};
#endif
