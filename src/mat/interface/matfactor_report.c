/*
  matfactor_report.c - what is said of a factor: its bytes, -mat_spmv_view, -spmv_summary
*/
#include "matfactor.h"

/* Bytes of all triangles, and of what their values are renewed by */
PetscErrorCode SpmvFactorBytes(const SpmvFactor *f, PetscLogDouble *bytes)
{
  PetscFunctionBegin;
  *bytes = 0;
  for (int k = 0; k < 2; k++) {
    const SpmvFactorRows *r = &f->part[k].rows;
    const PetscLogDouble  n = r->source.n;
    PetscLogDouble        read, own;

    if (!f->part[k].serving.triangles) continue;
    PetscCall(SpmvTrianglesBytes(f->part[k].serving.triangles, &read, &own));
    *bytes += own + sizeof(PetscInt) * (n + 1 + r->source.nnodes);
    if (r->from) *bytes += sizeof(PetscInt) * (2 * n + 1 + 2.0 * r->start[r->source.n]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For -spmv_summary: what was spent on solves */
static PetscErrorCode SpmvFactorSummary(const SpmvFactor *f)
{
  const SpmvTriangles *t = f->part[0].serving.triangles;
  SpmvUse              u = {.work        = SPMV_WORK_SOLVES,
                            .matrices    = 1,
                            .label       = f->label,
                            .spent       = f->spent,
                            .most        = SpmvDueMost(&f->due),
                            .build_after = SpmvDuePart(f->build_after, SPMV_SOLVES_GAIN),
                            .products    = f->build_after,
                            .reason      = f->solve ? f->reason : "-mat_spmv_solve is no"};

  PetscFunctionBegin;
  u.floats = (PetscBool)(t && SpmvTrianglesAreFloats(t));
  PetscCall(SpmvFactorBytes(f, &u.bytes));
  PetscCall(PetscSNPrintf(u.by, sizeof(u.by), "triangles by %s%s", t ? t->shape->name : "-", u.floats ? " as floats" : ""));
  PetscCall(SpmvSummaryAdd(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For -mat_spmv_view, which printed nothing then: why nothing was built, if solves were asked for */
static PetscErrorCode SpmvFactorWhy(const SpmvFactor *f)
{
  char why[256] = "";

  PetscFunctionBegin;
  if (!f->viewer || f->reason || f->spent.calls[1] || !f->spent.calls[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (!f->solve) PetscCall(SpmvAppend(why, sizeof(why), "-mat_spmv_solve is no"));
  else
    PetscCall(SpmvDueWhy(&f->due, f->spent.calls[0], SpmvDuePart(f->build_after, SPMV_SOLVES_GAIN), "solves", why, sizeof(why)));
  PetscCall(SpmvNothingBuilt(&f->label, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before what was built for a pattern is dropped: what was spent on solves, and why nothing was built for them */
PetscErrorCode SpmvFactorEnds(const SpmvFactor *f)
{
  PetscFunctionBegin;
  PetscCall(SpmvFactorSummary(f));
  PetscCall(SpmvFactorWhy(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What -mat_spmv_view prints after a build */
PetscErrorCode SpmvFactorView(Mat F, const SpmvFactor *f, PetscBool transpose, const char why[], PetscLogDouble seconds)
{
  const SpmvFactorPart *part = &f->part[transpose];
  const char           *name = F->factortype == MAT_FACTOR_ICC ? "ICC" : "ILU", *which = transpose ? ", transposed" : "";
  SpmvLabel             label = f->label;
  char                  of[256];
  PetscLogDouble        read, bytes;
  PetscBool             ascii;
  SpmvIsa               isa;

  PetscFunctionBegin;
  if (!f->viewer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)f->viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  label.part     = SPMV_PART_WHOLE;
  label.nonzeros = -1;
  PetscCall(SpmvLabelText(&label, of, sizeof(of)));
  PetscCall(PetscViewerPushFormat(f->viewer, f->viewformat));
  if (part->serving.current) {
    PetscCall(SpmvTrianglesBytes(part->serving.triangles, &read, &bytes));
    PetscCall(SpmvIsaGet(f->isa, &isa));
    PetscCall(PetscViewerASCIIPrintf(
      f->viewer,
      "petscspmv factor (%s%s) of the %s: shape=%s values=%s isa=%s, bytes %g, bytes per nonzero %.2f, set-up %.3g s\n", name,
      which, of, part->serving.shape->name,
      SpmvTrianglesAreFloats(part->serving.triangles) ? "float (" SPMV_VALUES_ERROR ")" : "scalar", SpmvIsaName(isa),
      (double)bytes, (double)(read / PetscMax(1, part->rows.nz)), (double)seconds));
  } else
    PetscCall(PetscViewerASCIIPrintf(f->viewer, "petscspmv factor (%s%s) of the %s: solves by PETSc's kernel, since %s\n", name,
                                     which, of, why));
  PetscCall(PetscViewerPopFormat(f->viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
