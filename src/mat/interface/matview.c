/*
  matview.c - what MatView() adds under ::ascii_info_detail, and -mat_spmv_view after each build
*/
#include "spmvmat.h"
#include "../../host/values.h"

/* The bytes, by array, and the fill */
static PetscErrorCode SpmvShadowLineBytes(const SpmvShadow *s, char line[], size_t size)
{
  SpmvArray arrays[2 * SPMV_ARRAY_MAX];
  PetscInt  n, kept = 0;
  double    nz = PetscMax(1, s->seq.key.nz), values = 0;

  PetscFunctionBegin;
  if (!SpmvBuiltExists(&s->seq.built)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvBuiltArrays(&s->seq.built, &n, arrays));
  PetscCall(SpmvAppend(line, size, "bytes per nonzero %.2f:", (double)s->seq.built.read / nz));
  for (int aside = 0; aside < 2; aside++) {
    for (PetscInt k = 0; k < n; k++) {
      const double bytes = (double)arrays[k].count * (double)arrays[k].size;

      if ((int)arrays[k].aside != aside) continue;
      PetscCall(
        SpmvAppend(line, size, "%s %s %.2f", aside && !kept++ ? ", kept for new values:" : "", arrays[k].name, bytes / nz));
      if (arrays[k].is_values) values += (double)arrays[k].count;
    }
    if (!aside && values > 0) PetscCall(SpmvAppend(line, size, ", fill %.2f %%", 100 * (values / nz - 1)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the build cost, and what came of it */
static PetscErrorCode SpmvShadowLineCounts(const SpmvShadow *shadow, char line[], size_t size)
{
  const SpmvSeq  *s     = &shadow->seq;
  const PetscBool built = SpmvBuiltExists(&s->built);
  const double    setup = (double)(s->build_seconds + s->choose_seconds);

  PetscFunctionBegin;
  if (built)
    PetscCall(SpmvAppend(line, size, "set-up %.3g s (choosing %.3g, making it %.3g)", setup, (double)s->choose_seconds,
                         (double)s->build_seconds));
  if (built && s->spent.least[0] > 0)
    PetscCall(SpmvAppend(line, size, " = %.1f products of AIJ", setup / (double)s->spent.least[0]));
  if (built && s->spent.least[1] > 0) PetscCall(SpmvAppend(line, size, " = %.1f products", setup / (double)s->spent.least[1]));
  PetscCall(SpmvAppend(line, size,
                       "%sbuilds %" PetscInt64_FMT ", refreshes %" PetscInt64_FMT ", products %" PetscInt64_FMT
                       ", by AIJ's kernel %" PetscInt64_FMT,
                       built ? "; " : "", s->counts.builds, s->counts.refreshes, s->counts.products,
                       s->counts.deferred + s->counts.fallbacks + s->counts.aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What AIJ's kernel would take, and so what may be gained; for a storage of the host that is up to date, with rows as they
   come */
static PetscErrorCode MatSpmvViewGain(Mat A, const SpmvShadow *s, const char which[], PetscMPIInt rank, PetscViewer viewer)
{
  SPMV_TEMPORARY PetscScalar *a = NULL;
  const SpmvBuilt            *b = &s->seq.built;
  PetscBool                   good;
  SpmvReach                   reach = {0};
  SpmvOption                  o[2];
  SpmvCSR                     csr;

  PetscFunctionBegin;
  if (!b->storage || b->order || !s->seq.sorted || !s->seq.key.nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetRows(A, &csr));
  csr.declared = s->seq.declared;
  if (s->seq.rounded) PetscCall(SpmvRowsRound(&csr, &a, &good));
  PetscCall(SpmvEstimateGain(&csr, s->settings.request.isa, SpmvCandidateNumber(b->format), &b->plan, &reach, o));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer,
                                               "[%d]   aij%s: predicted %.3g s a product, so %.2f times faster is expected", rank,
                                               which, (double)o[0].predicted, (double)(o[0].predicted / o[1].predicted)));
  if (s->seq.spent.least[0] > 0)
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "; the least of %" PetscInt64_FMT " took %.3g s", s->seq.spent.calls[0],
                                                 (double)s->seq.spent.least[0]));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was chosen and why, if there was a choice; synchronized printing is on */
static PetscErrorCode SpmvShadowViewChoice(const SpmvShadow *s, const char which[], PetscMPIInt rank, PetscViewer viewer)
{
  static const char *const names[SPMV_CHOICE_LINES] = {"chosen", "next best", "considered", "left out"};

  PetscFunctionBegin;
  if (!s->seq.choice.known || s->seq.choice.from == SPMV_FROM_ASKED) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < SPMV_CHOICE_LINES; k++) {
    char line[1024] = "";

    PetscCall(SpmvChoiceText(&s->seq.choice, k, line, sizeof(line)));
    if (line[0]) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d]   %s%s: %s\n", rank, names[k], which, line));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A storage that is up to date: plan, bytes, counts, the lines of its format, and the choice; synchronized printing is on */
static PetscErrorCode SpmvShadowView(const SpmvShadow *s, const char which[], PetscMPIInt rank, PetscViewer viewer)
{
  char line[1024];

  PetscFunctionBegin;
  PetscCall(SpmvShadowPlan(s, line, sizeof(line)));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d] %s storage%s: %s\n", rank, s->type->name, which, line));
  for (PetscInt k = 0; k < 2 + 2 * SPMV_LINE_MAX + 1; k++) {
    line[0] = 0;
    if (k == 0) PetscCall(SpmvShadowLineBytes(s, line, sizeof(line)));
    else if (k == 1) PetscCall(SpmvShadowLineCounts(s, line, sizeof(line)));
    else PetscCall(SpmvBuiltDescribe(&s->seq.built, k - 2, line, sizeof(line)));
    if (line[0]) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d]   %s\n", rank, line));
  }
  PetscCall(MatSpmvUnused(s, line, sizeof(line)));
  if (line[0]) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d]   the device makes no use of%s\n", rank, line));
  PetscCall(SpmvShadowViewChoice(s, "", rank, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What serves MatSOR(), if it was called; synchronized printing is on */
static PetscErrorCode SpmvSweepsView(const SpmvShadow *s, const char which[], PetscMPIInt rank, PetscViewer viewer)
{
  const SpmvSweeps    *w         = &s->seq.sweeps;
  const SpmvTriangles *t         = w->serving.triangles;
  char                 line[512] = "";

  PetscFunctionBegin;
  if (!s->seq.counts.sweeps && !s->seq.counts.sweepsaij) PetscFunctionReturn(PETSC_SUCCESS);
  if (w->reason) PetscCall(SpmvAppend(line, sizeof(line), "by AIJ's kernel, as %s", w->reason));
  else if (!s->settings.sor) PetscCall(SpmvAppend(line, sizeof(line), "by AIJ's kernel, as -mat_spmv_sor is no"));
  else if (!t) PetscCall(SpmvAppend(line, sizeof(line), "not built"));
  else
    PetscCall(SpmvAppend(line, sizeof(line), "triangles by %s%s, bytes per nonzero %.2f, set-up %.3g s", t->shape->name,
                         SpmvTrianglesAreFloats(t) ? " as floats, " SPMV_VALUES_ERROR : "",
                         (double)w->read / PetscMax(1, w->key.nz), (double)w->build_seconds));
  PetscCall(PetscViewerASCIISynchronizedPrintf(
    viewer, "[%d]   sweeps%s: %s; sweeps %" PetscInt64_FMT ", by AIJ's kernel %" PetscInt64_FMT "\n", rank, which, line,
    s->seq.counts.sweeps, s->seq.counts.sweepsaij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whose storages they are, for what is printed while a program runs */
static PetscErrorCode MatSpmvViewLabel(Mat A, PetscViewer viewer)
{
  SpmvShadow *s;
  SpmvLabel   label;
  char        text[256];

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(MatSpmvLabel(A, s));
  label   = s->label;
  label.m = label.M;
  label.n = label.N;
  if (s->parent == &SpmvParentMPI) label.nonzeros = -1;
  PetscCall(SpmvLabelText(&label, text, sizeof(text)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "storages of the %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storages of A, or no more than what was chosen for them, each process in turn. Collective */
static PetscErrorCode MatSpmvView(Mat A, PetscBool choices, PetscViewer viewer)
{
  const char *const which[] = {"", " of the diagonal block", " of the off-diagonal block"};
  PetscMPIInt       rank;
  SpmvBlocks        blocks;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  for (int k = 0; k < blocks.n; k++) {
    const char       *block = which[blocks.n == 2 ? 1 + k : 0];
    const SpmvShadow *s     = blocks.shadow[k];

    if (choices) PetscCall(SpmvShadowViewChoice(s, block, rank, viewer));
    else if (s->seq.current && !MatSpmvChanged(blocks.mat[k], s)) PetscCall(SpmvShadowView(s, block, rank, viewer));
    else {
      const char *state = s->seq.built.format ? "out of date" : "not built";

      PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d] %s storage%s %s; products by AIJ's kernel %" PetscInt64_FMT "\n",
                                                   rank, s->type->name, block, state, s->seq.counts.deferred));
    }
    if (s->seq.current && !MatSpmvChanged(blocks.mat[k], s)) PetscCall(MatSpmvViewGain(blocks.mat[k], s, block, rank, viewer));
    if (!choices) PetscCall(SpmvSweepsView(s, block, rank, viewer));
  }
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What ops->view adds to its parent's */
PetscErrorCode MatSpmvViewDetail(Mat A, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (ascii && format == PETSC_VIEWER_ASCII_INFO_DETAIL && !A->factortype) PetscCall(MatSpmvView(A, PETSC_FALSE, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  -mat_spmv_view and -mat_spmv_tune_view: print if a storage was built since the last time. Collective if an option is set, free
  if none is
*/
PetscErrorCode MatSpmvViewBuilt(Mat A)
{
  SpmvShadow *s;
  SpmvBlocks  blocks;
  PetscInt64  choices = 0;
  PetscBool   ascii;
  int         local, any;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  if (PetscLikely(!s->settings.viewer && !s->settings.tuneview)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetBlocks(A, &blocks));
  for (int k = 0; k < blocks.n; k++) choices += blocks.shadow[k]->seq.choices;
  local     = choices != s->viewed;
  s->viewed = choices;
  PetscCallMPI(MPI_Allreduce(&local, &any, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)A)));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->settings.tuneview) {
    PetscViewer out = PETSC_VIEWER_STDOUT_(PetscObjectComm((PetscObject)A));

    PetscCall(MatSpmvViewLabel(A, out));
    PetscCall(MatSpmvView(A, PETSC_TRUE, out));
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)s->settings.viewer, PETSCVIEWERASCII, &ascii)); /* false without a viewer */
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerPushFormat(s->settings.viewer, s->settings.viewformat));
  PetscCall(MatSpmvViewLabel(A, s->settings.viewer));
  PetscCall(MatSpmvView(A, PETSC_FALSE, s->settings.viewer));
  PetscCall(PetscViewerPopFormat(s->settings.viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
