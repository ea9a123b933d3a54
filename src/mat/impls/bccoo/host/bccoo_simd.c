/*
  bccoo_simd.c - the products of BCCOO, compiled once for each instruction set of isas.h

  Two ways through a storage: block after block (bccoo_chunks.h), or, with a bunch, eight tiles at once (bccoo_lanes.h).
  1x1 blocks multiply and add with two roundings and in AIJ's order, so that a row inside one tile has AIJ's bits.

  Source: as bccoo.c; section 3.2.2, strategy 3.
*/
#include "bccoo_chunks.h"
#include "bccoo_lanes.h"
#include "bccoo_masked_simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {.apply = NULL};
#else

typedef void BccooPartFn(const BccooBlocks *b, const BccooPart *part, const PetscScalar x[], BccooOutput *o);

  /* BccooApplyChunks_3x2() and so on, and BccooApplyChunksTable[] of all shapes that have loops of their own, row by row */
  #define NAME(F, H, W) F##_##H##x##W,
  #define SHAPE(F, H, W) \
    static void F##_##H##x##W(const BccooBlocks *b, const BccooPart *part, const PetscScalar x[], BccooOutput *o) \
    { \
      const PetscInt h = H ? H : b->h, w = W ? W : b->w; \
\
      if (!H && h * w == 1) __builtin_unreachable(); \
      F(b, part, x, o, h, w); \
    }
  #if defined(SPMV_FEW_LOOPS)
    /* Those of up to 4 x 4; the last loop, 0x0, is for the others */
    #define OWN_MAX         4
    #define WIDTHS(M, F, H) M(F, H, 1) M(F, H, 2) M(F, H, 3) M(F, H, 4)
    #define SHAPES(M, F)    WIDTHS(M, F, 1) WIDTHS(M, F, 2) WIDTHS(M, F, 3) WIDTHS(M, F, 4) M(F, 0, 0)
  #else
    #define OWN_MAX         BCCOO_BLOCK_MAX
    #define WIDTHS(M, F, H) M(F, H, 1) M(F, H, 2) M(F, H, 3) M(F, H, 4) M(F, H, 5) M(F, H, 6) M(F, H, 7) M(F, H, 8)
    #define SHAPES(M, F) \
      WIDTHS(M, F, 1) \
      WIDTHS(M, F, 2) \
      WIDTHS(M, F, 3) WIDTHS(M, F, 4) WIDTHS(M, F, 5) WIDTHS(M, F, 6) WIDTHS(M, F, 7) WIDTHS(M, F, 8)
  #endif
  #define TABLE(F) \
    SHAPES(SHAPE, F) \
    static BccooPartFn *const F##Table[] = {SHAPES(NAME, F)};

TABLE(BccooApplyChunks)
TABLE(BccooApplyLanes)
TABLE(BccooTransposeChunks)
TABLE(BccooTransposeLanes)

/* A product, for its tasks */
typedef struct {
  const BccooStorage *s;
  BccooPartFn        *part;              /* not with masks */
  const PetscScalar  *x;                 /* as long as the block columns are wide */
  PetscScalar        *y;                 /* the result; o.y, or what slices are added to */
  BccooOutput         o;                 /* what the parts write */
  PetscScalar (*carry)[BCCOO_BLOCK_MAX]; /* [nparts] */
  PetscScalar *work;                     /* of a transposed product: vectors of the parts */
} BccooProduct;

/* That of these for a storage's shape, by chunks or by lanes */
static BccooPartFn *BccooPartOf(const BccooBlocks *b, BccooPartFn *const chunks[], BccooPartFn *const lanes[])
{
  const int own = b->h <= OWN_MAX && b->w <= OWN_MAX;

  return (b->bunch > 1 ? lanes : chunks)[own ? (b->h - 1) * OWN_MAX + b->w - 1 : OWN_MAX * OWN_MAX];
}

/* The first row of part p: its own rows are those that end in it, and the empty ones before each */
static size_t BccooPartRow(const BccooStorage *s, PetscInt p)
{
  const BccooBlocks *b     = &s->b;
  const size_t       ended = (size_t)b->entry[BccooPartNumber(s, p).first];

  if (p == s->nparts) return (size_t)b->m;
  return p && ended ? PetscMin((BccooRow(b, ended - 1) + 1) * (size_t)b->h, (size_t)b->m) : 0;
}

static void BccooMultPart(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooStorage *s       = product->s;
  const BccooPart     part    = BccooPartNumber(s, p);
  BccooOutput         o       = product->o;

  if (s->masked) {
    BccooMaskedMult(s->masked, p, product->x, product->y, o.beta);
    return;
  }
  if (s->b.row && !s->partial && !o.beta) { /* the rows that are not listed */
    const size_t first = BccooPartRow(s, p), end = BccooPartRow(s, p + 1);

    memset(product->y + first, 0, sizeof(PetscScalar) * (end - first));
  }
  product->part(&s->b, &part, product->x, &o);
  memcpy(product->carry[p], o.carry, sizeof(o.carry));
}

/* Adds what parts left to the rows that end in later ones, in the order of the parts; there is nothing before the first */
static void BccooCarryParts(const BccooProduct *product)
{
  const BccooStorage *s = product->s;
  BccooOutput         o = product->o;

  for (PetscInt p = 0; p < s->nparts; p++) {
    const BccooPart part = BccooPartNumber(s, p);

    o.limit = p ? product->o.limit : 0;
    BccooCarry(&s->b, part.first, part.last, product->carry[p], 1, s->b.h, &o);
  }
}

/* Adds up the slices' parts of rows; rows that a slice does not list stay 0 in its part */
static void BccooAddSlices(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooStorage *s       = product->s;
  const size_t        m = (size_t)s->b.m, rows = (size_t)s->b.mb * (size_t)s->b.h, end = SpmvShare(m, p + 1, s->nparts);

  for (size_t r = SpmvShare(m, p, s->nparts); r < end; r++) {
    PetscScalar sum = product->o.beta ? product->y[r] : 0;

    for (size_t slice = 0; slice < (size_t)s->b.slices; slice++) sum += s->partial[slice * rows + r];
    product->y[r] = sum;
  }
}

static void BccooMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  const BccooStorage *s = (const BccooStorage *)storage;
  const BccooBlocks  *b = &s->b;
  PetscScalar         carry[SPMV_THREADS_MAX][BCCOO_BLOCK_MAX];
  BccooProduct        product = {.s = s, .x = x, .y = y, .o = {.y = y, .beta = beta, .limit = (size_t)b->m}, .carry = carry};

  product.part = BccooPartOf(b, BccooApplyChunksTable, BccooApplyLanesTable);
  if (s->padded) {
    memcpy(s->padded, x, sizeof(PetscScalar) * (size_t)b->n);
    product.x = s->padded;
  }
  if (s->partial) product.o = (BccooOutput){.y = s->partial, .limit = BccooStackRows(b)};
  SpmvRun(s->nparts, BccooMultPart, &product);
  if (s->masked) return; /* no row is of two parts */
  BccooCarryParts(&product);
  product.o.beta = beta;
  if (s->partial) SpmvRun(s->nparts, BccooAddSlices, &product);
}

static void BccooTransposePart(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooBlocks  *b       = &product->s->b;
  const BccooPart     part    = BccooPartNumber(product->s, p);
  const SpmvSpan      span    = p ? product->s->span[p] : (SpmvSpan){0, (size_t)b->n};
  BccooOutput         o       = {.y = SpmvTaskVector(b->n, p, product->work, product->y)};

  if (p || !product->o.beta) memset(o.y + span.first, 0, sizeof(PetscScalar) * (span.end - span.first));
  if (product->s->masked) BccooMaskedTranspose(product->s->masked, p, product->x, o.y);
  else product->part(b, &part, product->x, &o);
}

static size_t BccooTransposeWork(const void *storage)
{
  const BccooStorage *s = (const BccooStorage *)storage;

  return SpmvTaskVectors(s->b.n, s->nparts);
}

static void BccooMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  const BccooStorage *s       = (const BccooStorage *)storage;
  BccooProduct        product = {.s = s, .x = x, .y = y, .o.beta = beta, .work = work};

  product.part = BccooPartOf(&s->b, BccooTransposeChunksTable, BccooTransposeLanesTable);
  SpmvRun(s->nparts, BccooTransposePart, &product);
  SpmvAddVectors(s->nparts, (size_t)s->b.n, s->span, work, y);
}

const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {
  .apply = BccooMult, .apply_transpose = BccooMultTranspose, .transpose_work = BccooTransposeWork};
#endif
