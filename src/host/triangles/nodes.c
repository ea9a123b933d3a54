/*
  nodes.c - builds triangles by nodes
*/
#include "nodes.h"

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvNodesKernels SPMV_CAT(SpmvNodesKernels, name);
#include "../../isas.h"
#undef SPMV_ISA

static const SpmvShapeKernels *const NodesKernels[SPMV_ISA_COUNT] = {
#define SPMV_ISA(NAME, name, flags, runs) &SPMV_CAT(SpmvNodesKernels, name).shape,
#include "../../isas.h"
#undef SPMV_ISA
};

/* Whether rows i, i + 1, ..., i + size - 1 have what is inside of the node, and equally many columns outside of it */
static PetscBool NodesNodeIsWhole(const SpmvTrianglesSource *s, PetscInt i, PetscInt size)
{
  const PetscInt last = i + size - 1, nl = s->lower[1][i] - s->lower[0][i], nu = s->upper[1][last] - s->upper[0][last] - 1;
  PetscInt       odd = 0; /* not 0 if something is missing */

  for (PetscInt r = i; r <= last; r++) {
    PetscInt lower, lend, upper, uend;

    SpmvTrianglesRow(s, SPMV_LOWER, r, &lower, &lend);
    SpmvTrianglesRow(s, SPMV_UPPER, r, &upper, &uend);
    odd |= lend - lower - nl - (r - i);
    odd |= uend - upper - nu - (last - r);
    if (odd) return PETSC_FALSE;
    if (r > i) odd |= s->j[lower + nl] - i; /* columns increase, so that the others are there if the first one is */
    if (r < last) odd |= s->j[uend - nu - 1] - last;
  }
  return (PetscBool)!odd;
}

/* Whether these rows have the same columns outside of the node */
static PetscBool NodesNodeIsEqual(const SpmvTrianglesSource *s, PetscInt i, PetscInt size)
{
  const PetscInt last = i + size - 1, nl = s->lower[1][i] - s->lower[0][i], nu = s->upper[1][last] - s->upper[0][last] - 1;
  PetscInt       differ = 0;

  for (PetscInt r = i; r < last; r++) {
    differ |= memcmp(s->j + s->lower[0][r], s->j + s->lower[0][last], sizeof(PetscInt) * (size_t)nl);
    differ |= memcmp(s->j + s->upper[1][r] - nu, s->j + s->upper[1][last] - nu, sizeof(PetscInt) * (size_t)nu);
  }
  return (PetscBool)!differ;
}

/*
  Sweeps must be by nodes where the caller has some, and they are a matrix's own. A factor with fill may have other columns in
  rows that are together in the matrix, and may be solved by other shapes
*/
static PetscBool NodesSuits(const SpmvTrianglesSource *s)
{
  PetscInt i = 0;

  if (s->nnodes < 1 || s->nnodes == s->n) return PETSC_FALSE;
  if (s->kind == SPMV_SWEEPS && (s->omega != 1 || s->shift != 0)) return PETSC_FALSE;
  for (PetscInt k = 0; k < s->nnodes; i += s->nodes[k], k++) {
    const PetscInt size = s->nodes[k];

    if (size < 1 || size > SPMV_NODE_MAX || size > s->n - i || !NodesNodeIsWhole(s, i, size)) return PETSC_FALSE;
    if (s->kind != SPMV_SWEEPS && !NodesNodeIsEqual(s, i, size)) return PETSC_FALSE;
  }
  return (PetscBool)(i == s->n);
}

/*
  SpmvTrianglesFindNodes - rows that follow each other and may be a node, for a factor whose nodes nobody has

  Output Parameters:
+ nnodes - how many, each of SPMV_NODE_MAX rows at most
- nodes  - [n] the rows of each, the caller's to PetscFree(); entries after the first nnodes are unused
*/
PetscErrorCode SpmvTrianglesFindNodes(const SpmvTrianglesSource *s, PetscInt *nnodes, PetscInt **nodes)
{
  PetscFunctionBegin;
  *nnodes = 0;
  PetscCall(PetscMalloc1(s->n, nodes));
  for (PetscInt i = 0, size; i < s->n; i += size) {
    const PetscInt most = PetscMin(SPMV_NODE_MAX, s->n - i), lower = s->lower[1][i] - s->lower[0][i];

    size = 1;
    while (size < most && s->lower[1][i + size] - s->lower[0][i + size] == lower + size && NodesNodeIsWhole(s, i, size + 1) &&
           NodesNodeIsEqual(s, i, size + 1))
      size++;
    (*nodes)[(*nnodes)++] = size;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cycles of Zen 4 by node, and by column outside of it, for each size; fitted to 118 passes over matrices in cache */
static const struct {
  double node, column;
} NodesCycles[SPMV_NODE_MAX + 1] = {{0}, {25, 2}, {15, 2}, {15, 1.8}, {18, 1}, {18, 2.5}, {18, 5}};

#define NODES_BUILD 20 /* cycles to build, by entry */

static void NodesWork(const SpmvTrianglesSource *s, const SpmvTrianglesLook *look, SpmvWork *work)
{
  double columns = 0, blocks = 0;

  for (PetscInt k = 0, i = 0; k < s->nnodes; i += s->nodes[k], k++) {
    const PetscInt size = s->nodes[k], last = i + size - 1;
    const double   outside = s->lower[1][i] - s->lower[0][i] + (s->upper[1][last] - s->upper[0][last] - 1);

    work->cycles += 2 * NodesCycles[size].node + NodesCycles[size].column * outside;
    columns += outside;
    blocks += size * size;
  }
  work->bytes += look->nz * sizeof(PetscScalar) + columns * SpmvTrianglesDistanceBytes(look) + blocks * sizeof(PetscScalar) +
                 2 * s->nnodes * (sizeof(PetscInt) + sizeof(*s->nodes));
  work->build += NODES_BUILD * look->nz;
  work->waits = (double)s->nnodes / PetscMax(1, s->n);
}

/* The nodes' sizes, and how many columns each has outside of it */
static PetscErrorCode NodesCount(const SpmvTrianglesSource *s, SpmvNodesStorage *r)
{
  SpmvNodesTriangle *lower = &r->triangle[SPMV_LOWER], *upper = &r->triangle[SPMV_UPPER];

  PetscFunctionBegin;
  PetscCall(SpmvAlloc((size_t)s->nnodes, &r->sizes));
  PetscCall(SpmvAlloc(sizeof(PetscInt) * (size_t)s->nnodes, &lower->columns));
  PetscCall(SpmvAlloc(sizeof(PetscInt) * (size_t)s->nnodes, &upper->columns));
  r->nnodes = s->nnodes;
  r->size   = s->nodes[0] > 1 ? s->nodes[0] : 0;
  for (PetscInt k = 0, i = 0; k < s->nnodes; k++) {
    const PetscInt size = s->nodes[k], last = i + size - 1, nl = s->lower[1][i] - s->lower[0][i],
                   nu = s->upper[1][last] - s->upper[0][last] - 1;

    r->sizes[k]                       = (uint8_t)size;
    lower->columns[k]                 = nl;
    upper->columns[s->nnodes - 1 - k] = nu;
    lower->nd += (size_t)nl;
    upper->nd += (size_t)nu;
    lower->nv += (size_t)nl * (size_t)size;
    upper->nv += (size_t)nu * (size_t)size;
    r->nb += (size_t)(size * size);
    if (size != r->size) r->size = 0;
    i += size;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What keeps distances from being stored in a way */
#define NODES_FAR   1 /* one does not fit */
#define NODES_SPLIT 2 /* columns do not come in whole nodes */

/* Distances of a triangle, in `unit` columns: the size of all nodes, or 1; returns why they cannot be had so */
#define NODES_DISTANCES(type) \
  static inline __attribute__((always_inline)) int NodesDistances_##type( \
    const SpmvTrianglesSource *s, SpmvTriangleSide side, const SpmvNodesTriangle *h, PetscInt unit, type *distance) \
  { \
    const PetscBool lower = (PetscBool)(side == SPMV_LOWER); \
    PetscInt        i = lower ? 0 : s->n, far = 0, split = 0; \
\
    for (PetscInt z = 0; z < s->nnodes; z++) { \
      const PetscInt  size = s->nodes[lower ? z : s->nnodes - 1 - z], n = h->columns[z]; \
      const PetscInt *j = s->j + (lower ? s->lower[0][i] : s->upper[1][i - 1] - n); \
\
      if (!lower) i -= size; \
      split |= n % unit; \
      for (PetscInt k = 0; k + unit <= n; k += unit) { \
        const PetscInt *c = lower ? j + k : j + n - unit - k; \
        const PetscInt  d = lower ? i - c[0] : c[0] - i, q = d / unit; \
\
        split |= (q * unit - d) | (c[unit - 1] - c[0] - (unit - 1)); \
        far |= q ^ (type)q; \
        *distance++ = (type)q; \
      } \
      if (lower) i += size; \
    } \
    return (far ? NODES_FAR : 0) | (split ? NODES_SPLIT : 0); \
  } \
  static int NodesDistancesBy_##type(const SpmvTrianglesSource *s, SpmvTriangleSide side, const SpmvNodesTriangle *h, \
                                     PetscInt unit, type *distance) \
  { \
    switch (unit) { \
    case 1: return NodesDistances_##type(s, side, h, 1, distance); \
    case 2: return NodesDistances_##type(s, side, h, 2, distance); \
    case 3: return NodesDistances_##type(s, side, h, 3, distance); \
    case 4: return NodesDistances_##type(s, side, h, 4, distance); \
    default: return NodesDistances_##type(s, side, h, unit, distance); \
    } \
  }
NODES_DISTANCES(uint16_t)
NODES_DISTANCES(PetscInt)

/* Tries to store distances as r->size and r->wide say, else changes these; a try that fails is rare */
static PetscErrorCode NodesPlace(const SpmvTrianglesSource *s, SpmvNodesStorage *r, PetscBool *done)
{
  const PetscInt unit = r->size ? r->size : 1;
  int            why  = 0;

  PetscFunctionBegin;
  for (int side = 0; side < 2; side++) {
    SpmvNodesTriangle *h = &r->triangle[side];

    PetscCall(SpmvFree(&h->distance));
    PetscCall(SpmvAlloc(SpmvNodesWord(r) * (h->nd / (size_t)unit), &h->distance));
    if (r->wide) why |= NodesDistancesBy_PetscInt(s, (SpmvTriangleSide)side, h, unit, (PetscInt *)h->distance);
    else why |= NodesDistancesBy_uint16_t(s, (SpmvTriangleSide)side, h, unit, (uint16_t *)h->distance);
  }
  if (why & NODES_SPLIT) r->size = 0;
  else if (why & NODES_FAR) r->wide = PETSC_TRUE;
  *done = (PetscBool)!why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array of scalars, and a vector's length of zeros */
static PetscErrorCode NodesAlloc(size_t n, PetscScalar **array)
{
  PetscFunctionBegin;
  PetscCall(SpmvAlloc(sizeof(PetscScalar) * (n + 8), array));
  PetscCall(PetscArrayzero(*array + n, 8));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NodesBuild(const SpmvTrianglesSource *s, SpmvTriangles *t)
{
  SpmvNodesStorage *r;
  PetscBool         done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscNew(&r));
  t->storage = r;
  PetscCall(NodesCount(s, r));
  while (!done) PetscCall(NodesPlace(s, r, &done));
  t->nz = (PetscInt)(r->triangle[SPMV_LOWER].nv + r->triangle[SPMV_UPPER].nv + r->nb) - s->n;
  for (int side = 0; side < 2; side++) {
    SpmvNodesTriangle *h = &r->triangle[side];

    if (r->size) h->nd /= (size_t)r->size;
    PetscCall(NodesAlloc(h->nv, &h->value));
    if (side == SPMV_LOWER || s->kind != SPMV_SWEEPS) PetscCall(NodesAlloc(r->nb, &h->block));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NodesSetValues(const SpmvTrianglesSource *s, SpmvTriangles *t, PetscInt *bad)
{
  PetscFunctionBegin;
  *bad = ((const SpmvNodesKernels *)t->kernels)->values(s, (SpmvNodesStorage *)t->storage);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NodesArrays(const SpmvTriangles *t, PetscInt *n, SpmvArray arrays[])
{
  const SpmvNodesStorage *r = (const SpmvNodesStorage *)t->storage;

  PetscFunctionBegin;
  *n             = 0;
  arrays[(*n)++] = SPMV_ARRAY("sizes", r->sizes, (size_t)r->nnodes, sizeof(*r->sizes));
  for (int side = 0; side < 2; side++) {
    const SpmvNodesTriangle *h = &r->triangle[side];

    arrays[(*n)++] = SPMV_ARRAY("columns", h->columns, (size_t)r->nnodes, sizeof(PetscInt));
    arrays[(*n)++] = SPMV_ARRAY("distance", h->distance, h->nd, SpmvNodesWord(r));
    arrays[(*n)++] = SPMV_ARRAY("value", h->value, h->nv, SpmvTrianglesWord(t), .is_values = PETSC_TRUE);
    if (h->block) arrays[(*n)++] = SPMV_ARRAY("block", h->block, r->nb, sizeof(PetscScalar), .is_values = PETSC_TRUE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The zeros after the values as well */
static PetscScalar *NodesTriangle(const SpmvTriangles *t, SpmvTriangleSide side, size_t *n)
{
  const SpmvNodesTriangle *h = &((const SpmvNodesStorage *)t->storage)->triangle[side];

  *n = h->nv + 8;
  return h->value;
}

const SpmvShape SpmvShape_nodes = {"nodes",        PETSC_FALSE, NodesSuits,    NodesWork,   NodesBuild,
                                   NodesSetValues, NodesArrays, NodesTriangle, NodesKernels};
