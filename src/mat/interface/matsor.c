/*
  matsor.c - MatSOR(): sweeps by the triangles of host/triangles

  The algorithm is that of PETSc's MatSOR_SeqAIJ(): by rows, or by its inodes where PETSc takes them, which is for omega 1 and
  shift 0. Sums are added in another order, and rows are scaled by the inverse diagonal beforehand. What the triangles do not
  serve goes to PETSc's kernel: products with one triangle (SOR_APPLY_UPPER), Eisenstat's trick with a shift, rows that are not
  sorted, and diagonals that are missing or cannot be inverted, whose errors are PETSc's to tell.

  The parallel type's MatSOR() is PETSc's own, which calls ops->sor of the diagonal block.
*/
#include "spmvmat.h"
#include <petsctime.h>

#define SOR_FORWARD  (SOR_FORWARD_SWEEP | SOR_LOCAL_FORWARD_SWEEP)
#define SOR_BACKWARD (SOR_BACKWARD_SWEEP | SOR_LOCAL_BACKWARD_SWEEP)

/* Frees what was built; when values changed last, and how often sweeps came, is kept */
static PetscErrorCode SpmvSweepsDrop(SpmvSweeps *w)
{
  PetscFunctionBegin;
  w->reason = NULL;
  w->read = w->bytes = 0;
  PetscCall(SpmvServingReset(&w->serving));
  PetscCall(PetscFree(w->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvSweepsDestroy(SpmvSweeps *w)
{
  PetscFunctionBegin;
  PetscCall(SpmvSweepsDrop(w));
  PetscCall(PetscMemzero(w, sizeof(*w)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The place of each diagonal entry, in sorted rows; returns whether all are there. The search begins where the row before had
   it */
static PetscBool SpmvRowsDiagonal(const SpmvCSR *csr, PetscInt diagonal[])
{
  PetscInt left = 0; /* entries left of the diagonal */

  for (PetscInt r = 0; r < csr->m; r++) {
    const PetscInt first = csr->i[r], end = csr->i[r + 1];
    PetscInt       k = first + left;

    if (first == end) return PETSC_FALSE;
    k = PetscMin(k, end - 1);
    while (k > first && csr->j[k] > r) k--;
    while (k < end - 1 && csr->j[k] < r) k++;
    if (csr->j[k] != r) return PETSC_FALSE;
    diagonal[r] = k;
    left        = k - first;
  }
  return PETSC_TRUE;
}

/* PETSc takes the pivot of a node of one row for zero below this, and goes on with it */
static PetscBool SpmvNodesTiny(const SpmvTrianglesSource *s)
{
  const PetscReal tiny = 100 * PETSC_MACHINE_EPSILON;

  for (PetscInt k = 0, row = 0; k < s->nnodes; row += s->nodes[k++]) {
    if (s->nodes[k] == 1 && !(PetscAbsScalar(s->a[s->diagonal[row]]) >= tiny)) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* Makes the triangles, or others if these are likely to pay by now, or gives them the matrix's values if they are not current;
   else there is a reason why AIJ's kernel serves. choose: that may be that nothing is faster */
static PetscErrorCode SpmvSweepsBuild(SpmvSweeps *w, const SpmvCSR *csr, const SpmvRequest *request, PetscBool choose,
                                      PetscInt nnodes, const PetscInt nodes[])
{
  SpmvServing *v   = &w->serving;
  PetscInt     bad = -1;

  PetscFunctionBegin;
  if (!w->diagonal) {
    if (csr->m != csr->n) w->reason = "the matrix is not square";
    else if (!SpmvRowsSorted(csr)) w->reason = "columns are not in order";
    if (w->reason) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscMalloc1(csr->m, &w->diagonal));
    if (!SpmvRowsDiagonal(csr, w->diagonal)) {
      w->reason = "a diagonal entry is missing";
      PetscCall(PetscFree(w->diagonal)); /* it is not whole: the next sweep is not to find it */
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  {
    const SpmvTrianglesSource s = {.kind     = SPMV_SWEEPS,
                                   .n        = csr->m,
                                   .j        = csr->j,
                                   .a        = csr->a,
                                   .lower    = {csr->i, w->diagonal},
                                   .upper    = {w->diagonal, csr->i + 1},
                                   .diagonal = w->diagonal,
                                   .omega    = w->omega,
                                   .shift    = w->omega == 1 && w->shift < 0 ? 0 : w->shift, /* PETSc leaves it out there */
                                   .nnodes   = nnodes,
                                   .nodes    = nodes};

    if (!v->triangles || SpmvServingAnew(v))
      PetscCall(SpmvServingChoose(v, &s, request->isa, request->calls, choose, &w->reason));
    if (w->reason || v->current) PetscFunctionReturn(PETSC_SUCCESS);
    if (SpmvNodesTiny(&s)) bad = 0;
    else PetscCall(SpmvServingSetValues(v, &s, request->isa, w->floats, &bad));
  }
  if (bad >= 0) w->reason = "a diagonal entry or block has no inverse";
  if (v->triangles) PetscCall(SpmvTrianglesBytes(v->triangles, &w->read, &w->bytes));
  v->current = (PetscBool)!w->reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the triangles up to date, or makes them */
static PetscErrorCode MatSpmvRenewSweeps(Mat A, SpmvShadow *shadow)
{
  SpmvSweeps              *w      = &shadow->seq.sweeps;
  SPMV_TEMPORARY PetscInt *nodes  = NULL;
  PetscInt                 nnodes = 0;
  SpmvCSR                  csr;
  SpmvKey                  key;
  PetscBool                same, current;
  const SpmvShape         *had;
  PetscLogDouble           start, end;
  PetscLogEvent            event;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetRows(A, &csr));
  key = SpmvRowsKey(&csr);
  if (w->bynodes) PetscCall(MatSpmvGetNodes(A, &nnodes, &nodes));
  same = (PetscBool)(w->nonzerostate == A->nonzerostate && SpmvKeySame(&w->key, &key) && w->nodes == (PetscBool)(nnodes > 0));
  if (!same) PetscCall(SpmvSweepsDrop(w));
  had             = SpmvServingBuilt(&w->serving);
  current         = w->serving.current;
  w->reason       = NULL;
  w->nodes        = (PetscBool)(nnodes > 0);
  w->nonzerostate = A->nonzerostate;
  w->key          = key;
  event           = same && !SpmvServingAnew(&w->serving) ? SPMV_Update : SPMV_Build; /* what was refused is not refused anew */
  PetscCall(PetscLogEventBegin(event, A, 0, 0, 0));
  PetscCall(PetscTime(&start));
  PetscCall(SpmvSweepsBuild(w, &csr, &shadow->settings.request, (PetscBool)(shadow->settings.build_after > 0), nnodes, nodes));
  PetscCall(PetscTime(&end));
  w->spent.setup += end - start;
  PetscCall(PetscLogEventEnd(event, A, 0, 0, 0));
  if (had && SpmvServingBuilt(&w->serving) == had) shadow->seq.counts.refreshes += !current;
  else if (!same || w->serving.triangles) {
    w->build_seconds = end - start;
    shadow->seq.choices++;
    if (w->serving.triangles) shadow->seq.counts.builds++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before each sweep: builds or refreshes the triangles if it is time to. Unless they are current, AIJ's kernel is to serve */
static PetscErrorCode MatSpmvUpdateSweeps(Mat A, SpmvShadow *shadow, PetscReal omega, PetscReal shift, PetscBool *current)
{
  SpmvSweeps     *w       = &shadow->seq.sweeps;
  const PetscBool bynodes = (PetscBool)(omega == 1 && shift == 0 && !w->noinodes);
  const PetscBool same    = (PetscBool)(w->owner == A && w->state == ((PetscObject)A)->state && !w->touched);

  PetscFunctionBegin;
  *current = PETSC_FALSE;
  if (!shadow->settings.sor) {
    PetscCall(SpmvSweepsDrop(w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!same || w->omega != omega || w->shift != shift || w->bynodes != bynodes || w->floats != shadow->settings.sorfloats) {
    SpmvDueChanged(&w->due);
    w->serving.current = w->touched = PETSC_FALSE;
    w->reason                       = NULL;
    w->owner                        = A;
    w->state                        = ((PetscObject)A)->state;
    w->omega                        = omega;
    w->shift                        = shift;
    w->bynodes                      = bynodes;
    w->floats                       = shadow->settings.sorfloats;
    PetscCall(MatSpmvLabel(A, shadow));
  }
  if (SpmvServingAnew(&w->serving) ||
      (!w->serving.current && !w->reason && SpmvDueForPasses(&w->due, shadow->settings.build_after, SPMV_SWEEPS_GAIN)))
    PetscCall(MatSpmvRenewSweeps(A, shadow));
  w->due.since++;
  w->serving.passes++;
  *current = w->serving.current;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a call of MatSOR() asks for */
typedef struct {
  PetscBool          forward, backward, zero;
  PetscBool          eisenstat; /* takes the place of all the others */
  PetscInt           its;
  PetscScalar        keep; /* 1 - omega */
  const PetscScalar *b;
  PetscScalar       *x, *t, *u; /* t: what the backward pass goes on from; u: U x, or L x */
} SpmvSweep;

/*
  Forwards and backwards. After the backward pass U x is known, which the next forward pass needs: after the first iteration each
  takes two passes instead of PETSc's three
*/
static void SpmvSweepBoth(const SpmvTriangles *t, const SpmvSweep *s)
{
  if (!s->zero) t->passes->product(t, SPMV_UPPER, s->x, s->u);
  for (PetscInt it = 0; it < s->its; it++) {
    const PetscBool zero = (PetscBool)(s->zero && it == 0), last = (PetscBool)(it == s->its - 1);
    SpmvPass        forward = {.in = s->b, .scale = PETSC_TRUE, .x = s->x}, backward = {.in = s->x, .keep = s->keep, .x = s->x};

    if (!zero) {
      forward.keep   = s->keep;
      forward.minus  = s->u;
      forward.before = s->t;
      backward.in    = s->t;
    }
    if (!last) backward.product = s->u;
    t->passes->pass(t, SPMV_LOWER, &forward);
    t->passes->pass(t, SPMV_UPPER, &backward);
  }
}

/* In one direction; the product with the other triangle comes first, as x is in it all of the time */
static void SpmvSweepOne(const SpmvTriangles *t, const SpmvSweep *s)
{
  const SpmvTriangleSide side = s->forward ? SPMV_LOWER : SPMV_UPPER, other = s->forward ? SPMV_UPPER : SPMV_LOWER;

  for (PetscInt it = 0; it < s->its; it++) {
    SpmvPass pass = {.in = s->b, .scale = PETSC_TRUE, .x = s->x};

    if (!s->zero || it) {
      t->passes->product(t, other, s->x, s->u);
      pass.keep  = s->keep;
      pass.minus = s->u;
    }
    t->passes->pass(t, side, &pass);
  }
}

/*
  x <- (L + E)^-1 A (E + U)^-1 b with E = D / omega, D the diagonal or the diagonal blocks, as Eisenstat (SIAM J. Sci. Stat.
  Comput. 2, 1981) has it: (E + U) x = b, then (E + L) t = b - (2 E - D) x and x + t. Rows are scaled by S = E^-1, and so
  S (2 E - D) x = (2 - omega) x
*/
static void SpmvSweepEisenstat(const SpmvTriangles *t, const SpmvSweep *s)
{
  const SpmvPass    first = {.in = s->b, .scale = PETSC_TRUE, .x = s->x};
  const SpmvPass    last  = {.in = s->b, .scale = PETSC_TRUE, .x = s->t, .minus = s->u};
  const PetscScalar part  = 1 + s->keep; /* 2 - omega */

  t->passes->pass(t, SPMV_UPPER, &first);
  for (PetscInt i = 0; i < t->n; i++) s->u[i] = part * s->x[i];
  t->passes->pass(t, SPMV_LOWER, &last);
  for (PetscInt i = 0; i < t->n; i++) s->x[i] += s->t[i];
}

/* As many flops as PETSc logs: an entry counts one where a pass goes through half of the matrix */
static PetscErrorCode SpmvSweepLogFlops(const SpmvSweep *s, PetscBool nodes, PetscInt n, PetscInt nz)
{
  const PetscLogDouble first = s->forward && s->backward ? 2 : 1, other = s->forward && s->backward ? 3 : 2;

  PetscFunctionBegin;
  if (s->eisenstat) PetscCall(PetscLogFlops(2.0 * nz + (nodes ? 1.0 : 6.0) * n));
  else PetscCall(PetscLogFlops(nz * (s->zero ? first + other * (s->its - 1) : other * s->its)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvSweepRun(SpmvShadow *shadow, SpmvSweep *s, Vec b, Vec x)
{
  const SpmvTriangles *t    = shadow->seq.sweeps.serving.triangles;
  PetscScalar         *work = NULL;

  PetscFunctionBegin;
  if (!s->zero || s->its > 1 || s->eisenstat) PetscCall(SpmvShadowGetWork(shadow, 2 * (size_t)t->n, &work));
  s->t = work;
  s->u = work ? work + t->n : NULL;
  PetscCall(VecGetArrayRead(b, &s->b));
  PetscCall((s->zero ? VecGetArrayWrite : VecGetArray)(x, &s->x));
  (s->eisenstat ? SpmvSweepEisenstat : s->forward && s->backward ? SpmvSweepBoth : SpmvSweepOne)(t, s);
  PetscCall(VecRestoreArrayRead(b, &s->b));
  PetscCall((s->zero ? VecRestoreArrayWrite : VecRestoreArray)(x, &s->x));
  PetscCall(SpmvSweepLogFlops(s, shadow->seq.sweeps.nodes, t->n, shadow->seq.sweeps.key.nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  y <- D x, D the diagonal blocks of PETSc's inodes: PCEISENSTAT calls it after sweeps. PETSc's operation reads blocks that its
  own MatSOR() has made, which it may not have been called for
*/
static PetscErrorCode MatMultDiagonalBlock_SeqSpmv(Mat A, Vec x, Vec y)
{
  SPMV_TEMPORARY PetscInt    *nodes = NULL, *diagonal = NULL;
  SPMV_TEMPORARY PetscScalar *node = NULL;
  const PetscScalar          *xa;
  PetscScalar                *ya;
  PetscInt                    nnodes, row = 0;
  SpmvCSR                     csr;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetRows(A, &csr));
  PetscCall(MatSpmvGetNodes(A, &nnodes, &nodes));
  PetscCall(PetscMalloc1(csr.m, &diagonal));
  PetscCall(PetscMalloc1(csr.m, &node));
  PetscCheck(SpmvRowsDiagonal(&csr, diagonal), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The matrix lacks a diagonal entry; set all of them, zero or not");
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(PetscArraycpy(node, xa, csr.m)); /* y may be x */
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(VecGetArray(y, &ya));
  for (PetscInt k = 0; k < nnodes; row += nodes[k++]) {
    for (PetscInt p = 0; p < nodes[k]; p++) {
      PetscScalar sum = 0;

      for (PetscInt q = 0; q < nodes[k]; q++) sum += csr.a[diagonal[row + p] - p + q] * node[row + q];
      ya[row + p] = sum;
    }
  }
  PetscCall(VecRestoreArray(y, &ya));
  PetscCall(PetscLogFlops(2.0 * csr.m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode (*SpmvDiagonalBlockOfAIJ)(Mat, Vec, Vec); /* PETSc's */

/* Takes the place of PETSc's operation, which comes with inodes */
static void MatSpmvTakeDiagonalBlock(Mat A)
{
  if (!A->ops->multdiagonalblock || A->ops->multdiagonalblock == MatMultDiagonalBlock_SeqSpmv) return;
  SpmvDiagonalBlockOfAIJ    = A->ops->multdiagonalblock;
  A->ops->multdiagonalblock = MatMultDiagonalBlock_SeqSpmv;
}

/* For a Mat that becomes plain AIJ */
void MatSpmvGiveBackDiagonalBlock(Mat A)
{
  if (A->ops->multdiagonalblock == MatMultDiagonalBlock_SeqSpmv) A->ops->multdiagonalblock = SpmvDiagonalBlockOfAIJ;
}

PetscErrorCode MatSOR_SeqSpmv(Mat A, Vec b, PetscReal omega, MatSORType type, PetscReal shift, PetscInt its, PetscInt lits, Vec x)
{
  SpmvShadow *shadow;
  SpmvSweep   s       = {.forward   = (PetscBool)((type & SOR_FORWARD) != 0),
                         .backward  = (PetscBool)((type & SOR_BACKWARD) != 0),
                         .zero      = (PetscBool)((type & SOR_ZERO_INITIAL_GUESS) != 0),
                         .eisenstat = (PetscBool)((type & SOR_EISENSTAT) != 0),
                         .keep      = 1 - omega};
  PetscBool   current = PETSC_FALSE, ours = (PetscBool)(s.eisenstat ? shift == 0 : s.forward || s.backward);

  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  PetscCall(MatSpmvEnsureSettings(A));
  MatSpmvTakeDiagonalBlock(A);
  if (ours && !(type & (SOR_APPLY_UPPER | SOR_APPLY_LOWER)) && b != x)
    PetscCall(MatSpmvUpdateSweeps(A, shadow, omega, shift, &current));
  PetscCall(PetscTime(&start));
  if (current) {
    s.its = shadow->seq.sweeps.nodes ? its : its * lits; /* PETSc's sweeps by inodes take no notice of lits */
    PetscCall(SpmvSweepRun(shadow, &s, b, x));
    shadow->seq.counts.sweeps++;
    shadow->seq.counts.floats += SpmvTrianglesAreFloats(shadow->seq.sweeps.serving.triangles);
  } else {
    PetscCall((*SpmvParentSeq.ops.sor)(A, b, omega, type, shift, its, lits, x));
    shadow->seq.counts.sweepsaij++;
  }
  PetscCall(PetscTime(&end));
  SpmvSpentCall(&shadow->seq.sweeps.spent, current, PETSC_TRUE, end - start);
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSOR_MPISpmv(Mat A, Vec b, PetscReal omega, MatSORType type, PetscReal shift, PetscInt its, PetscInt lits, Vec x)
{
  SpmvBlocks blocks;

  PetscFunctionBegin;
  PetscCall(MatSpmvEnsureSettings(A));
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  PetscCall((*SpmvParentMPI.ops.sor)(A, b, omega, type, shift, its, lits, x));
  PetscCall(MatSpmvViewBuilt(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
