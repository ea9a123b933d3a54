/*
  order.c - rows and columns of a matrix in the order of a search of its graph, level by level
*/
#include "order.h"
#include "prefetch.h"
#include "shape.h"

#define ORDER_GROUP   8          /* rows that stay together, at most */
#define ORDER_LOOKS   256        /* places in which it is looked whether rows belong together */
#define ORDER_LONGEST UINT16_MAX /* entries of a row, at most */
#define ORDER_RANKED  48         /* entries of a row, at most, that are sorted by comparing each with all others */
#define ORDER_DIGIT   6          /* bits, where rows are longer */
#define ORDER_AHEAD   8          /* rows between the one at hand and the one that is prefetched */
#define ORDER_AT_ONCE 16         /* entries that are compared at once */

/* Rows that stay together, so that blocks stay blocks: the declared ones, else what some rows show */
PetscInt SpmvOrderGroup(const SpmvCSR *csr)
{
  if (csr->rbs > 1 && csr->rbs == csr->cbs && csr->rbs <= ORDER_GROUP && csr->m % csr->rbs == 0) return csr->rbs;
  for (PetscInt g = ORDER_GROUP; g > 1; g--) {
    const PetscInt groups = csr->m / g, looks = PetscMin(ORDER_LOOKS, groups);
    PetscInt       are = 0;

    if (csr->m % g) continue;
    for (PetscInt k = 0; k < looks; k++) are += SpmvShapeIsWhole(csr, (PetscInt)((PetscInt64)groups * k / looks) * g, g);
    if (looks && 10 * are >= 9 * looks) return g; /* boundary conditions may have cut some */
  }
  return 1;
}

/*
  Levels of groups, from the first one that has no level yet: each takes its neighbours that are new, in ascending order. Entries
  count from rows to columns only, so that a pattern that is not symmetric does well enough
*/
static PetscErrorCode OrderLevels(const SpmvCSR *csr, PetscInt g, PetscInt row[])
{
  const PetscInt           groups = csr->m / g;
  PetscInt                 end    = 0;
  SPMV_TEMPORARY uint64_t *seen   = NULL; /* a bit for each group: they stay in cache */

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(groups / 64 + 1, &seen));
  for (PetscInt start = 0, at = 0; start < groups; start++) {
    if (seen[start / 64] >> (start % 64) & 1) continue;
    seen[start / 64] |= (uint64_t)1 << (start % 64);
    row[g * end++] = g * start;
    for (; at < end; at++) {
      const PetscInt r = row[g * at];

      SpmvPrefetchRow(csr, row[g * PetscMin(at + ORDER_AHEAD, end - 1)], PETSC_FALSE);
      for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
        const PetscInt next = g > 1 ? csr->j[k] / g : csr->j[k];

        if (seen[next / 64] >> (next % 64) & 1) continue;
        seen[next / 64] |= (uint64_t)1 << (next % 64);
        row[g * end++] = g * next;
      }
    }
  }
  for (PetscInt k = 0; k < groups; k++) {
    for (PetscInt l = 1; l < g; l++) row[g * k + l] = row[g * k] + l;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of the longest row */
static PetscInt OrderLongest(const SpmvCSR *csr)
{
  PetscInt longest = 0;

  for (PetscInt r = 0; r < csr->m; r++) longest = PetscMax(longest, csr->i[r + 1] - csr->i[r]);
  return longest;
}

/* True for square matrices without very long rows, which are all that can have an order */
PetscBool SpmvOrderAllows(const SpmvCSR *csr)
{
  const PetscInt longest = csr->m == csr->n && csr->m <= INT32_MAX ? OrderLongest(csr) : 0;

  return (PetscBool)(longest > 0 && longest <= ORDER_LONGEST);
}

/* An order for a matrix that is allowed to have one; it knows no entries yet */
PetscErrorCode SpmvOrderCreate(const SpmvCSR *csr, PetscInt threads, SpmvOrder **order)
{
  SpmvOrder *o;

  PetscFunctionBegin;
  PetscCall(PetscNew(order));
  o          = *order;
  o->n       = csr->m;
  o->threads = threads;
  o->group   = SpmvOrderGroup(csr);
  PetscCall(SpmvAlloc(sizeof(*o->row) * (size_t)o->n, &o->row));
  PetscCall(SpmvAlloc(sizeof(*o->x) * (size_t)o->n, &o->x));
  PetscCall(SpmvAlloc(sizeof(*o->y) * (size_t)o->n, &o->y));
  PetscCall(SpmvAlloc(sizeof(*o->place) * (size_t)o->n, &o->place));
  PetscCall(OrderLevels(csr, o->group, o->row));
  for (PetscInt k = 0; k < o->n; k++) o->place[o->row[k]] = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Which entry of its row each entry in the new order is, by its column there: of a long row, digit by digit. sorted: room for 2 n
*/
static void OrderSort(PetscInt n, const int32_t column[], uint64_t sorted[], uint16_t from[])
{
  uint64_t *now = sorted, *then = sorted + n;
  int32_t   low = column[0], high = column[0];

  for (PetscInt k = 0; k < n; k++) {
    low  = PetscMin(low, column[k]);
    high = PetscMax(high, column[k]);
  }
  for (PetscInt k = 0; k < n; k++) now[k] = (uint64_t)(column[k] - low) << 16 | (uint64_t)k;
  for (int bit = 0; bit < 31 && (high - low) >> bit; bit += ORDER_DIGIT) {
    PetscInt  next[(1 << ORDER_DIGIT) + 1] = {0};
    uint64_t *swap                         = then;

    for (PetscInt k = 0; k < n; k++) next[1 + (now[k] >> (16 + bit) & ((1 << ORDER_DIGIT) - 1))]++;
    for (int d = 1; d < 1 << ORDER_DIGIT; d++) next[d] += next[d - 1];
    for (PetscInt k = 0; k < n; k++) then[next[now[k] >> (16 + bit) & ((1 << ORDER_DIGIT) - 1)]++] = now[k];
    then = now;
    now  = swap;
  }
  for (PetscInt k = 0; k < n; k++) from[k] = (uint16_t)(now[k] & UINT16_MAX);
}

/*
  The same of a short row: the place of an entry is how many have a lesser column, which takes no branches on what nothing
  foresees. Vectors are those of any machine: of longer ones, the compiler makes numbers one by one. column[] has room for a
  multiple of ORDER_AT_ONCE
*/
static void OrderRank(PetscInt n, const int32_t column[], uint16_t from[])
{
  typedef int32_t Four __attribute__((vector_size(4 * sizeof(int32_t))));

  for (PetscInt first = 0; first < n; first += ORDER_AT_ONCE) {
    Four own[ORDER_AT_ONCE / 4], less[ORDER_AT_ONCE / 4] = {{0}};

    memcpy(own, column + first, sizeof(own));
    for (PetscInt k = 0; k < n; k++) {
#pragma GCC unroll 4
      for (int v = 0; v < ORDER_AT_ONCE / 4; v++) less[v] += own[v] > column[k]; /* -1 where it is */
    }
    for (PetscInt l = 0; l < PetscMin(ORDER_AT_ONCE, n - first); l++) from[-less[l / 4][l % 4]] = (uint16_t)(first + l);
  }
}

/* What is needed while entries are sorted; longest: of a row */
typedef struct {
  int32_t  *column; /* [longest + ORDER_AT_ONCE] */
  uint64_t *sorted; /* [2 longest] */
  uint16_t *from;   /* [longest] */
} OrderRoom;

/* The entries of a row of the order, by every g-th of them, as those between stay with it */
static void OrderRow(const SpmvOrder *o, const PetscInt j[], PetscInt n, PetscInt g, const OrderRoom *room, uint16_t from[])
{
  uint16_t *first = g > 1 ? room->from : from;

  for (PetscInt l = 0; l < n / g; l++) room->column[l] = (int32_t)o->place[j[g * l]];
  if (n / g <= ORDER_RANKED) OrderRank(n / g, room->column, first);
  else OrderSort(n / g, room->column, room->sorted, first);
  for (PetscInt k = 0; k < n / g && g > 1; k++) {
    for (PetscInt l = 0; l < g; l++) from[g * k + l] = (uint16_t)(g * first[k] + l);
  }
}

static PetscErrorCode OrderEntries(SpmvOrder *o, const SpmvCSR *csr)
{
  const PetscInt           longest = OrderLongest(csr);
  SPMV_TEMPORARY int32_t  *column  = NULL;
  SPMV_TEMPORARY uint64_t *sorted  = NULL;
  SPMV_TEMPORARY uint16_t *leading = NULL;
  OrderRoom                room;
  uint16_t                *from;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(longest + ORDER_AT_ONCE, &column));
  PetscCall(PetscMalloc1(2 * longest, &sorted));
  PetscCall(PetscMalloc1(longest, &leading));
  room     = (OrderRoom){column, sorted, leading};
  o->nfrom = (size_t)csr->i[csr->m];
  PetscCall(SpmvAlloc(sizeof(*o->from) * o->nfrom, &o->from));
  from = o->from;
  for (PetscInt k = 0, rows; k < o->n; k += rows) {
    const PetscInt row = o->row[k], first = csr->i[row], n = csr->i[row + 1] - first;

    SpmvPrefetchRow(csr, o->row[PetscMin(k + ORDER_AHEAD, o->n - 1)], PETSC_FALSE);
    rows = o->group > 1 && k % o->group == 0 && SpmvShapeIsWhole(csr, row, o->group) ? o->group : 1;
    OrderRow(o, csr->j + first, n, rows, &room, from);
    for (PetscInt r = 1; r < rows; r++) memcpy(from + r * n, from, (size_t)n * sizeof(*from));
    from += rows * n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix in its order, with its present values; to be freed by SpmvOrderRowsDestroy(). The pattern must stay the same */
PetscErrorCode SpmvOrderRows(SpmvOrder *o, const SpmvCSR *csr, SpmvCSR *ordered)
{
  PetscInt    *i, *j, nz = 0;
  PetscScalar *a;

  PetscFunctionBegin;
  if (!o->from) PetscCall(OrderEntries(o, csr));
  *ordered   = *csr;
  ordered->i = ordered->j = NULL;
  ordered->a              = NULL;
  ordered->numbers        = o->row;
  PetscCall(PetscMalloc1(o->n + 1, &i));
  ordered->i = i;
  PetscCall(SpmvAlloc(sizeof(*j) * o->nfrom, &ordered->j));
  PetscCall(SpmvAlloc(sizeof(*a) * o->nfrom, &ordered->a));
  j    = (PetscInt *)ordered->j;
  a    = (PetscScalar *)ordered->a;
  i[0] = 0;
  for (PetscInt k = 0; k < o->n; k++) {
    const PetscInt first = csr->i[o->row[k]], n = csr->i[o->row[k] + 1] - first;

    SpmvPrefetchRow(csr, o->row[PetscMin(k + ORDER_AHEAD, o->n - 1)], PETSC_TRUE);
    for (PetscInt l = 0; l < n; l++, nz++) {
      const PetscInt at = first + o->from[nz];

      j[nz] = o->place[csr->j[at]];
      a[nz] = csr->a[at];
    }
    i[k + 1] = nz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvOrderRowsDestroy(SpmvCSR *ordered)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(ordered->i));
  PetscCall(SpmvFree(&ordered->j));
  PetscCall(SpmvFree(&ordered->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the tasks that bring vectors into an order, and back, share */
typedef struct {
  const SpmvOrder   *order;
  const PetscScalar *x;
  PetscScalar       *y;
  PetscBool          beta;
} OrderShared;

static void OrderBring(void *context, PetscInt task)
{
  const OrderShared *s   = (const OrderShared *)context;
  const SpmvOrder   *o   = s->order;
  const size_t       end = SpmvShare((size_t)o->n, task + 1, o->threads);

  for (size_t k = SpmvShare((size_t)o->n, task, o->threads); k < end; k++) o->x[k] = s->x[o->row[k]];
}

/* Each task writes rows of y that follow each other: lines that several wrote would go to and fro between processors */
static void OrderReturn(void *context, PetscInt task)
{
  const OrderShared *s   = (const OrderShared *)context;
  const SpmvOrder   *o   = s->order;
  const size_t       end = SpmvShare((size_t)o->n, task + 1, o->threads);

  if (s->beta) {
    for (size_t k = SpmvShare((size_t)o->n, task, o->threads); k < end; k++) s->y[k] += o->y[o->place[k]];
  } else {
    for (size_t k = SpmvShare((size_t)o->n, task, o->threads); k < end; k++) s->y[k] = o->y[o->place[k]];
  }
}

/* Brings or returns a vector, by as many threads as the product of nz entries */
static void OrderRun(const OrderShared *shared, SpmvTask *task, PetscInt nz)
{
  SpmvRunBegin(nz);
  SpmvRun(shared->order->threads, task, (void *)shared);
  SpmvRunEnd();
}

/* y <- beta y + A x by a storage of the matrix in its order */
void SpmvOrderApply(const SpmvOrder *order, SpmvApplyFn *apply, const void *storage, PetscInt nz, const PetscScalar x[],
                    PetscScalar y[], PetscBool beta)
{
  OrderShared shared = {order, x, y, beta};

  OrderRun(&shared, OrderBring, nz);
  SpmvApply(apply, storage, nz, order->x, order->y, PETSC_FALSE);
  OrderRun(&shared, OrderReturn, nz);
}

/* y <- beta y + A^T x */
void SpmvOrderApplyTranspose(const SpmvOrder *order, SpmvTransposeFn *apply, const void *storage, PetscInt nz,
                             const PetscScalar x[], PetscScalar y[], PetscBool beta, PetscScalar work[])
{
  OrderShared shared = {order, x, y, beta};

  OrderRun(&shared, OrderBring, nz);
  SpmvApplyTranspose(apply, storage, nz, order->x, order->y, PETSC_FALSE, work);
  OrderRun(&shared, OrderReturn, nz);
}

/* What it keeps, as a side's arrays() */
PetscErrorCode SpmvOrderArrays(const SpmvOrder *o, PetscInt *n, SpmvArray arrays[])
{
  PetscFunctionBegin;
  arrays[(*n)++] = SPMV_ARRAY("order", o->row, (size_t)o->n, sizeof(*o->row));
  arrays[(*n)++] = SPMV_ARRAY("places", o->place, (size_t)o->n, sizeof(*o->place));
  arrays[(*n)++] = SPMV_ARRAY("ordered x", o->x, (size_t)o->n, sizeof(*o->x));
  arrays[(*n)++] = SPMV_ARRAY("ordered y", o->y, (size_t)o->n, sizeof(*o->y));
  arrays[(*n)++] = SPMV_ARRAY("entries", o->from, o->nfrom, sizeof(*o->from), .aside = PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does nothing if there is none */
PetscErrorCode SpmvOrderDestroy(SpmvOrder **order)
{
  SpmvOrder *o = *order;

  PetscFunctionBegin;
  if (!o) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvFree(&o->row));
  PetscCall(SpmvFree(&o->place));
  PetscCall(SpmvFree(&o->from));
  PetscCall(SpmvFree(&o->x));
  PetscCall(SpmvFree(&o->y));
  PetscCall(PetscFree(*order));
  PetscFunctionReturn(PETSC_SUCCESS);
}
