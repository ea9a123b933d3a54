/*
  matview.c - what MatView() adds under ::ascii_info_detail, and -mat_spmv_view after each build
*/
#include "spmvmat.h"

/* The bytes, by array, and the fill */
static PetscErrorCode SpmvShadowLineBytes(const SpmvShadow *s, char line[], size_t size)
{
  SpmvArray arrays[2 * SPMV_ARRAY_MAX];
  PetscInt  n;
  double    nz = PetscMax(1, s->seq.key.nz), values = 0;

  PetscFunctionBegin;
  if (!SpmvBuiltIsThere(&s->seq.built)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvBuiltArrays(&s->seq.built, &n, arrays));
  PetscCall(SpmvAppend(line, size, "bytes per nonzero %.2f:", (double)s->seq.built.read / nz));
  for (PetscInt k = 0; k < n; k++) {
    if (!arrays[k].aside)
      PetscCall(SpmvAppend(line, size, " %s %.2f", arrays[k].name, (double)arrays[k].count * (double)arrays[k].size / nz));
    if (arrays[k].is_values) values += (double)arrays[k].count;
  }
  if (s->seq.key.nz) PetscCall(SpmvAppend(line, size, ", fill %.2f %%", 100 * (values / nz - 1)));
  for (PetscInt k = 0; k < n; k++) {
    if (arrays[k].aside)
      PetscCall(SpmvAppend(line, size, ", kept for new values: %s %.2f", arrays[k].name,
                           (double)arrays[k].count * (double)arrays[k].size / nz));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the build cost, and what came of it */
static PetscErrorCode SpmvShadowLineCounts(const SpmvShadow *shadow, char line[], size_t size)
{
  const SpmvSeq  *s     = &shadow->seq;
  const PetscBool built = SpmvBuiltIsThere(&s->built);

  PetscFunctionBegin;
  if (built) PetscCall(SpmvAppend(line, size, "built in %.3g s", (double)s->build_seconds));
  if (built && s->aij_seconds > 0)
    PetscCall(SpmvAppend(line, size, " = %.1f products of AIJ", (double)(s->build_seconds / s->aij_seconds)));
  if (s->own_seconds > 0) PetscCall(SpmvAppend(line, size, " = %.1f products", (double)(s->build_seconds / s->own_seconds)));
  PetscCall(SpmvAppend(line, size,
                       "%sbuilds %" PetscInt64_FMT ", refreshes %" PetscInt64_FMT ", products %" PetscInt64_FMT
                       ", by AIJ's kernel %" PetscInt64_FMT,
                       built ? "; " : "", s->counts.builds, s->counts.refreshes, s->counts.products,
                       s->counts.deferred + s->counts.fallbacks + s->counts.aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was chosen and why, if there was a choice; synchronized printing is on */
static PetscErrorCode SpmvShadowViewChoice(const SpmvShadow *s, const char which[], PetscMPIInt rank, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (!s->seq.choice.known || s->seq.choice.from == SPMV_FROM_ASKED) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < SPMV_CHOICE_LINES; k++) {
    char line[1024] = "";

    PetscCall(SpmvChoiceText(&s->seq.choice, k, line, sizeof(line)));
    if (line[0])
      PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d]   %s%s: %s\n", rank, k ? "next best" : "chosen", which, line));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One storage that is up to date: its plan, bytes and counts, the lines of its format, and the choice; synchronized printing is on */
static PetscErrorCode SpmvShadowView(const SpmvShadow *s, const char which[], PetscMPIInt rank, PetscViewer viewer)
{
  PetscErrorCode (*const lines[])(const SpmvShadow *, char[], size_t) = {SpmvShadowPlan, SpmvShadowLineBytes,
                                                                         SpmvShadowLineCounts};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lines); k++) {
    char line[512] = "";

    PetscCall(lines[k](s, line, sizeof(line)));
    if (!k) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d] %s storage%s: %s\n", rank, s->type->name, which, line));
    else if (line[0]) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d]   %s\n", rank, line));
  }
  for (PetscInt k = 0; k < 2 * SPMV_LINE_MAX + 1; k++) {
    char line[1024] = "";

    PetscCall(SpmvBuiltDescribe(&s->seq.built, k, line, sizeof(line)));
    if (line[0]) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d]   %s\n", rank, line));
  }
  PetscCall(SpmvShadowViewChoice(s, "", rank, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storages of A, or no more than what was chosen for them, each process in turn. Collective */
static PetscErrorCode MatSpmvView(Mat A, PetscBool choices, PetscViewer viewer)
{
  const char *const which[] = {"", " of the diagonal block", " of the off-diagonal block"};
  PetscMPIInt       rank;
  Mat               blocks[2];
  PetscBool         parallel;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, blocks, &parallel));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  for (int k = 0; k < 2; k++) {
    const char *block = which[parallel ? 1 + k : 0];
    SpmvShadow *s;

    if (!blocks[k]) continue;
    PetscCall(MatSpmvGetShadow(blocks[k], &s));
    if (choices) PetscCall(SpmvShadowViewChoice(s, block, rank, viewer));
    else if (s->seq.current && !MatSpmvChanged(blocks[k], s)) PetscCall(SpmvShadowView(s, block, rank, viewer));
    else {
      PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d] %s storage%s %s; products by AIJ's kernel %" PetscInt64_FMT "\n",
                                                   rank, s->type->name, block, s->seq.built.format ? "out of date" : "not built",
                                                   s->seq.counts.deferred));
    }
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

/* How many times it was settled what serves the products of A's blocks on this process */
static PetscErrorCode MatSpmvSettled(Mat A, PetscInt64 *settled)
{
  Mat       blocks[2];
  PetscBool parallel;

  PetscFunctionBegin;
  *settled = 0;
  PetscCall(MatSpmvGetBlocks(A, blocks, &parallel));
  for (int k = 0; k < 2; k++) {
    if (blocks[k] && blocks[k]->spptr) *settled += ((SpmvShadow *)blocks[k]->spptr)->seq.settled;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_spmv_view and -mat_spmv_tune_view: print if a storage was built since the last time. Collective if an option is set, free if none is */
PetscErrorCode MatSpmvViewBuilt(Mat A)
{
  SpmvShadow *s;
  PetscInt64  settled;
  int         local, any;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  if (PetscLikely(!s->settings.viewer && !s->settings.tuneview)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvSettled(A, &settled));
  local     = settled != s->viewed;
  s->viewed = settled;
  PetscCallMPI(MPI_Allreduce(&local, &any, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)A)));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->settings.tuneview) PetscCall(MatSpmvView(A, PETSC_TRUE, PETSC_VIEWER_STDOUT_(PetscObjectComm((PetscObject)A))));
  if (!s->settings.viewer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerPushFormat(s->settings.viewer, s->settings.viewformat));
  PetscCall(MatSpmvView(A, PETSC_FALSE, s->settings.viewer));
  PetscCall(PetscViewerPopFormat(s->settings.viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
