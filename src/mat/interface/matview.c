/*
  matview.c - what MatView() adds under ::ascii_info_detail, and -mat_spmv_view after each build
*/
#include "spmvmat.h"

/* The bytes, by array, and the fill */
static PetscErrorCode SpmvShadowLineBytes(const SpmvShadow *s, char line[], size_t size)
{
  SpmvArray      arrays[SPMV_ARRAY_MAX];
  PetscInt       n;
  PetscLogDouble bytes;
  double         nz = PetscMax(1, s->key.nz), values = 0;

  PetscFunctionBegin;
  PetscCall(SpmvShadowBytes(s, PETSC_FALSE, &bytes));
  PetscCall(s->format->arrays(s->storage, &n, arrays));
  PetscCall(SpmvAppend(line, size, "bytes per nonzero %.2f:", (double)bytes / nz));
  for (PetscInt k = 0; k < n; k++) {
    if (!arrays[k].aside) PetscCall(SpmvAppend(line, size, " %s %.2f", arrays[k].name, (double)arrays[k].count * (double)arrays[k].size / nz));
    if (arrays[k].is_values) values += (double)arrays[k].count;
  }
  if (s->key.nz) PetscCall(SpmvAppend(line, size, ", fill %.2f %%", 100 * (values / nz - 1)));
  for (PetscInt k = 0; k < n; k++) {
    if (arrays[k].aside) PetscCall(SpmvAppend(line, size, ", kept for new values: %s %.2f", arrays[k].name, (double)arrays[k].count * (double)arrays[k].size / nz));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the build cost, and what came of it */
static PetscErrorCode SpmvShadowLineCounts(const SpmvShadow *s, char line[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(SpmvAppend(line, size, "built in %.3g s", (double)s->build_seconds));
  if (s->aij_seconds > 0) PetscCall(SpmvAppend(line, size, " = %.1f products of AIJ", (double)(s->build_seconds / s->aij_seconds)));
  if (s->own_seconds > 0) PetscCall(SpmvAppend(line, size, " = %.1f products", (double)(s->build_seconds / s->own_seconds)));
  PetscCall(SpmvAppend(line, size, "; builds %" PetscInt64_FMT ", refreshes %" PetscInt64_FMT ", products %" PetscInt64_FMT ", by AIJ's kernel %" PetscInt64_FMT, s->counts.builds, s->counts.refreshes, s->counts.products, s->counts.deferred + s->counts.fallbacks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One storage, three lines and those of its format; synchronized printing is on */
static PetscErrorCode SpmvShadowView(const SpmvShadow *s, const char which[], PetscMPIInt rank, PetscViewer viewer)
{
  PetscErrorCode (*const lines[])(const SpmvShadow *, char[], size_t) = {SpmvShadowPlan, SpmvShadowLineBytes, SpmvShadowLineCounts};

  PetscFunctionBegin;
  if (!s->storage) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d] %s storage%s not built; products by AIJ's kernel %" PetscInt64_FMT "\n", rank, s->format->name, which, s->counts.deferred));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lines); k++) {
    char line[512] = "";

    PetscCall(lines[k](s, line, sizeof(line)));
    if (k) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d]   %s\n", rank, line));
    else PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d] %s storage%s: %s\n", rank, s->format->name, which, line));
  }
  for (PetscInt k = 0; s->format->describe && k < SPMV_LINE_MAX; k++) {
    char line[1024] = "";

    PetscCall(s->format->describe(s->storage, k, line, sizeof(line)));
    if (line[0]) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d]   %s\n", rank, line));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The storages of A, each process in turn. Collective */
static PetscErrorCode MatSpmvView(Mat A, PetscViewer viewer)
{
  PetscMPIInt rank;
  Mat         blocks[2];
  PetscBool   parallel;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, blocks, &parallel));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  for (int k = 0; k < 2; k++) {
    SpmvShadow *s;

    if (!blocks[k]) continue;
    PetscCall(MatSpmvGetShadow(blocks[k], &s));
    PetscCall(SpmvShadowView(s, !parallel ? "" : k ? " of the off-diagonal block"
                                                   : " of the diagonal block",
                             rank, viewer));
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
  if (ascii && format == PETSC_VIEWER_ASCII_INFO_DETAIL && !A->factortype) PetscCall(MatSpmvView(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_spmv_view: prints if a storage was built since the last time. Collective if the option is set, free if it is not */
PetscErrorCode MatSpmvViewBuilt(Mat A)
{
  SpmvShadow *s;
  SpmvCounts  counts;
  int         local, any;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  if (PetscLikely(!s->settings.viewer)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetCounts(A, &counts));
  local     = counts.builds != s->viewed;
  s->viewed = counts.builds;
  PetscCallMPI(MPI_Allreduce(&local, &any, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)A)));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerPushFormat(s->settings.viewer, s->settings.viewformat));
  PetscCall(MatSpmvView(A, s->settings.viewer));
  PetscCall(PetscViewerPopFormat(s->settings.viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
