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

/* Entries and rows before row block k: what tasks divide */
static PetscInt64 CsradaptiveBefore(const CsradaptiveBlocks *b, size_t k)
{
  return (PetscInt64)CsradaptiveFirst(b, k) + CsradaptiveRow(b->block[k]);
}

/* The first row block of a task */
static size_t CsradaptiveTaskBegin(const CsradaptiveStorage *s, PetscInt task)
{
  const PetscInt64 wanted = CsradaptiveBefore(&s->rows, s->rows.nblocks) / s->threads * task;
  size_t           low = 0, high = s->rows.nblocks;

  if (task == s->threads) return high;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;

    if (CsradaptiveBefore(&s->rows, middle) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Where the entries of row block k end, which shares its row with others */
static PetscInt CsradaptivePartEnd(const CsradaptiveBlocks *b, size_t k)
{
  const PetscInt first = CsradaptiveFirst(b, k);

  return PetscMin(b->chunk, b->i[CsradaptiveRow(b->block[k]) + 1] - first) + first;
}

/* CSR-VectorL. The first part of a row stores; the others add, or leave their sum with the task if it did not begin the row */
static void CsradaptiveVectorL(const CsradaptiveProduct *p, PetscInt task, size_t k)
{
  const CsradaptiveBlocks *b   = &p->s->rows;
  const PetscInt           row = CsradaptiveRow(b->block[k]);
  const Spmv8              s   = CsradaptiveSum(b, p->x, CsradaptiveFirst(b, k), CsradaptivePartEnd(b, k), b->i[b->m]);

  if (p->row[task] == row) p->head[task] += Spmv8Sum(s);
  else if (CsradaptiveWorkgroup(b->block[k]) || p->beta) p->y[row] += Spmv8Sum(s);
  else p->y[row] = Spmv8Sum(s);
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

/*
  product[0], ..., product[n - 1]: h rows of n entries each, those from entry k on, times their h entries of x, added up. Up
  to LANES more are written
*/
SPMV_INLINE void CsradaptiveSpread(const CsradaptiveBlocks *b, const PetscScalar x[], PetscInt k, PetscInt n, int h, PetscInt nz,
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
  do { /* once for a row without entries, too */
    Spmv8 s = Spmv8Mul(Spmv8Load(a + q), Spmv8Splat(x[0]));

    SPMV_UNROLL
    for (int l = 1; l < h; l++) s = Spmv8Fma(Spmv8Load(a + l * n + q), Spmv8Splat(x[l]), s);
    Spmv8Store(product + q, s);
  } while ((q += LANES) < n);
}

/*
  The transposed rows r to end - 1, h at a time. Without nodes the products of several rows are made first, so that rows end
  without a branch when they are added to y
*/
SPMV_INLINE void CsradaptiveTranspose(const CsradaptiveBlocks *b, const PetscScalar *x, PetscScalar *y, PetscInt r, PetscInt end,
                                      int h)
{
  const PetscInt nz = b->i[b->m], part = h > 1 ? h : CsradaptivePart(b->i + r, end - r);
  PetscScalar    product[CSRADAPTIVE_NNZ_MAX + LANES] __attribute__((aligned(64)));

  for (PetscInt rows; r < end; r += rows) {
    const PetscInt *i = b->i + r;

    rows = PetscMin(part, end - r);
    for (PetscInt q = 0; q < rows; q += h) CsradaptiveSpread(b, x + r + q, i[q], i[q + 1] - i[q], h, nz, product + (i[q] - i[0]));
    CsradaptiveScatter(b->j + i[0], product, y, h > 1 ? i[1] - i[0] : i[rows] - i[0]);
  }
}

/* Rows r to end - 1 in nodes of h rows, which is a constant where this is inlined */
SPMV_INLINE void CsradaptiveOfNodes(const CsradaptiveProduct *p, PetscScalar *y, PetscInt r, PetscInt end, int h,
                                    PetscBool transpose)
{
  if (transpose) CsradaptiveTranspose(&p->s->rows, p->x, y, r, end, h);
  else CsradaptiveVector(p, r, end, h);
}

/* The same for any h; 0: no nodes */
SPMV_INLINE void CsradaptiveNodes(const CsradaptiveProduct *p, PetscScalar *y, PetscInt r, PetscInt end, int h,
                                  PetscBool transpose)
{
  switch (h) {
  case 2: CsradaptiveOfNodes(p, y, r, end, 2, transpose); break;
  case 3: CsradaptiveOfNodes(p, y, r, end, 3, transpose); break;
  case 4: CsradaptiveOfNodes(p, y, r, end, 4, transpose); break;
  case 5: CsradaptiveOfNodes(p, y, r, end, 5, transpose); break;
  case 6: CsradaptiveOfNodes(p, y, r, end, 6, transpose); break;
  default: CsradaptiveOfNodes(p, y, r, end, 1, transpose);
  }
}

static void CsradaptiveTask(void *context, PetscInt task)
{
  const CsradaptiveProduct *p   = (const CsradaptiveProduct *)context;
  const CsradaptiveBlocks  *b   = &p->s->rows;
  const size_t              end = CsradaptiveTaskBegin(p->s, task + 1);
  size_t                    k   = CsradaptiveTaskBegin(p->s, task);

  p->head[task] = 0;
  p->row[task]  = k < end && CsradaptiveWorkgroup(b->block[k]) ? CsradaptiveRow(b->block[k]) : -1;
  for (; k < end; k++) {
    const PetscInt          r = CsradaptiveRow(b->block[k]), stop = CsradaptiveRow(b->block[k + 1]);
    const CsradaptiveKernel kernel = CsradaptiveKernelAt(b, k);

    if (kernel == CSRADAPTIVE_VECTORL) CsradaptiveVectorL(p, task, k);
    else if (SPMV_SIMD_PLAIN && kernel != CSRADAPTIVE_NODES) CsradaptivePlain(p, r, stop);
    else if (kernel == CSRADAPTIVE_STREAM) CsradaptiveStream(p, r, stop);
    else CsradaptiveNodes(p, p->y, r, stop, CsradaptiveNodeRows(b->block[k]), PETSC_FALSE);
  }
}

static void CsradaptiveMult(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta)
{
  PetscScalar        head[SPMV_THREADS_MAX];
  PetscInt           row[SPMV_THREADS_MAX];
  CsradaptiveProduct p = {(const CsradaptiveStorage *)storage, x, y, beta, NULL, head, row};

  SpmvRun(p.s->threads, CsradaptiveTask, &p);
  for (PetscInt t = 1; t < p.s->threads; t++) /* in order: the same bits each time */
    if (row[t] >= 0) y[row[t]] += head[t];
}

/* Entries k to end - 1, of row r, transposed */
SPMV_INLINE void CsradaptiveTransposeRow(const CsradaptiveProduct *p, PetscScalar *y, PetscInt r, PetscInt k, PetscInt end)
{
  const PetscInt    *j  = p->s->rows.j;
  const PetscScalar *a  = p->s->rows.a;
  const PetscScalar  xr = p->x[r];

  for (; k < end; k++) y[j[k]] += a[k] * xr;
}

/* Of rows r to end - 1, how many are empty */
static PetscInt CsradaptiveEmpty(const PetscInt i[], PetscInt r, PetscInt end)
{
  PetscInt n = 0;

  for (; r < end; r++) n += i[r + 1] == i[r];
  return n;
}

  #define TRANSPOSE_LIST 512 /* rows that are looked at together for those with entries */

/* Rows r to end - 1, transposed. Branches would mispredict where many are empty: a loop without them leaves these out first */
static void CsradaptiveTransposeRows(const CsradaptiveProduct *p, PetscScalar *y, PetscInt r, PetscInt end, PetscBool empties)
{
  const PetscInt *i = p->s->rows.i;
  PetscInt        list[TRANSPOSE_LIST];

  for (; !empties && r < end; r++) CsradaptiveTransposeRow(p, y, r, i[r], i[r + 1]);
  for (PetscInt stop; r < end; r = stop) {
    PetscInt n = 0;

    stop = PetscMin(end, r + TRANSPOSE_LIST);
    for (PetscInt q = r; q < stop; q++) {
      list[n] = q;
      n += i[q + 1] != i[q];
    }
    for (PetscInt k = 0; k < n; k++) CsradaptiveTransposeRow(p, y, list[k], i[list[k]], i[list[k] + 1]);
  }
}

/* True if short rows vary in length, and are too many for the processor to learn where they end */
static int CsradaptiveVaries(const CsradaptiveStorage *s, PetscInt r, PetscInt end)
{
  const PetscInt *i       = s->rows.i;
  PetscInt        changes = 0;

  if (s->learnt || i[end] - i[r] > LANES * (end - r) || i[end] - i[r] < 3 * (end - r)) return 0;
  for (PetscInt q = r + 1; q < end; q++) changes += i[q + 1] - i[q] != i[q] - i[q - 1];
  return 4 * changes > end - r;
}

/* True if the transposed rows of a node are better taken together: not where memory sends them, row by row as one long stream */
static int CsradaptiveTogether(const CsradaptiveStorage *s, size_t k)
{
  const PetscInt *i = s->rows.i + CsradaptiveRow(s->rows.block[k]);

  return CsradaptiveNodeRows(s->rows.block[k]) && !(s->large && i[1] - i[0] >= CSRADAPTIVE_PREFETCH_IF);
}

static void CsradaptiveTransposeTask(void *context, PetscInt task)
{
  const CsradaptiveProduct *p   = (const CsradaptiveProduct *)context;
  const CsradaptiveBlocks  *b   = &p->s->rows;
  const size_t              end = CsradaptiveTaskBegin(p->s, task + 1);
  PetscScalar              *y   = SpmvTaskVector(b->n, task, p->work, p->y);

  if (task || !p->beta) memset(y, 0, sizeof(PetscScalar) * (size_t)b->n);
  for (size_t k = CsradaptiveTaskBegin(p->s, task); k < end; k++) {
    const PetscInt  r = CsradaptiveRow(b->block[k]), stop = CsradaptiveRow(b->block[k + 1]);
    const PetscBool empties = (PetscBool)(16 * CsradaptiveEmpty(b->i, r, stop) > stop - r);

    if (CsradaptiveFlag(b->block[k])) CsradaptiveTransposeRow(p, y, r, CsradaptiveFirst(b, k), CsradaptivePartEnd(b, k));
    else if (!empties && (CsradaptiveTogether(p->s, k) || CsradaptiveVaries(p->s, r, stop)))
      CsradaptiveNodes(p, y, r, stop, CsradaptiveNodeRows(b->block[k]), PETSC_TRUE);
    else CsradaptiveTransposeRows(p, y, r, stop, empties);
  }
}

static size_t CsradaptiveTransposeWork(const void *storage)
{
  const CsradaptiveStorage *s = (const CsradaptiveStorage *)storage;

  return SpmvTaskVectors(s->rows.n, s->threads);
}

static void CsradaptiveMultTranspose(const void *storage, const PetscScalar *x, PetscScalar *y, PetscBool beta, PetscScalar *work)
{
  CsradaptiveProduct p = {(const CsradaptiveStorage *)storage, x, y, beta, work, NULL, NULL};

  SpmvRun(p.s->threads, CsradaptiveTransposeTask, &p);
  SpmvAddVectors(p.s->threads, (size_t)p.s->rows.n, NULL, work, y);
}

const SpmvKernels SPMV_ISA_NAME(CsradaptiveKernels) = {
  .apply           = CsradaptiveMult,
  .apply_transpose = CsradaptiveMultTranspose,
  .transpose_work  = CsradaptiveTransposeWork,
};
#endif
