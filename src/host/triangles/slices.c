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

#define SLICES_COLUMN 6 /* rows with an entry that make a column */
#define SLICES_GATHER 5 /* and a gather where there is a list as well */

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
    if (__builtin_popcount(mask) >= SLICES_COLUMN && PetscAbs(d) >= 8 && rows->r + d >= 0 && rows->r + d + 8 <= s->n)
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
    while (SlicesMore(&rows, h.gathers) >= (h.chain ? 1 : SLICES_GATHER)) h.gathers++;
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

/* Whether a slice can be stored as another one, which is even */
static inline PetscBool SlicesAlike(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, const SpmvSlice *h,
                                    const PetscInt place[])
{
  if (r + 8 > s->n) return PETSC_FALSE;
  for (PetscInt i = r; i < r + 8; i++) {
    PetscInt first, end, more, differ = 0;

    SpmvTrianglesRow(s, side, i, &first, &end);
    more = end - first - h->columns;
    if (more != 0 && (more != 1 || !h->chain)) return PETSC_FALSE;
    if (side == SPMV_LOWER) {
      if (more) differ = s->j[end - 1] - i + 1;
    } else {
      if (more) differ = s->j[first] - i - 1;
      first += more;
    }
    for (PetscInt k = 0; k < h->columns; k++) differ |= (s->j[first + k] - i) ^ place[k];
    if (differ) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* SlicesTarget: where the entries of a slice go: their places, or their values */
typedef struct {
  PetscInt    *place;
  uint16_t    *index;
  PetscScalar *value;
} SlicesTarget;

/* Rows go in the order of the pass, which is that of the list. Writes indices and a list's places, or values f a */
static inline void SlicesFill(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, const SpmvSlice *h,
                              const SlicesTarget *to, PetscBool values, const PetscScalar f[])
{
  const SlicesRows rows = SlicesGet(s, side, r);
  const PetscInt   base = h->gathers ? to->place[h->columns] : 0;
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

/* After a slice; before one, if by is -1 */
static inline void SlicesAdvance(SlicesTarget *to, const SpmvSlice *h, PetscInt by)
{
  to->place += by * (PetscInt)SpmvSlicesPlaces(h);
  to->index += by * (PetscInt)SpmvSlicesIndices(h);
  to->value += by * (PetscInt)SpmvSlicesValues(h);
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

      if (even[side] && SlicesAlike(s, (SpmvTriangleSide)side, 8 * k, even[side], like[side])) {
        *h = *even[side];
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
      t->nvalue += SpmvSlicesValues(h);
    }
  }
}

/* The arrays of a triangle, whose places are in the order of rows so far */
static PetscErrorCode SlicesArray(const SpmvTrianglesSource *s, SpmvTriangleSide side, SpmvSlicesTriangle *t,
                                  const PetscInt place[])
{
  const PetscInt slices = SpmvSlicesCount(s->n);
  SlicesTarget   to;

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(sizeof(PetscInt) * t->nplace, &t->place));
  PetscCall(SpmvAlloc(sizeof(uint16_t) * t->nindex, &t->index));
  PetscCall(SpmvAlloc(sizeof(PetscScalar) * t->nvalue, &t->value));
  to = (SlicesTarget){t->place, t->index, t->value};
  if (side == SPMV_UPPER) place += t->nplace;
  for (PetscInt z = 0; z < slices; z++) {
    const SpmvSlice *h = &t->slice[z];
    const PetscInt   n = (PetscInt)SpmvSlicesPlaces(h);

    if (side == SPMV_UPPER) place -= n;
    for (PetscInt k = 0; k < n; k++) to.place[k] = place[k];
    if (side == SPMV_LOWER) place += n;
    if (h->gathers || h->list) SlicesFill(s, side, SpmvSlicesRow(slices, side, z), h, &to, PETSC_FALSE, NULL);
    SlicesAdvance(&to, h, 1);
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

/* The values of a slice that is even */
static inline void SlicesEven(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, const SpmvSlice *h,
                              PetscScalar value[], const PetscScalar f[], const SpmvSlicesKernels *kernels, PetscBool stream)
{
  const PetscScalar *a[8];
  PetscScalar       *chain = value + 8 * h->columns;

  for (PetscInt q = 0; q < 8; q++) {
    PetscInt first, end, more;

    SpmvTrianglesRow(s, side, r + q, &first, &end);
    more = end - first - h->columns;
    a[q] = s->a + (side == SPMV_LOWER ? first : first + more);
    if (h->chain) chain[q] = more ? f[q] * s->a[side == SPMV_LOWER ? end - 1 : first] : 0;
  }
  kernels->copy(h->columns, a, f, value, stream);
}

static void SlicesSlice(const SpmvTrianglesSource *s, SpmvTriangleSide side, PetscInt r, SpmvSlice *h, const SlicesTarget *to,
                        const PetscScalar diagonal[], const SpmvSlicesKernels *kernels, PetscBool stream)
{
  const PetscBool   scaled = SpmvTrianglesScaled(s->kind, side);
  const PetscScalar sign   = s->kind == SPMV_FACTORS_SYMMETRIC ? 1 : -1;
  PetscScalar       f[8];

  for (PetscInt q = 0; q < PetscMin(8, s->n - r); q++) f[q] = scaled ? -diagonal[r + q] : sign;
  if (h->even) SlicesEven(s, side, r, h, to->value, f, kernels, stream);
  else SlicesFill(s, side, r, h, to, PETSC_TRUE, f);
  h->steep = 0;
  if (h->chain) {
    const PetscScalar *c = to->value + 8 * (h->columns + h->gathers);

    for (PetscInt q = 0; q < 8; q++) h->steep |= PetscAbsScalar(c[q]) > 1;
  }
}

/* Both triangles at once, since their entries and the diagonal share cache lines */
static PetscErrorCode SlicesSetValues(const SpmvTrianglesSource *s, SpmvTriangles *t, PetscInt *bad)
{
  const PetscInt           slices  = SpmvSlicesCount(s->n);
  const SpmvSlicesKernels *kernels = (const SpmvSlicesKernels *)t->kernels; /* its first field */
  SpmvSlicesStorage       *storage = (SpmvSlicesStorage *)t->storage;
  SpmvSlicesTriangle      *lower = &storage->triangle[SPMV_LOWER], *upper = &storage->triangle[SPMV_UPPER];
  SlicesTarget             forth = {lower->place, lower->index, lower->value};
  SlicesTarget             back  = {upper->place + upper->nplace, upper->index + upper->nindex, upper->value + upper->nvalue};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < slices; k++) {
    SpmvSlice *l = &lower->slice[k], *u = &upper->slice[slices - 1 - k];

    SpmvTrianglesInvertRows(s, 8 * k, PetscMin(8 * k + 8, s->n), storage->diagonal, bad);
    SlicesSlice(s, SPMV_LOWER, 8 * k, l, &forth, storage->diagonal, kernels, storage->large);
    SlicesAdvance(&forth, l, 1);
    SlicesAdvance(&back, u, -1);
    SlicesSlice(s, SPMV_UPPER, 8 * k, u, &back, storage->diagonal, kernels, storage->large);
  }
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
    arrays[(*n)++] = SPMV_ARRAY("value", h->value, h->nvalue, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  }
  arrays[(*n)++] = SPMV_ARRAY("diagonal", storage->diagonal, (size_t)t->n, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool SlicesSuits(const SpmvTrianglesSource *s)
{
  return PETSC_FALSE;
}

const SpmvShape SpmvShape_slices = {"slices", SlicesSuits, SlicesBuild, SlicesSetValues, SlicesArrays, SlicesKernels};
