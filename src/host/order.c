/*
  order.c - rows and columns of a matrix in the order of a search of its graph, level by level
*/
#include "order.h"
#include "shape.h"

#define ORDER_GROUP   8          /* rows that stay together, at most */
#define ORDER_LOOKS   256        /* places in which it is looked whether rows belong together */
#define ORDER_LONGEST UINT16_MAX /* entries of a row, at most */

/* True if the g rows from r on have the same columns, and these come in aligned groups of g */
static PetscBool OrderIsGroup(const SpmvCSR *csr, PetscInt r, PetscInt g)
{
  const PetscInt *j = csr->j + csr->i[r], n = csr->i[r + 1] - csr->i[r];

  if (n % g || SpmvSameRows(csr, r, g) < g) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; k++) {
    if (j[k] % g != k % g || (k % g && j[k] != j[k - 1] + 1)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Rows that stay together, so that blocks stay blocks: the declared ones, else what some rows show */
static PetscInt OrderGroup(const SpmvCSR *csr)
{
  if (csr->rbs > 1 && csr->rbs == csr->cbs && csr->rbs <= ORDER_GROUP && csr->m % csr->rbs == 0) return csr->rbs;
  for (PetscInt g = ORDER_GROUP; g > 1; g--) {
    const PetscInt groups = csr->m / g, looks = PetscMin(ORDER_LOOKS, groups);
    PetscInt       are = 0;

    if (csr->m % g) continue;
    for (PetscInt k = 0; k < looks; k++) are += OrderIsGroup(csr, (PetscInt)((PetscInt64)groups * k / looks) * g, g);
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

      for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
        const PetscInt next = csr->j[k] / g;

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

/* True for square matrices without very long rows, which are all that can have an order */
PetscBool SpmvOrderAllows(const SpmvCSR *csr)
{
  PetscInt longest = 0;

  if (csr->m != csr->n) return PETSC_FALSE;
  for (PetscInt r = 0; r < csr->m; r++) longest = PetscMax(longest, csr->i[r + 1] - csr->i[r]);
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
  o->group   = OrderGroup(csr);
  PetscCall(SpmvAlloc(sizeof(*o->row) * (size_t)o->n, &o->row));
  PetscCall(SpmvAlloc(sizeof(*o->x) * (size_t)o->n, &o->x));
  PetscCall(SpmvAlloc(sizeof(*o->y) * (size_t)o->n, &o->y));
  PetscCall(SpmvAlloc(sizeof(*o->place) * (size_t)o->n, &o->place));
  PetscCall(OrderLevels(csr, o->group, o->row));
  for (PetscInt k = 0; k < o->n; k++) o->place[o->row[k]] = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which entry of its row each entry of a row in the new order is: n columns are sorted, and each is told with its place */
static void OrderSort(PetscInt n, uint64_t columns[])
{
  for (PetscInt gap = n > 40 ? 13 : 1; gap; gap /= 3) { /* Shell's sort: rows are short, and mostly runs */
    for (PetscInt k = gap; k < n; k++) {
      const uint64_t c = columns[k];
      PetscInt       l = k;

      for (; l >= gap && columns[l - gap] > c; l -= gap) columns[l] = columns[l - gap];
      columns[l] = c;
    }
  }
}

static PetscErrorCode OrderEntries(SpmvOrder *o, const SpmvCSR *csr)
{
  SPMV_TEMPORARY uint64_t *columns = NULL;
  PetscInt                 longest = 0;
  uint16_t                *from;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < o->n; r++) longest = PetscMax(longest, csr->i[r + 1] - csr->i[r]);
  PetscCall(PetscMalloc1(longest, &columns));
  o->nfrom = (size_t)csr->i[csr->m];
  PetscCall(SpmvAlloc(sizeof(*o->from) * o->nfrom, &o->from));
  from = o->from;
  for (PetscInt k = 0; k < o->n; k++) {
    const PetscInt *j = csr->j + csr->i[o->row[k]], n = csr->i[o->row[k] + 1] - csr->i[o->row[k]];

    for (PetscInt l = 0; l < n; l++) columns[l] = (uint64_t)o->place[j[l]] << 16 | (uint64_t)l;
    OrderSort(n, columns);
    for (PetscInt l = 0; l < n; l++) *from++ = (uint16_t)(columns[l] & UINT16_MAX);
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
  PetscCall(PetscMalloc1(o->n + 1, &i));
  ordered->i = i;
  PetscCall(SpmvAlloc(sizeof(*j) * o->nfrom, &ordered->j));
  PetscCall(SpmvAlloc(sizeof(*a) * o->nfrom, &ordered->a));
  j    = (PetscInt *)ordered->j;
  a    = (PetscScalar *)ordered->a;
  i[0] = 0;
  for (PetscInt k = 0; k < o->n; k++) {
    const PetscInt first = csr->i[o->row[k]], n = csr->i[o->row[k] + 1] - first;

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

/* y <- beta y + A x by a storage of the matrix in its order */
void SpmvOrderApply(const SpmvOrder *order, SpmvApplyFn *apply, const void *storage, PetscInt nz, const PetscScalar x[],
                    PetscScalar y[], PetscBool beta)
{
  OrderShared shared = {order, x, y, beta};

  SpmvRun(order->threads, OrderBring, &shared);
  SpmvApply(apply, storage, nz, order->x, order->y, PETSC_FALSE);
  SpmvRun(order->threads, OrderReturn, &shared);
}

/* y <- beta y + A^T x */
void SpmvOrderApplyTranspose(const SpmvOrder *order, SpmvTransposeFn *apply, const void *storage, PetscInt nz,
                             const PetscScalar x[], PetscScalar y[], PetscBool beta, PetscScalar work[])
{
  OrderShared shared = {order, x, y, beta};

  SpmvRun(order->threads, OrderBring, &shared);
  SpmvApplyTranspose(apply, storage, nz, order->x, order->y, PETSC_FALSE, work);
  SpmvRun(order->threads, OrderReturn, &shared);
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
