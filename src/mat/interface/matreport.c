/*
  matreport.c - what a matrix tells for the end of a run: which one it is, and what was spent on it

  A shadow knows which matrix it belongs to by a label, made anew when the matrix has changed: when it is destroyed, or PETSc ends
  before it is, there may be no Mat to ask.
*/
#include "spmvmat.h"

typedef struct _n_Line {
  struct _n_Line *next;
  char            text[640];
} Line;

static SpmvShadow *Live;  /* all shadows that are not destroyed */
static Line       *Lines; /* to be said at the end */

void SpmvShadowBorn(SpmvShadow *s)
{
  s->label.level = SPMV_LEVEL_NONE;
  s->next        = Live;
  if (Live) Live->before = s;
  Live = s;
}

void SpmvShadowGone(SpmvShadow *s)
{
  if (s->before) s->before->next = s->next;
  else if (Live == s) Live = s->next;
  if (s->next) s->next->before = s->before;
}

/* Whose storage it is. A block has all but its sizes from the parallel Mat */
PetscErrorCode MatSpmvLabel(Mat A, SpmvShadow *s)
{
  SpmvLabel  *l    = &s->label;
  const char *name = ((PetscObject)A)->name, *prefix = ((PetscObject)A)->prefix;
  MatInfo     info;

  PetscFunctionBegin;
  l->m = A->rmap->n;
  l->n = A->cmap->n;
  if (s->parent == &SpmvParentSeq) {
    PetscCall((*SpmvParentSeq.ops.getinfo)(A, MAT_LOCAL, &info));
    l->nonzeros = (PetscInt64)info.nz_used;
  }
  if (s->seq.is_block) PetscFunctionReturn(PETSC_SUCCESS);
  l->M    = A->rmap->N;
  l->N    = A->cmap->N;
  l->part = SPMV_PART_WHOLE;
  PetscCall(PetscArrayzero(l->name, sizeof(l->name)));
  PetscCall(PetscArrayzero(l->prefix, sizeof(l->prefix)));
  PetscCall(PetscStrncpy(l->type, s->type->name, sizeof(l->type)));
  if (name && strncmp(name, "Mat_0x", 6))
    PetscCall(PetscStrncpy(l->name, name, sizeof(l->name))); /* not one that PETSc made up */
  if (prefix) PetscCall(PetscStrncpy(l->prefix, prefix, sizeof(l->prefix)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The label of block k of the parallel Mat that s is of */
void SpmvLabelBlock(const SpmvShadow *s, int k, SpmvShadow *block)
{
  const SpmvLabel own = block->label;

  block->label          = s->label;
  block->label.part     = k ? SPMV_PART_OFFDIAGONAL : SPMV_PART_DIAGONAL;
  block->label.m        = own.m;
  block->label.n        = own.n;
  block->label.nonzeros = own.nonzeros;
}

/* A and its blocks are on a level of multigrid */
static PetscErrorCode MatSpmvSetLevel(Mat A, PetscInt64 level)
{
  SpmvShadow *s;
  SpmvBlocks  blocks;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  s->label.level = level;
  for (int k = 0; k < blocks.n; k++) blocks.shadow[k]->label.level = level;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product P^T A P, R A R^T or R A P is what multigrid makes a coarser level of: one more than A's, which is 0 if it has none */
PetscErrorCode MatSpmvCoarsened(Mat C)
{
  Mat               A = NULL;
  const SpmvFormat *format;
  SpmvShadow       *s, *coarse;

  PetscFunctionBegin;
  if (!C->product) PetscFunctionReturn(PETSC_SUCCESS);
  if (C->product->type == MATPRODUCT_PtAP || C->product->type == MATPRODUCT_RARt) A = C->product->A;
  else if (C->product->type == MATPRODUCT_ABC) A = C->product->B;
  if (!A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  if (!format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(MatSpmvGetShadow(C, &coarse));
  if (s->label.level == SPMV_LEVEL_NONE) PetscCall(MatSpmvSetLevel(A, 0));
  if (coarse->label.level != s->label.level + 1) PetscCall(MatSpmvSetLevel(C, s->label.level + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B is A on fewer processes, or a copy */
PetscErrorCode MatSpmvInheritLevel(Mat A, Mat B)
{
  const SpmvFormat *fa, *fb;
  SpmvShadow       *s;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &fa));
  PetscCall(SpmvFormatFind(((PetscObject)B)->type_name, &fb));
  if (!fa || !fb) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetShadow(A, &s));
  if (s->label.level != SPMV_LEVEL_NONE) PetscCall(MatSpmvSetLevel(B, s->label.level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The largest size of square blocks that fill a matrix and are full, 1 if there are none. A dense matrix is made of blocks of any
  size, which says nothing
*/
PetscInt SpmvRowsBlock(const SpmvCSR *csr)
{
  const PetscInt *i = csr->i, *j = csr->j;

  if (!csr->m || i[csr->m] > (PetscInt64)csr->m * csr->n / 2) return 1;
  for (PetscInt b = 8; b > 1; b--) {
    PetscBool full = (PetscBool)(csr->m % b == 0 && csr->n % b == 0);

    for (PetscInt r = 0; r < csr->m && full; r++) {
      const PetscInt first = r - r % b, n = i[r + 1] - i[r];

      full = (PetscBool)(n % b == 0 && n == i[first + 1] - i[first]);
      for (PetscInt k = 0; k < n && full; k++)
        full = (PetscBool)(j[i[r] + k] == j[i[first] + k] && j[i[r] + k] % b == k % b &&
                           (k % b == 0 || j[i[r] + k] == j[i[r] + k - 1] + 1));
    }
    if (full) return b;
  }
  return 1;
}

/* The format that serves products and its plan, "bccoo block_height=3 ..." */
static PetscErrorCode SpmvShadowBy(const SpmvShadow *s, char by[], size_t size)
{
  char plan[256];

  PetscFunctionBegin;
  by[0] = 0;
  if (!s->seq.built.format) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvShadowPlan(s, plan, sizeof(plan)));
  if (!strncmp(plan, "format=", 7)) PetscCall(PetscSNPrintf(by, size, "%s", plan + 7));
  else PetscCall(PetscSNPrintf(by, size, "%s %s", s->seq.built.format->name, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was spent on a sequential matrix or a block */
static PetscErrorCode SpmvShadowSummary(const SpmvShadow *shadow)
{
  const SpmvSeq      *s = &shadow->seq;
  const SpmvSweeps   *w = &s->sweeps;
  const SpmvSettings *q = &shadow->settings;
  SpmvUse             u = {.work = SPMV_WORK_PRODUCTS, .matrices = 1, .label = shadow->label};

  PetscFunctionBegin;
  if (!SpmvSummaryWanted()) PetscFunctionReturn(PETSC_SUCCESS);
  u.spent          = s->spent;
  u.bytes          = s->built.own;
  u.most           = SpmvDueMost(&s->due);
  u.build_after    = q->build_after;
  u.products       = q->build_after;
  u.declared_block = s->declared_block;
  u.found_block    = s->found_block;
  u.threads        = q->request.threads;
  u.chosen         = (PetscBool)(shadow->type == &SpmvFormat_spmv);
  u.measured       = (PetscBool)(q->request.kind > SPMV_TUNE_ESTIMATE);
  u.symmetric      = (PetscBool)(s->declared != SPMV_DECLARED_NOTHING);
  u.floats         = s->rounded;
  if (s->built.format == &SpmvFormat_aij) u.reason = "it is likely to be the fastest";
  PetscCall(SpmvShadowBy(shadow, u.by, sizeof(u.by)));
  PetscCall(SpmvSummaryAdd(&u));
  u.work        = SPMV_WORK_SWEEPS;
  u.spent       = w->spent;
  u.bytes       = w->bytes;
  u.most        = SpmvDueMost(&w->due);
  u.build_after = SpmvDuePart(q->build_after, SPMV_SWEEPS_GAIN);
  u.floats      = (PetscBool)(w->serving.triangles && SpmvTrianglesAreFloats(w->serving.triangles));
  u.reason      = q->sor ? w->reason : "-mat_spmv_sor is no";
  PetscCall(PetscSNPrintf(u.by, sizeof(u.by), "triangles by %s%s", w->serving.triangles ? w->serving.triangles->shape->name : "-",
                          u.floats ? " as floats" : ""));
  PetscCall(SpmvSummaryAdd(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why nothing was made for work that some calls asked for */
PetscErrorCode SpmvDueWhy(const SpmvDue *due, PetscInt64 calls, PetscInt needed, const char work[], char why[], size_t size)
{
  const PetscInt64 most = SpmvDueMost(due);

  PetscFunctionBegin;
  if (most < calls)
    PetscCall(SpmvAppend(why, size, "%" PetscInt64_FMT " %s between two changes of its values at most, of the %" PetscInt_FMT,
                         most, work, needed));
  else PetscCall(SpmvAppend(why, size, "%" PetscInt64_FMT " %s of the %" PetscInt_FMT, most, work, needed));
  PetscCall(SpmvAppend(why, size, " that a build waits for (-mat_spmv_build_after)"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For -mat_spmv_view, which printed nothing then: why nothing was built; empty: something was */
static PetscErrorCode SpmvShadowWhy(const SpmvShadow *s, char why[], size_t size)
{
  const SpmvCounts *c     = &s->seq.counts;
  const PetscInt    after = s->settings.build_after, sweeps = SpmvDuePart(after, SPMV_SWEEPS_GAIN);

  PetscFunctionBegin;
  why[0] = 0;
  if (s->seq.choices) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->deferred) PetscCall(SpmvDueWhy(&s->seq.due, c->deferred, after, "products", why, size));
  if (c->deferred && c->sweepsaij) PetscCall(SpmvAppend(why, size, "; "));
  if (c->sweepsaij && !s->settings.sor) PetscCall(SpmvAppend(why, size, "its sweeps are PETSc's, as -mat_spmv_sor is no"));
  else if (c->sweepsaij) PetscCall(SpmvDueWhy(&s->seq.sweeps.due, c->sweepsaij, sweeps, "sweeps", why, size));
  if (!why[0]) PetscCall(SpmvAppend(why, size, "no product and no sweep was asked for"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps a line that is to be said at the end: that nothing was built, and why. What is true of several is said once */
PetscErrorCode SpmvNothingBuilt(const SpmvLabel *l, const char why[])
{
  Line **at = &Lines;
  char   label[256], text[sizeof(Lines->text)];

  PetscFunctionBegin;
  PetscCall(SpmvLabelText(l, label, sizeof(label)));
  PetscCall(PetscSNPrintf(text, sizeof(text), "nothing was built for the %s: %s", label, why));
  while (*at && strcmp((*at)->text, text)) at = &(*at)->next;
  if (*at) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(at));
  PetscCall(PetscStrncpy((*at)->text, text, sizeof((*at)->text)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a shadow is destroyed, or PETSc ends: what was spent on a sequential matrix or a block, and why nothing was built for
   it */
PetscErrorCode SpmvShadowEnds(const SpmvShadow *s)
{
  char why[256];

  PetscFunctionBegin;
  if (s->parent != &SpmvParentSeq) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvShadowSummary(s));
  if (!s->settings.why || !s->label.type[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvShadowWhy(s, why, sizeof(why)));
  if (why[0]) PetscCall(SpmvNothingBuilt(&s->label, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When PETSc ends: matrices that nobody destroyed end as well, and what was kept is said, by the first process */
PetscErrorCode SpmvLiveFinalize(void)
{
  PetscFunctionBegin;
  for (SpmvShadow *s = Live; s; s = s->next) {
    PetscCall(SpmvShadowEnds(s));
    SpmvCountsAdd(&SpmvTotals, &s->seq.counts); /* Python destroys its matrices after PETSc has ended, if at all */
  }
  Live = NULL;
  for (Line *line = Lines, *next; line; line = next) {
    next = line->next;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "petscspmv: %s\n", line->text));
    PetscCall(PetscFree(line));
  }
  Lines = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
