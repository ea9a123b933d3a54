/*
  csradaptive_rows.h - the kernels of CSR-Adaptive: y <- beta y + A x for the rows of a row block

  CSR-Stream multiplies a part of a row block without regard to rows, into a buffer that stays in the first cache, then
  adds up eight rows at a time across lanes. No branch depends on a row's length: how many entries of each row are added
  so is one number for a row block, and rows that are longer are put on a list, for what is left of them.
  CSR-Vector keeps eight running sums of a row, which go through one tree for eight rows. Rows of a node share the loads
  of x. CSR-VectorL is its loop over a part of a row.

  Source: as csradaptive.c; figures 2, 3 and 9. Figure 3's reduction by several threads a row is the tree.
*/
#pragma once
#include "csradaptive_host.h"
#include "../../../../host/simd/simd.h"

#define LANES                   8
#define CSRADAPTIVE_PART        384 /* entries, about, whose products wait to be added up: of more, memory waits for additions */
#define CSRADAPTIVE_PREFETCH    512 /* entries between a product and what is prefetched */
#define CSRADAPTIVE_PREFETCH_IF 32  /* entries of a row of a node, at least, for that to pay */
#define CSRADAPTIVE_ROUND       24  /* rows whose sums wait for the tree: a multiple of LANES */

/* CsradaptiveProduct: what a product is given */
typedef struct {
  const CsradaptiveStorage *s;
  const PetscScalar        *x;
  PetscScalar              *y;
  PetscBool                 beta;
  PetscScalar              *work; /* of a transposed product: vectors of the tasks */
  PetscScalar              *head; /* [threads] each task's part of the row that an earlier task began */
  PetscInt                 *row;  /* [threads] that row, -1 if there is none */
} CsradaptiveProduct;

/*
  Prefetches h rows of n entries each with the same columns, while those from entry k on are multiplied. Rows that are read
  side by side are many short streams, which the processor does not prefetch by itself; it does so for one
*/
SPMV_INLINE void CsradaptivePrefetch(const CsradaptiveBlocks *b, PetscInt k, PetscInt n, int h)
{
  size_t at;

  if (h == 1 || n < CSRADAPTIVE_PREFETCH_IF) return;
  at = (size_t)k + (size_t)(n * h * (CSRADAPTIVE_PREFETCH / (n * h) + 1));
  SpmvPrefetch(b->a + at, sizeof(PetscScalar) * (size_t)(n * h));
  SpmvPrefetch(b->j + at, sizeof(PetscInt) * (size_t)n);
}

/* The products of entries first to end - 1, to product[0], product[1], ...; up to LANES before product[0] are overwritten */
SPMV_INLINE void CsradaptiveProducts(const CsradaptiveBlocks *b, const PetscScalar *x, PetscInt first, PetscInt end,
                                     PetscScalar *product, PetscBool prefetch)
{
  PetscInt k = first;

  for (; end - k >= LANES; k += LANES) {
    if (prefetch) {
      SpmvPrefetch(b->a + k + CSRADAPTIVE_PREFETCH, 1);
      SpmvPrefetch(b->j + k + CSRADAPTIVE_PREFETCH, 1);
    }
    Spmv8Store(product + (k - first), Spmv8Mul(Spmv8Load(b->a + k), Spmv8Gather(x, b->j + k)));
  }
  if (k == end) return;
  if (end >= LANES) { /* the last vector begins before: some products are made twice, or are those of entries before the first */
    k = end - LANES;
    Spmv8Store(product + (k - first), Spmv8Mul(Spmv8Load(b->a + k), Spmv8Gather(x, b->j + k)));
  } else
    for (; k < end; k++) product[k - first] = b->a[k] * x[b->j[k]];
}

/* The lengths of eight rows */
SPMV_INLINE SpmvIndex CsradaptiveLengths(const PetscInt i[])
{
#if defined(PETSC_USE_64BIT_INDICES)
  int32_t n[LANES];

  for (int l = 0; l < LANES; l++) n[l] = (int32_t)(i[l + 1] - i[l]);
  return SpmvIndexLoad32(n);
#else
  return SpmvIndexSub(SpmvIndexLoad32(i + 1), SpmvIndexLoad32(i));
#endif
}

/* How many entries of each row are added up across lanes: about the mean of the rows' lengths, rounded up */
SPMV_INLINE int32_t CsradaptiveDepth(const PetscInt i[], PetscInt rows)
{
  const PetscInt entries = i[rows] - i[0];
  PetscInt       longer  = 0;

  if (entries > 4 * rows) return (int32_t)((entries - 1) / (LANES * rows) + 1) * LANES;
  for (PetscInt r = 0; r < rows; r++) longer += i[r + 1] - i[r] > 4;
  return 10 * longer > rows ? LANES : 4;
}

/*
  Rows r to end - 1 of a row block whose products are there: eight rows at a time, the first `depth` products of each
  across lanes, no branch for a row; then what is left of longer rows, one after the other
*/
SPMV_INLINE void CsradaptiveSumRows(const PetscInt i[], const PetscScalar *product, PetscScalar *y, PetscBool beta, PetscInt rows,
                                    int32_t depth)
{
  const SpmvIndex lane = SpmvIndexScan(SpmvIndexSplat(1));
  int32_t         longer[CSRADAPTIVE_NNZ_MAX / 4 + LANES], nlonger = 0;

  for (PetscInt r = 0; r < rows; r += LANES) {
    const PetscInt *at = i + r;
    PetscInt        last[LANES + 1];
    SpmvIndex       n;
    unsigned        more;

    if (rows - r < LANES) { /* lanes past the last row have no entries */
      for (int l = 0; l <= LANES; l++) last[l] = at[PetscMin(l, rows - r)];
      at = last;
    }
    n    = CsradaptiveLengths(at);
    more = SpmvIndexGreater(n, depth);
    Spmv8Put(y + r, Spmv8SumRuns(product, at, n, depth), rows - r, beta);
    SpmvIndexPack(longer + nlonger, SpmvIndexAdd(lane, SpmvIndexSplat((int32_t)r)), more);
    nlonger += __builtin_popcount(more);
  }
  for (int32_t q = 0; q < nlonger; q++) {
    const PetscInt r = longer[q] - 1, end = i[r + 1];
    PetscInt       k = i[r] + depth;
    Spmv8          s = Spmv8Zero();

    for (; end - k >= LANES; k += LANES) s = Spmv8Add(s, Spmv8Load(product + k));
    y[r] += Spmv8Sum(Spmv8AddWhere(Spmv8Load(product + k), (1u << (end - k)) - 1, s));
  }
}

/* Rows that have about CSRADAPTIVE_PART entries, a multiple of LANES */
SPMV_INLINE PetscInt CsradaptivePart(const PetscInt i[], PetscInt rows)
{
  return (PetscInt)((PetscInt64)CSRADAPTIVE_PART * rows / (i[rows] - i[0] + 1) / LANES + 1) * LANES;
}

/* CSR-Stream: rows r to end - 1, about CSRADAPTIVE_PART entries at a time */
static void CsradaptiveStream(const CsradaptiveProduct *p, PetscInt r, PetscInt end)
{
  const CsradaptiveBlocks *b     = &p->s->rows;
  const PetscInt           part  = CsradaptivePart(b->i + r, end - r);
  const int32_t            depth = CsradaptiveDepth(b->i + r, end - r);
  /* Lanes past the last row read, and leave out, as many products as one of the mean length: of one row all once more */
  PetscScalar buffer[LANES + 2 * CSRADAPTIVE_STREAM_MAX + LANES] __attribute__((aligned(64)));

  for (PetscInt rows; r < end; r += rows) {
    const PetscInt *i       = b->i + r;
    PetscScalar    *product = buffer + LANES - i[0]; /* of entry k at product[k] */

    rows = PetscMin(part, end - r);
    if (p->s->large) CsradaptiveProducts(b, p->x, i[0], i[rows], buffer + LANES, PETSC_TRUE);
    else CsradaptiveProducts(b, p->x, i[0], i[rows], buffer + LANES, PETSC_FALSE);
    if (depth == 4) CsradaptiveSumRows(i, product, p->y + r, p->beta, rows, 4);
    else if (depth == 8) CsradaptiveSumRows(i, product, p->y + r, p->beta, rows, 8);
    else if (depth == 16) CsradaptiveSumRows(i, product, p->y + r, p->beta, rows, 16);
    else CsradaptiveSumRows(i, product, p->y + r, p->beta, rows, depth);
  }
}

/* n products, fewer than LANES, then zeros: where the matrix ends, and no vector may be read */
SPMV_INLINE Spmv8 CsradaptiveLast(const PetscScalar a[], const PetscInt j[], const PetscScalar *x, PetscInt n)
{
  PetscScalar product[LANES] = {0};

  for (PetscInt l = 0; l < n; l++) product[l] = a[l] * x[j[l]];
  return Spmv8Load(product);
}

/* The products of entries k to end - 1, added up in eight sums. The last vector may be of other rows' entries, too */
SPMV_INLINE Spmv8 CsradaptiveSum(const CsradaptiveBlocks *b, const PetscScalar *x, PetscInt k, PetscInt end, PetscInt nz)
{
  Spmv8 s = Spmv8Zero(), t = Spmv8Zero();

  for (; end - k >= 2 * LANES; k += 2 * LANES) {
    s = Spmv8Fma(Spmv8Load(b->a + k), Spmv8Gather(x, b->j + k), s);
    t = Spmv8Fma(Spmv8Load(b->a + k + LANES), Spmv8Gather(x, b->j + k + LANES), t);
  }
  if (end - k >= LANES) {
    s = Spmv8Fma(Spmv8Load(b->a + k), Spmv8Gather(x, b->j + k), s);
    k += LANES;
  }
  if (k < end && nz - k < LANES) t = Spmv8Add(t, CsradaptiveLast(b->a + k, b->j + k, x, end - k));
  else if (k < end) t = Spmv8AddWhere(Spmv8Mul(Spmv8Load(b->a + k), Spmv8Gather(x, b->j + k)), (1u << (end - k)) - 1, t);
  return Spmv8Add(s, t);
}

/* The products of h rows of n entries each, entries k on, that have the same columns: eight sums of each */
SPMV_INLINE void CsradaptiveNode(const CsradaptiveBlocks *b, const PetscScalar *x, PetscInt k, PetscInt n, int h, PetscInt nz,
                                 PetscScalar sum[])
{
  const PetscInt    *j = b->j + k;
  const PetscScalar *a = b->a + k;
  Spmv8              s[CSRADAPTIVE_NODE];
  PetscInt           q = 0;

  SPMV_UNROLL
  for (int l = 0; l < h; l++) s[l] = Spmv8Zero();
  for (; q + LANES <= n; q += LANES) {
    const Spmv8 xq = Spmv8Gather(x, j + q);

    SPMV_UNROLL
    for (int l = 0; l < h; l++) s[l] = Spmv8Fma(Spmv8Load(a + l * n + q), xq, s[l]);
  }
  if (q < n && nz - k - (h - 1) * n - q >= LANES) {
    const Spmv8 xq = Spmv8Gather(x, j + q);

    SPMV_UNROLL
    for (int l = 0; l < h; l++) s[l] = Spmv8AddWhere(Spmv8Mul(Spmv8Load(a + l * n + q), xq), (1u << (n - q)) - 1, s[l]);
  } else if (q < n) {
    SPMV_UNROLL
    for (int l = 0; l < h; l++) s[l] = Spmv8Add(s[l], CsradaptiveLast(a + l * n + q, j + q, x, n - q));
  }
  SPMV_UNROLL
  for (int l = 0; l < h; l++) Spmv8Store(sum + l * LANES, s[l]);
}

/* CSR-Vector: rows r to end - 1, h at a time, which have the same columns if h > 1 */
SPMV_INLINE void CsradaptiveVector(const CsradaptiveProduct *p, PetscInt r, PetscInt end, int h)
{
  const CsradaptiveBlocks *b  = &p->s->rows;
  const PetscInt           nz = b->i[b->m], round = CSRADAPTIVE_ROUND / h * h;

  for (PetscInt rows; r < end; r += rows) {
    PetscScalar sum[CSRADAPTIVE_ROUND * LANES] __attribute__((aligned(64)));

    rows = PetscMin(round, end - r);
    for (PetscInt q = 0; q < rows; q += h) {
      const PetscInt k = b->i[r + q], n = b->i[r + q + 1] - k;

      if (p->s->large) CsradaptivePrefetch(b, k, n, h);
      if (h == 1) Spmv8Store(sum + q * LANES, CsradaptiveSum(b, p->x, k, k + n, nz));
      else CsradaptiveNode(b, p->x, k, n, h, nz, sum + q * LANES);
    }
    for (PetscInt q = 0; q < rows; q += LANES) {
      Spmv8 v[LANES];

      SPMV_UNROLL
      for (int l = 0; l < LANES; l++) v[l] = Spmv8Load(sum + (q + l) * LANES);
      Spmv8Put(p->y + r + q, Spmv8Sums(v), rows - q, p->beta);
    }
  }
}

/* Rows r to end - 1 where vectors are arrays: no products in memory, no vectors */
static void CsradaptivePlain(const CsradaptiveProduct *p, PetscInt r, PetscInt end)
{
  const PetscInt    *j = p->s->rows.j;
  const PetscScalar *a = p->s->rows.a, *x = p->x;

  for (; r < end; r++) {
    const PetscInt stop = p->s->rows.i[r + 1];
    PetscInt       k    = p->s->rows.i[r];
    PetscScalar    sum = p->beta ? p->y[r] : 0, odd = 0; /* two sums: an addition takes longer than what it waits for */

    for (; k + 1 < stop; k += 2) {
      sum += a[k] * x[j[k]];
      odd += a[k + 1] * x[j[k + 1]];
    }
    if (k < stop) sum += a[k] * x[j[k]];
    p->y[r] = sum + odd;
  }
}
