/*
  slices.c - builds triangles whose rows are laid out by slices of eight
*/
#include "slices.h"
#include "../machine.h"

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvSlicesKernels SPMV_CAT(SpmvSlicesKernels, name);
#include "../../isas.h"
#undef SPMV_ISA

static const SpmvShapeKernels *const SlicesKernels[SPMV_ISA_COUNT] = {
#define SPMV_ISA(NAME, name, flags, runs) &SPMV_CAT(SpmvSlicesKernels, name).shape,
#include "../../isas.h"
#undef SPMV_ISA
};

#define SLICES_FULL 6 /* rows with an entry that make a column */
#define SLICES_MOST 5 /* and a gather where there is a list as well */

#define SLICES_LONG 256 /* entries of a row that it takes too long to look at */

/* SlicesRows: the rows of a slice, with what is known of them */
typedef struct {
  PetscInt r, n;               /* the first row; rows */
  PetscInt first[8], end[8];   /* entries of each */
  PetscInt inside, neighbours; /* entries inside the slice; and of these, with the row before in the order of the pass */
  PetscInt border;             /* 1: the slice's first row in this order has such an entry as well, outside the slice */
  PetscInt others[8];          /* entries of each row outside that are in no column, that one not counted */
  PetscInt low, high;          /* their first and last column */
} SlicesRows;

static inline SlicesRows SlicesGet(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r)
{
  SlicesRows rows = {.r = r, .n = PetscMin(8, s->n - r), .low = PETSC_MAX_INT, .high = -1};

  for (PetscInt q = 0; q < rows.n; q++) SpmvTrianglesRow(s, side, r + q, &rows.first[q], &rows.end[q]);
  return rows;
}

static inline PetscBool SlicesInside(const SlicesRows *rows, PetscInt column)
{
  return (PetscBool)(column >= rows->r && column < rows->r + 8);
}

/* Counts entries at distance d from the diagonal, in the rows of a mask, that make no column */
static void SlicesOthers(SlicesRows *rows, SpmvTriangleSide side, PetscInt d, unsigned mask)
{
  const PetscBool next = (PetscBool)(d == (side == SPMV_LOWER ? -1 : 1));

  for (; mask; mask &= mask - 1) {
    const PetscInt q = __builtin_ctz(mask), column = rows->r + q + d;

    if (SlicesInside(rows, column)) {
      rows->inside++;
      rows->neighbours += next;
    } else if (next) {
      rows->border = 1;
    } else {
      rows->others[q]++;
      rows->low  = PetscMin(rows->low, column);
      rows->high = PetscMax(rows->high, column);
    }
  }
}

/* Goes through all rows of a slice at once, by distances from the diagonal; writes those of columns to `place` */
static PetscInt SlicesColumns(const SpmvTrianglesSource *s, SpmvTriangleSide side, SlicesRows *rows, PetscInt place[])
{
  PetscInt at[8], distance[8], columns = 0;

  for (PetscInt q = 0; q < rows->n; q++) {
    at[q]       = rows->first[q];
    distance[q] = at[q] < rows->end[q] ? s->j[at[q]] - rows->r - q : PETSC_MAX_INT;
  }
  while (1) {
    PetscInt d    = PETSC_MAX_INT;
    unsigned mask = 0;

    for (PetscInt q = 0; q < rows->n; q++) d = PetscMin(d, distance[q]);
    if (d == PETSC_MAX_INT) return columns;
    for (PetscInt q = 0; q < rows->n; q++) {
      if (distance[q] != d) continue;
      mask |= 1U << q;
      distance[q] = ++at[q] < rows->end[q] ? s->j[at[q]] - rows->r - q : PETSC_MAX_INT;
    }
    if (__builtin_popcount(mask) >= SLICES_FULL && PetscAbs(d) >= 8 && rows->r + d >= 0 && rows->r + d + 8 <= s->n)
      place[columns++] = d;
    else SlicesOthers(rows, side, d, mask);
  }
}

/* How many rows have more than g entries that are in no column */
static PetscInt SlicesMore(const SlicesRows *rows, PetscInt g)
{
  PetscInt more = 0;

  for (PetscInt q = 0; q < rows->n; q++) more += rows->others[q] > g;
  return more;
}

/* How a slice is stored; its places but those of a list */
static SpmvSlice SlicesLook(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, PetscInt place[])
{
  SlicesRows      rows    = SlicesGet(s, side, r);
  const PetscInt  columns = SlicesColumns(s, side, &rows, place);
  const PetscBool near    = (PetscBool)(rows.high - rows.low <= UINT16_MAX || rows.high < 0);
  SpmvSlice       h       = {.columns = columns};
  PetscInt        nz      = 0;

  h.chain = near && rows.neighbours == rows.inside && rows.inside >= 2;
  if (!h.chain && rows.border) {
    const PetscInt q = side == SPMV_LOWER ? 0 : 7, column = side == SPMV_LOWER ? r - 1 : r + 8;

    rows.others[q]++;
    rows.low  = PetscMin(rows.low, column);
    rows.high = PetscMax(rows.high, column);
  }
  if (rows.high - rows.low <= UINT16_MAX) {
    while (SlicesMore(&rows, h.gathers) >= (h.chain ? 1 : SLICES_MOST)) h.gathers++;
  }
  if (h.gathers) place[columns] = rows.low - r;
  if (!h.chain) h.list = rows.inside;
  for (PetscInt q = 0; q < rows.n; q++) {
    nz += rows.end[q] - rows.first[q];
    h.list += PetscMax(0, rows.others[q] - h.gathers);
  }
  h.even = rows.n == 8 && !h.gathers && !h.list && nz == 8 * columns + (h.chain ? rows.inside + rows.border : 0);
  return h;
}

/* Whether a row, whose entries [k, end) are some of those of an even slice, has no others */
static PetscBool SlicesWithin(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt i, PetscInt k, PetscInt end,
                              const SpmvSlice *h, const PetscInt place[])
{
  for (PetscInt c = 0; k < end; k++) {
    const PetscInt d = s->j[k] - i;

    if (h->chain && d == (side == SPMV_LOWER ? -1 : 1)) continue;
    while (c < h->columns && place[c] < d) c++;
    if (c == h->columns || place[c] != d) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Whether a slice can be stored as another one, which is even, with a quarter of zeros at most; even: without any but in the
   chain */
static inline PetscBool SlicesAlike(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, const SpmvSlice *h,
                                    const PetscInt place[], PetscBool *even)
{
  PetscInt nz = 0;

  *even = PETSC_TRUE;
  if (r + 8 > s->n) return PETSC_FALSE;
  for (PetscInt i = r; i < r + 8; i++) {
    PetscInt first, end, from, more, differ = 0;

    SpmvTrianglesRow(s, side, i, &first, &end);
    more = end - first - h->columns;
    if (more == 0 || (more == 1 && h->chain)) {
      from = side == SPMV_LOWER ? first : first + more;
      if (more) differ = side == SPMV_LOWER ? s->j[end - 1] - i + 1 : s->j[first] - i - 1;
      for (PetscInt k = 0; k < h->columns; k++) differ |= (s->j[from + k] - i) ^ place[k];
    }
    if (more < 0 || more > h->chain || differ) {
      if (!SlicesWithin(s, side, i, first, end, h, place)) return PETSC_FALSE;
      *even = PETSC_FALSE;
    }
    nz += end - first;
  }
  if (*even) return PETSC_TRUE;
  if (h->columns && (r + place[0] < 0 || r + place[h->columns - 1] + 8 > s->n)) return PETSC_FALSE;
  return (PetscBool)(nz >= 6 * (h->columns + h->chain));
}

/* Rows go in the order of the pass, which is that of the list. Writes values f a, or, without f, indices and the places of a
   list */
void SpmvSlicesFill(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, const SpmvSlice *h,
                    const SpmvSlicesTarget *to, const PetscScalar f[])
{
  const SlicesRows rows   = SlicesGet(s, side, r);
  const PetscBool  values = (PetscBool)(f != NULL);
  const PetscInt   base   = h->gathers ? to->place[h->columns] : 0;
  PetscInt        *list = to->place + h->columns + (h->gathers > 0), listed = 0;
  uint16_t        *lane = to->index + 8 * h->gathers;

  if (values) (void)memset(to->value, 0, sizeof(PetscScalar) * SpmvSlicesValues(h));
  else if (h->gathers)
    (void)memset(to->index, 0, sizeof(uint16_t) * 8 * (size_t)h->gathers); /* somewhere that is in use anyway */
  for (PetscInt t = 0; t < rows.n; t++) {
    const PetscInt q = side == SPMV_LOWER ? t : rows.n - 1 - t;
    PetscInt       u = 0, g = 0;

    for (PetscInt k = rows.first[q]; k < rows.end[q]; k++) {
      const PetscInt place = s->j[k] - r, d = place - q;
      size_t         at;

      while (u < h->columns && to->place[u] < d) u++;
      if (u < h->columns && to->place[u] == d) {
        at = (size_t)(8 * u + q);
      } else if (h->chain && PetscAbs(d) == 1) {
        at = (size_t)(8 * (h->columns + h->gathers) + q);
      } else if (g < h->gathers && !SlicesInside(&rows, s->j[k])) {
        at = (size_t)(8 * (h->columns + g) + q);
        if (!values) to->index[8 * g + q] = (uint16_t)(place - base);
        g++;
      } else {
        at = (size_t)(8 * (h->columns + h->gathers + h->chain) + listed);
        if (!values) list[listed] = place;
        if (!values) lane[listed] = (uint16_t)q;
        listed++;
      }
      if (values) to->value[at] = f[q] * s->a[k];
    }
  }
}

/* Both triangles' slices, with their places in the order of rows: both at once, since they share cache lines */
static void SlicesPlaces(const SpmvTrianglesSource *s, SpmvSlicesStorage *storage, PetscInt *const places[2])
{
  const PetscInt   slices   = SpmvSlicesCount(s->n);
  const SpmvSlice *even[2]  = {NULL, NULL};
  const PetscInt  *like[2]  = {NULL, NULL};
  PetscInt        *place[2] = {places[0], places[1]};

  for (PetscInt k = 0; k < slices; k++) {
    for (int side = 0; side < 2; side++) {
      SpmvSlicesTriangle *t = &storage->triangle[side];
      SpmvSlice          *h = &t->slice[side == SPMV_LOWER ? k : slices - 1 - k];
      PetscBool           same;

      if (even[side] && SlicesAlike(s, (SpmvTriangleSide)side, 8 * k, even[side], like[side], &same)) {
        *h      = *even[side];
        h->even = same;
        for (PetscInt c = 0; c < h->columns; c++) place[side][c] = like[side][c];
      } else {
        *h = SlicesLook(s, (SpmvTriangleSide)side, 8 * k, place[side]);
      }
      if (h->even) {
        even[side] = h;
        like[side] = place[side];
      }
      place[side] += SpmvSlicesPlaces(h);
      t->nplace += SpmvSlicesPlaces(h);
      t->nindex += SpmvSlicesIndices(h);
    }
  }
}

/* The arrays of a triangle, whose places are in the order of rows so far */
static PetscErrorCode SlicesArray(const SpmvTrianglesSource *s, SpmvTriangleSide side, SpmvSlicesTriangle *t,
                                  const PetscInt place[])
{
  const PetscInt   slices = SpmvSlicesCount(s->n);
  SpmvSlicesTarget to;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(sizeof(PetscInt) * t->nplace, &t->place));
  PetscCall(SpmvAlloc(sizeof(uint16_t) * t->nindex, &t->index));
  to = (SpmvSlicesTarget){t->place, t->index, NULL};
  if (side == SPMV_UPPER) place += t->nplace;
  for (PetscInt z = 0; z < slices; z++) {
    const SpmvSlice *h = &t->slice[z];
    const PetscInt   n = (PetscInt)SpmvSlicesPlaces(h);

    if (side == SPMV_UPPER) place -= n;
    for (PetscInt k = 0; k < n; k++) to.place[k] = place[k];
    if (side == SPMV_LOWER) place += n;
    if (h->gathers || h->list) SpmvSlicesFill(s, side, SpmvSlicesRow(slices, side, z), h, &to, NULL);
    SpmvSlicesAdvance(&to, h, 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicesBuild(const SpmvTrianglesSource *s, SpmvTriangles *t)
{
  const size_t             slices = (size_t)SpmvSlicesCount(s->n);
  size_t                   nz[2]  = {0, 0};
  SPMV_TEMPORARY PetscInt *lower = NULL, *upper = NULL;
  SpmvSlicesStorage       *storage;

  PetscFunctionBegin;
  PetscCall(PetscNew(&storage));
  t->storage = storage;
  for (PetscInt i = 0; i < s->n; i++) {
    nz[0] += (size_t)(s->lower[1][i] - s->lower[0][i]);
    nz[1] += (size_t)(s->upper[1][i] - s->upper[0][i] - 1);
  }
  t->nz          = (PetscInt)(nz[0] + nz[1]);
  storage->large = (PetscBool)(t->nz >= SpmvMachineGet()->cached);
  PetscCall(PetscMalloc1(nz[0] + slices, &lower)); /* one place of each entry, and one of each slice's gathers, at most */
  PetscCall(PetscMalloc1(nz[1] + slices, &upper));
  for (int side = 0; side < 2; side++) PetscCall(SpmvAlloc(sizeof(SpmvSlice) * slices, &storage->triangle[side].slice));
  SlicesPlaces(s, storage, (PetscInt *const[2]){lower, upper});
  PetscCall(SlicesArray(s, SPMV_LOWER, &storage->triangle[SPMV_LOWER], lower));
  PetscCall(SlicesArray(s, SPMV_UPPER, &storage->triangle[SPMV_UPPER], upper));
  PetscCall(SpmvAlloc(sizeof(PetscScalar) * (size_t)s->n, &storage->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicesSetValues(const SpmvTrianglesSource *s, SpmvTriangles *t, PetscInt *bad)
{
  const SpmvSlicesKernels *kernels = (const SpmvSlicesKernels *)t->kernels; /* its first field */
  SpmvSlicesStorage       *storage = (SpmvSlicesStorage *)t->storage;

  PetscFunctionBegin;
  for (int side = 0; side < 2; side++) {
    SpmvSlicesTriangle *h   = &storage->triangle[side];
    const size_t        had = h->value ? h->nvalue : 0;

    SpmvSlicesFindAgain(s, (SpmvTriangleSide)side, h);
    if (h->value && had == h->nvalue) continue;
    PetscCall(SpmvFree(&h->value));
    PetscCall(SpmvAlloc(sizeof(PetscScalar) * h->nvalue, &h->value));
  }
  kernels->values(s, (SpmvSlicesStorage *)t->storage, bad);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicesArrays(const SpmvTriangles *t, PetscInt *n, SpmvArray arrays[])
{
  const SpmvSlicesStorage *storage = (const SpmvSlicesStorage *)t->storage;

  PetscFunctionBegin;
  *n = 0;
  for (int side = 0; side < 2; side++) {
    const SpmvSlicesTriangle *h = &storage->triangle[side];

    arrays[(*n)++] = SPMV_ARRAY("slice", h->slice, (size_t)SpmvSlicesCount(t->n), sizeof(SpmvSlice));
    arrays[(*n)++] = SPMV_ARRAY("place", h->place, h->nplace, sizeof(PetscInt));
    arrays[(*n)++] = SPMV_ARRAY("index", h->index, h->nindex, sizeof(uint16_t));
    arrays[(*n)++] = SPMV_ARRAY("value", h->value, h->nvalue, SpmvTrianglesWord(t), .is_values = PETSC_TRUE);
  }
  arrays[(*n)++] = SPMV_ARRAY("diagonal", storage->diagonal, (size_t)t->n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of the longest row of a slice */
static PetscInt SlicesLongest(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r)
{
  const SlicesRows rows    = SlicesGet(s, side, r);
  PetscInt         longest = 0;

  for (PetscInt q = 0; q < rows.n; q++) longest = PetscMax(longest, rows.end[q] - rows.first[q]);
  return longest;
}

/* Slices that are looked at */
static PetscInt SlicesLooks(PetscInt slices)
{
  return PetscMin(slices, PetscMin(64, 4 + slices / 128));
}

/* Rows are not too long to be looked at. Nodes' rows have a diagonal block, which slices have not */
static PetscBool SlicesSuits(const SpmvTrianglesSource *s)
{
  const PetscInt slices = SpmvSlicesCount(s->n), looks = SlicesLooks(slices);

  if (s->kind == SPMV_SWEEPS && s->nnodes > 0 && s->nnodes < s->n) return PETSC_FALSE;
  for (PetscInt k = 0; k < looks; k++) {
    for (int side = 0; side < 2; side++) {
      if (SlicesLongest(s, (SpmvTriangleSide)side, 8 * SpmvSlicesSomewhere(slices, looks, k)) >= SLICES_LONG) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* Cycles of Zen 4, fitted to 280 passes. An entry of a list waits for the one before it */
#define SLICES_COLUMN 5
#define SLICES_GATHER 7.7 /* of an entry of each row */
#define SLICES_LISTED 10
#define SLICES_CHAIN  16
#define SLICES_EVEN   25  /* to build, by entry of a slice that is even, ... */
#define SLICES_BUILD  65  /* ... and of another one */
#define SLICES_SLOW   0.3 /* by how much longer bytes from memory take, but of even slices */
#define SLICES_WAITS  0.5 /* as many loads are under way */

static void SlicesWork(const SpmvTrianglesSource *s, const SpmvTrianglesLook *look, SpmvWork *work)
{
  const PetscInt slices = SpmvSlicesCount(s->n), looks = SlicesLooks(slices);
  const double   scale = looks ? (double)slices / looks : 1;
  PetscInt       place[SLICES_LONG];
  double         even = 0;

  for (PetscInt k = 0; k < looks; k++) {
    for (int side = 0; side < 2; side++) {
      const PetscInt  r = 8 * SpmvSlicesSomewhere(slices, looks, k);
      const SpmvSlice h = SlicesLook(s, (SpmvTriangleSide)side, r, place);

      work->cycles +=
        scale * (SLICES_COLUMN * h.columns + SLICES_GATHER * h.gathers + SLICES_LISTED * h.list + SLICES_CHAIN * h.chain);
      even += h.even;
      work->build += scale * (h.even ? SLICES_EVEN : SLICES_BUILD) * (8. * (h.columns + h.gathers + h.chain) + h.list);
      work->bytes += scale * (double)(SpmvSlicesValues(&h) * sizeof(PetscScalar) + SpmvSlicesPlaces(&h) * sizeof(PetscInt) +
                                      SpmvSlicesIndices(&h) * sizeof(uint16_t) + sizeof(h));
    }
  }
  work->bytes += look->rows * sizeof(PetscScalar);
  work->branches += look->rows / 8;
  work->misses += look->missed / 8;
  work->slow  = 1 + SLICES_SLOW * (1 - even / PetscMax(1, 2 * looks));
  work->waits = SLICES_WAITS;
}

static PetscScalar *SlicesTriangle(const SpmvTriangles *t, SpmvTriangleSide side, size_t *n)
{
  const SpmvSlicesTriangle *h = &((const SpmvSlicesStorage *)t->storage)->triangle[side];

  *n = h->nvalue;
  return h->value;
}

const SpmvShape SpmvShape_slices = {"slices",        PETSC_FALSE,  SlicesSuits,    SlicesWork,   SlicesBuild,
                                    SlicesSetValues, SlicesArrays, SlicesTriangle, SlicesKernels};
