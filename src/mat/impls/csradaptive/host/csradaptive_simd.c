/*
  csradaptive_simd.c - the products of CSR-Adaptive, compiled once for each instruction set of isas.h

  Tasks have row blocks of about as many entries and rows, and give each to its kernel (csradaptive_rows.h). A transposed
  product adds the products of rows to y one after the other, for a column may come twice; those of a node first to each
  other.

  Source: as csradaptive.c
*/
#include "csradaptive_host.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvKernels SPMV_ISA_NAME(CsradaptiveKernels) = {.apply = NULL};
#else
  #include "csradaptive_rows.h" /* not above: some of its functions are not inline */

/* What the tasks of a product share */
typedef struct {
  const CsradaptiveStorage *b;
  const PetscScalar        *x;
  PetscScalar              *y;
  PetscBool                 beta;
  PetscScalar              *work;                   /* of a transposed product: vectors of the tasks */
  PetscScalar               head[SPMV_THREADS_MAX]; /* [threads] each task's part of the row that an earlier task began */
  PetscInt                  row[SPMV_THREADS_MAX];  /* [threads] that row, -1 if there is none */
} CsradaptiveProduct;

/* Entries and rows before row block k: what is shared out */
static PetscInt64 CsradaptiveBefore(const CsradaptiveStorage *b, size_t k)
{
  return (PetscInt64)CsradaptiveFirst(b, k) + CsradaptiveRow(b->block[k]);
}

/* The first row block of a task */
static size_t CsradaptiveTaskBegin(const CsradaptiveStorage *b, PetscInt task)
{
  const PetscInt64 wanted = CsradaptiveBefore(b, b->nblocks) / b->threads * task;
  size_t           low = 0, high = b->nblocks;

  if (task == b->threads) return high;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (CsradaptiveBefore(b, middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* CSR-VectorL: a part of a row. The row's first part stores; the others add, or leave their sum with the task if it did not begin the row */
static void CsradaptiveVectorL(CsradaptiveProduct *p, PetscInt task, size_t k)
{
  const CsradaptiveStorage *b   = p->b;
  const PetscInt            row = CsradaptiveRow(b->block[k]), first = CsradaptiveFirst(b, k);
  const PetscInt            end = PetscMin(b->chunk, b->i[row + 1] - first) + first;
  const PetscScalar         sum = Spmv8Sum(CsradaptiveSum(b, p->x, first, end, b->i[b->m]));

  if (p->row[task] == row) p->head[task] += sum;
  else if (CsradaptiveWorkgroup(b->block[k]) || p->beta) p->y[row] += sum;
  else p->y[row] = sum;
}

static void CsradaptiveTask(void *context, PetscInt task)
{
  CsradaptiveProduct       *p   = (CsradaptiveProduct *)context;
  const CsradaptiveStorage *b   = p->b;
  const size_t              end = CsradaptiveTaskBegin(b, task + 1);
  size_t                    k   = CsradaptiveTaskBegin(b, task);

  p->head[task] = 0;
  p->row[task]  = k < end && CsradaptiveWorkgroup(b->block[k]) ? CsradaptiveRow(b->block[k]) : -1;
  for (; k < end; k++) {
    const PetscInt r = CsradaptiveRow(b->block[k]), stop = CsradaptiveRow(b->block[k + 1]);
    const int      h = CsradaptiveNodeRows(b->block[k]);

    switch (CsradaptiveKernelAt(b, k)) {
    case CSRADAPTIVE_STREAM:
      if (SPMV_SIMD_PLAIN) CsradaptivePlain(b, p->x, p->y, p->beta, r, stop);
      else CsradaptiveStream(b, p->x, p->y, p->beta, r, stop);
      break;
    case CSRADAPTIVE_VECTOR:
      if (SPMV_SIMD_PLAIN && !h) CsradaptivePlain(b, p->x, p->y, p->beta, r, stop);
      else CsradaptiveVector(b, p->x, p->y, p->beta, r, stop, h);
      break;
    case CSRADAPTIVE_VECTORL: CsradaptiveVectorL(p, task, k); break;
    }
  }
}

static void CsradaptiveMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  CsradaptiveProduct p;

  p.b    = (const CsradaptiveStorage *)storage;
  p.x    = x;
  p.y    = y;
  p.beta = beta;
  SpmvRun(p.b->threads, CsradaptiveTask, &p);
  for (PetscInt t = 1; t < p.b->threads; t++) /* in order: the same bits each time */
    if (p.row[t] >= 0) y[p.row[t]] += p.head[t];
}

/* Adds product[0], ..., product[n - 1] to y where column j says; one after the other, for a column may come twice */
SPMV_INLINE void CsradaptiveScatter(const PetscInt j[], const PetscScalar product[], PetscScalar *y, PetscInt n)
{
  PetscInt k = 0;

  for (; k + LANES <= n; k += LANES) {
    SPMV_UNROLL
    for (int l = 0; l < LANES; l++) y[j[k + l]] += product[k + l];
  }
  for (; k < n; k++) y[j[k]] += product[k];
}

/* product[0], ..., product[n - 1]: h rows of n entries each, entries k on, times their h entries of x, added up; up to LANES more are written */
SPMV_INLINE void CsradaptiveSpread(const CsradaptiveStorage *b, const PetscScalar x[], PetscInt k, PetscInt n, int h, PetscInt nz,
                                   PetscScalar product[])
{
  const PetscScalar *a = b->a + k;
  PetscInt           q = 0;

  if (nz - k - h * n < LANES) {
    for (; q < n; q++) {
      product[q] = a[q] * x[0];
      for (int l = 1; l < h; l++) product[q] += a[l * n + q] * x[l];
    }
    return;
  }
  do { /* once for a row without entries too */
    Spmv8 s = Spmv8Mul(Spmv8Load(a + q), Spmv8Splat(x[0]));

    SPMV_UNROLL
    for (int l = 1; l < h; l++) s = Spmv8Fma(Spmv8Load(a + l * n + q), Spmv8Splat(x[l]), s);
    Spmv8Store(product + q, s);
  } while ((q += LANES) < n);
}

/* The transposed rows r to end - 1, h at a time; without nodes the products of a piece are made first, so that rows end without a branch when they are added to y */
SPMV_INLINE void CsradaptiveTransposeNodes(const CsradaptiveStorage *b, const PetscScalar *x, PetscScalar *y, PetscInt r,
                                           PetscInt end, int h)
{
  const PetscInt nz = b->i[b->m], piece = h > 1 ? h : CsradaptivePiece(b->i + r, end - r);
  PetscScalar    product[CSRADAPTIVE_NNZ_MAX + LANES] __attribute__((aligned(64)));

  for (PetscInt rows; r < end; r += rows) {
    const PetscInt *i = b->i + r;

    rows = PetscMin(piece, end - r);
    for (PetscInt q = 0; q < rows; q += h) CsradaptiveSpread(b, x + r + q, i[q], i[q + 1] - i[q], h, nz, product + (i[q] - i[0]));
    CsradaptiveScatter(b->j + i[0], product, y, h > 1 ? i[1] - i[0] : i[rows] - i[0]);
  }
}

static void CsradaptiveTranspose(const CsradaptiveStorage *b, const PetscScalar *x, PetscScalar *y, PetscInt r, PetscInt end,
                                 int h)
{
  #define NODES(H) \
  case H: \
    CsradaptiveTransposeNodes(b, x, y, r, end, H); \
    break

  switch (h) {
    NODES(2);
    NODES(3);
    NODES(4);
    NODES(5);
    NODES(6);
  default: CsradaptiveTransposeNodes(b, x, y, r, end, 1);
  }
  #undef NODES
}

/* Entries k to end - 1, of row r, transposed */
SPMV_INLINE void CsradaptiveTransposeRow(const CsradaptiveStorage *b, const PetscScalar *x, PetscScalar *y, PetscInt r,
                                         PetscInt k, PetscInt end)
{
  const PetscScalar xr = x[r];

  for (; k < end; k++) y[b->j[k]] += b->a[k] * xr;
}

/* Rows r to end - 1, transposed */
static void CsradaptiveTransposeRows(const CsradaptiveStorage *b, const PetscScalar *x, PetscScalar *y, PetscInt r, PetscInt end)
{
  for (; r < end; r++) CsradaptiveTransposeRow(b, x, y, r, b->i[r], b->i[r + 1]);
}

  #define TRANSPOSE_LIST 512 /* rows that are looked at together for those with entries */

/* The same where many are empty, which nobody foresees: a loop without branches sorts them out */
static void CsradaptiveTransposeSome(const CsradaptiveStorage *b, const PetscScalar *x, PetscScalar *y, PetscInt r, PetscInt end)
{
  const PetscInt *i = b->i;
  PetscInt        list[TRANSPOSE_LIST];

  for (PetscInt stop; r < end; r = stop) {
    PetscInt n = 0;

    stop = PetscMin(end, r + TRANSPOSE_LIST);
    for (PetscInt q = r; q < stop; q++) {
      list[n] = q;
      n += i[q + 1] != i[q];
    }
    for (PetscInt k = 0; k < n; k++) CsradaptiveTransposeRow(b, x, y, list[k], i[list[k]], i[list[k] + 1]);
  }
}

/* Of rows r to end - 1, how many are empty */
static PetscInt CsradaptiveEmpty(const CsradaptiveStorage *b, PetscInt r, PetscInt end)
{
  const PetscInt *i = b->i;
  PetscInt        n = 0;

  for (; r < end; r++) n += i[r + 1] == i[r];
  return n;
}

/* True if short rows vary in length, and are too many for the processor to know by heart where they end */
static int CsradaptiveVaries(const CsradaptiveStorage *b, PetscInt r, PetscInt end)
{
  const PetscInt *i       = b->i;
  PetscInt        changes = 0;

  if (b->learnt || i[end] - i[r] > LANES * (end - r) || i[end] - i[r] < 3 * (end - r)) return 0;
  for (PetscInt q = r + 1; q < end; q++) changes += i[q + 1] - i[q] != i[q] - i[q - 1];
  return 4 * changes > end - r;
}

/* True if the transposed rows of a node are better taken together: not where memory sends them, row by row as one long stream */
static int CsradaptiveTogether(const CsradaptiveStorage *b, size_t k)
{
  const PetscInt r = CsradaptiveRow(b->block[k]);

  return CsradaptiveNodeRows(b->block[k]) && !(b->large && b->i[r + 1] - b->i[r] >= CSRADAPTIVE_PREFETCH_LEAST);
}

static void CsradaptiveTransposeTask(void *context, PetscInt task)
{
  CsradaptiveProduct       *p   = (CsradaptiveProduct *)context;
  const CsradaptiveStorage *b   = p->b;
  const size_t              end = CsradaptiveTaskBegin(b, task + 1);
  PetscScalar              *y   = SpmvTaskVector(b->n, task, p->work, p->y);

  if (task || !p->beta) memset(y, 0, sizeof(PetscScalar) * (size_t)b->n);
  for (size_t k = CsradaptiveTaskBegin(b, task); k < end; k++) {
    const PetscInt r = CsradaptiveRow(b->block[k]), stop = CsradaptiveRow(b->block[k + 1]), first = CsradaptiveFirst(b, k);

    if (CsradaptiveFlag(b->block[k]))
      CsradaptiveTransposeRow(b, p->x, y, r, first, PetscMin(b->chunk, b->i[r + 1] - first) + first);
    else if (16 * CsradaptiveEmpty(b, r, stop) > stop - r) CsradaptiveTransposeSome(b, p->x, y, r, stop);
    else if (CsradaptiveTogether(b, k) || CsradaptiveVaries(b, r, stop))
      CsradaptiveTranspose(b, p->x, y, r, stop, CsradaptiveNodeRows(b->block[k]));
    else CsradaptiveTransposeRows(b, p->x, y, r, stop);
  }
}

static size_t CsradaptiveTransposeWork(const void *storage)
{
  const CsradaptiveStorage *b = (const CsradaptiveStorage *)storage;

  return SpmvTaskVectors(b->n, b->threads);
}

static void CsradaptiveMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  CsradaptiveProduct p;

  p.b    = (const CsradaptiveStorage *)storage;
  p.x    = x;
  p.y    = y;
  p.beta = beta;
  p.work = work;
  SpmvRun(p.b->threads, CsradaptiveTransposeTask, &p);
  SpmvAddVectors(p.b->threads, (size_t)p.b->n, work, y);
}

const SpmvKernels SPMV_ISA_NAME(CsradaptiveKernels) = {
  .apply = CsradaptiveMult, .apply_transpose = CsradaptiveMultTranspose, .transpose_work = CsradaptiveTransposeWork};
#endif
