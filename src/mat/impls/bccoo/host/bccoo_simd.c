/*
  bccoo_simd.c - the products of BCCOO, compiled once for each instruction set of isas.h

  Two ways through a storage: block after block (bccoo_chunks.h), or, with a bunch, eight tiles at once (bccoo_lanes.h).
  1x1 blocks multiply and add with two roundings and in AIJ's order, so that a row inside one tile has AIJ's bits.

  Source: as bccoo.c; section 3.2.2, strategy 3.
*/
#include "bccoo_chunks.h"
#include "bccoo_lanes.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {.apply = NULL};
#else

typedef void BccooPartFn(const BccooBlocks *b, const BccooPart *part, const BccooInput *in, BccooOutput *o);

  /* BccooApplyChunks_3x2() and so on, and BccooApplyChunksTable[] of all 64 shapes, row by row */
  #define NAME(F, H, W) F##_##H##x##W,
  #define SHAPE(F, H, W) \
    static void F##_##H##x##W(const BccooBlocks *b, const BccooPart *part, const BccooInput *in, BccooOutput *o) \
    { \
      F(b, part, in, o, H, W); \
    }
  #define WIDTHS(M, F, H) M(F, H, 1) M(F, H, 2) M(F, H, 3) M(F, H, 4) M(F, H, 5) M(F, H, 6) M(F, H, 7) M(F, H, 8)
  #define SHAPES(M, F) \
    WIDTHS(M, F, 1) \
    WIDTHS(M, F, 2) \
    WIDTHS(M, F, 3) WIDTHS(M, F, 4) WIDTHS(M, F, 5) WIDTHS(M, F, 6) WIDTHS(M, F, 7) WIDTHS(M, F, 8)
  #define TABLE(F) \
    SHAPES(SHAPE, F) \
    static BccooPartFn *const F##Table[BCCOO_BLOCK_MAX * BCCOO_BLOCK_MAX] = {SHAPES(NAME, F)};

TABLE(BccooApplyChunks)
TABLE(BccooApplyLanes)
TABLE(BccooTransposeChunks)
TABLE(BccooTransposeLanes)

/* What the tasks of a product share */
typedef struct {
  const BccooStorage *s;
  BccooPartFn        *part;
  BccooInput          in;
  BccooOutput         o;                 /* what the parts write */
  PetscScalar        *y;                 /* the result; o.y, or what slices are added to */
  PetscScalar (*carry)[BCCOO_BLOCK_MAX]; /* [nparts] */
  PetscScalar *work;                     /* of a transposed product: vectors of the parts */
} BccooProduct;

/* That of these for a storage's shape, by chunks or by lanes */
static BccooPartFn *BccooPartOf(const BccooBlocks *b, BccooPartFn *const chunks[], BccooPartFn *const lanes[])
{
  return (b->bunch > 1 ? lanes : chunks)[(b->h - 1) * BCCOO_BLOCK_MAX + b->w - 1];
}

/* The first row of part p: its own rows are those that end in it, and the empty ones before each */
static size_t BccooPartRow(const BccooStorage *s, PetscInt p)
{
  const BccooBlocks *b     = &s->b;
  const size_t       ended = p < s->nparts ? (size_t)b->entry[s->part[p].first] : (size_t)b->nrows;

  if (p == 0) return 0;
  if (p == s->nparts) return (size_t)b->m;
  return ended ? PetscMin((BccooRow(b, ended - 1) + 1) * (size_t)b->h, (size_t)b->m) : 0;
}

static void BccooMultPart(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooStorage *s       = product->s;
  BccooOutput         o       = product->o;

  if (s->b.row && !s->partial && !o.beta) { /* the rows that are not listed */
    const size_t first = BccooPartRow(s, p), end = BccooPartRow(s, p + 1);

    memset(product->y + first, 0, sizeof(PetscScalar) * (end - first));
  }
  product->part(&s->b, &s->part[p], &product->in, &o);
  memcpy(product->carry[p], o.carry, sizeof(o.carry));
}

/* Adds what parts left to the rows that end in later ones, in the order of the parts; there is nothing before the first */
static void BccooCarryParts(const BccooProduct *product)
{
  const BccooStorage *s = product->s;
  BccooOutput         o = product->o;

  for (PetscInt p = 0; p < s->nparts; p++) {
    o.limit = p ? product->o.limit : 0;
    BccooCarry(&s->b, s->part[p].first, s->part[p].last, product->carry[p], 1, s->b.h, &o);
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
  const size_t        m = (size_t)b->m, n = (size_t)b->n, w = (size_t)b->w, rest = n % w;
  PetscScalar         carry[SPMV_THREADS_MAX][BCCOO_BLOCK_MAX];
  BccooProduct        product = {.s = s, .in = {.x = x, .limit = n, .last = -1}, .o = {.y = y, .beta = beta, .limit = m}, .y = y};

  product.carry = carry;
  product.part  = BccooPartOf(b, BccooApplyChunksTable, BccooApplyLanesTable);
  if (s->padded) {
    memcpy(s->padded, x, sizeof(PetscScalar) * n);
    product.in.x = s->padded;
  } else if (rest) {
    product.in.last = (int32_t)(n / w);
    memcpy(product.in.tail, x + n - rest, sizeof(PetscScalar) * rest);
  }
  if (s->partial) product.o = (BccooOutput){.y = s->partial, .limit = BccooStackRows(b)};
  SpmvRun(s->nparts, BccooMultPart, &product);
  BccooCarryParts(&product);
  product.o.beta = beta;
  if (s->partial) SpmvRun(s->nparts, BccooAddSlices, &product);
}

static void BccooTransposePart(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooBlocks  *b       = &product->s->b;
  const BccooPart    *part    = &product->s->part[p];
  const PetscInt      rest    = b->n % b->w;
  BccooOutput         o       = {.y = SpmvTaskVector(b->n, p, product->work, product->y)};

  o.last = rest ? (int32_t)(b->n / b->w) : -1;
  if (p) memset(o.y + part->low, 0, sizeof(PetscScalar) * (size_t)(part->high - part->low));
  else if (!product->o.beta) memset(o.y, 0, sizeof(PetscScalar) * (size_t)b->n);
  product->part(b, part, &product->in, &o);
  for (PetscInt j = 0; j < rest && part->high == b->n; j++) o.y[b->n - rest + j] += o.tail[j];
}

/* Adds up the parts' vectors: task p those columns that are its share */
static void BccooAddTransposed(void *context, PetscInt p)
{
  const BccooProduct *product = (const BccooProduct *)context;
  const BccooStorage *s       = product->s;
  const size_t        n       = (size_t)s->b.n;
  const PetscInt      first = (PetscInt)SpmvShare(n, p, s->nparts), end = (PetscInt)SpmvShare(n, p + 1, s->nparts);

  for (PetscInt q = 1; q < s->nparts; q++) {
    const PetscScalar *sum  = SpmvTaskVector(s->b.n, q, product->work, product->y);
    const PetscInt     stop = PetscMin(end, s->part[q].high);

    for (PetscInt c = PetscMax(first, s->part[q].low); c < stop; c++) product->y[c] += sum[c];
  }
}

static size_t BccooTransposeWork(const void *storage)
{
  const BccooStorage *s = (const BccooStorage *)storage;

  return SpmvTaskVectors(s->b.n, s->nparts);
}

static void BccooMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  const BccooStorage *s       = (const BccooStorage *)storage;
  BccooProduct        product = {.s = s, .in = {.x = x, .limit = (size_t)s->b.m, .last = -1}, .o.beta = beta, .y = y};

  product.work = work;
  product.part = BccooPartOf(&s->b, BccooTransposeChunksTable, BccooTransposeLanesTable);
  SpmvRun(s->nparts, BccooTransposePart, &product);
  if (s->nparts > 1) SpmvRun(s->nparts, BccooAddTransposed, &product);
}

const SpmvKernels SPMV_ISA_NAME(BccooKernels) = {
  .apply = BccooMult, .apply_transpose = BccooMultTranspose, .transpose_work = BccooTransposeWork};
#endif
