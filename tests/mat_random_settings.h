/*
  mat_random_settings.h - steps of mat_random.c that change how our matrices work, by options, which they read again
*/
#pragma once
#include "mat_random_solve.h"

/* Options and values of theirs, a space between two. What the user gave is left alone */
static struct {
  const char *name, *values;
  PetscBool   given;
} Knobs[] = {
  {"-mat_spmv_build_after", "0 0 0 1 2 3 4 5", PETSC_FALSE}, /* the first one is set when a sequence begins */
  {"-mat_spmv_threads", "1 2 3", PETSC_FALSE},
  {"-mat_spmv_order", "auto levels none", PETSC_FALSE},
  {"-mat_spmv_transpose", "shared copy", PETSC_FALSE},
  {"-mat_spmv_sor", "yes no yes", PETSC_FALSE},
  {"-mat_spmv_solve", "yes no yes", PETSC_FALSE},
  {"-mat_spmv_isa", "auto scalar", PETSC_FALSE},
  {"-mat_spmv_tune", "off estimate", PETSC_FALSE},
  {"-mat_spmv_expected_calls", "0 1 100", PETSC_FALSE},
  {"-mat_spmv_tune_formats", "bccoo cmrs csradaptive pmf sbccoo tpspmv aij bccoo,pmf,cmrs", PETSC_FALSE},
  {"-mat_bccoo_block_height", "0 1 2 3 4 8", PETSC_FALSE},
  {"-mat_bccoo_block_width", "0 1 2 3 4 8", PETSC_FALSE},
  {"-mat_bccoo_columns", "auto int32 difference", PETSC_FALSE},
  {"-mat_bccoo_tile", "0 8 64", PETSC_FALSE},
  {"-mat_bccoo_slices", "1 2 4", PETSC_FALSE},
  {"-mat_bccoo_bunch", "0 1 8", PETSC_FALSE},
  {"-mat_bccoo_values", "auto plain", PETSC_FALSE}, /* others would refuse blocks */
  {"-mat_cmrs_height", "0 1 4 5 8 16", PETSC_FALSE},
  {"-mat_csradaptive_nnz_per_wg", "8 64 2048", PETSC_FALSE},
  {"-mat_csradaptive_num_rows_stream", "1 2 64", PETSC_FALSE},
  {"-mat_pmf_partition", "pmf nnz rows diagonal", PETSC_FALSE},
  {"-mat_pmf_window", "8 64 4096", PETSC_FALSE},
  {"-mat_pmf_pieces", "auto none", PETSC_FALSE},
  {"-mat_pmf_values", "auto plain coded float", PETSC_FALSE},
  {"-mat_sbccoo_block", "0 1 2 3 4 5 6 7 8", PETSC_FALSE},
  {"-mat_sbccoo_pairs", "found equal near near16", PETSC_FALSE},
  {"-mat_sbccoo_exact", "yes no", PETSC_FALSE}, /* the same while nobody declares anything: DoDeclared() */
  {"-mat_tpspmv_tile", "0 2 16 1024", PETSC_FALSE},
  {"-mat_tpspmv_slice", "0 8 64", PETSC_FALSE},
  {"-mat_tpspmv_long", "128 8", PETSC_FALSE},
  {"-mat_tpspmv_remove", "auto no yes", PETSC_FALSE},
  {"-mat_tpspmv_values", "auto plain coded float", PETSC_FALSE},
};
#define KNOBS (PetscInt) PETSC_STATIC_ARRAY_LENGTH(Knobs)

/* Which of them the user has given */
static PetscErrorCode KnobsBegin(void)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < KNOBS; k++) PetscCall(PetscOptionsHasName(NULL, NULL, Knobs[k].name, &Knobs[k].given));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_wisdom", "none"));
  PetscFunctionReturn(0);
}

static PetscErrorCode KnobDraw(const Side *s, PetscInt k, Draw *d)
{
  char **values, *value;
  int    n;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(Knobs[k].values, ' ', &n, &values));
  value = values[DrawBelow(d, n)];
  if (!Knobs[k].given) PetscCall(PetscOptionsSetValue(NULL, Knobs[k].name, value));
  if (s) Say(s, " (%s %s)", Knobs[k].name, value);
  PetscCall(PetscStrToArrayDestroy(n, values));
  PetscFunctionReturn(0);
}

/* As a sequence finds them */
static PetscErrorCode KnobsReset(Draw *d)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < KNOBS; k++)
    if (!Knobs[k].given) PetscCall(PetscOptionsClearValue(NULL, Knobs[k].name));
  if (device) PetscCall(PetscOptionsClearValue(NULL, "-mat_spmv_backend"));
  PetscCall(KnobDraw(NULL, 0, d));
  PetscFunctionReturn(0);
}

static PetscErrorCode DoSettings(Side *s, Draw *d)
{
  const PetscInt count = 1 + DrawBelow(d, 3);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++) PetscCall(KnobDraw(s, DrawChance(d, 40) ? DrawBelow(d, 6) : DrawBelow(d, KNOBS), d));
  PetscCall(MatSetFromOptions(s->A));
  PetscFunctionReturn(0);
}

/* A symmetric matrix is declared so, under any plan of the format for these, for some products and new values */
static PetscErrorCode DoDeclared(Side *s, Draw *d)
{
  const uint64_t salt = DrawBits(d);

  PetscFunctionBegin;
  PetscCall(DoSymmetrize(s, d));
  for (PetscInt k = 0; k < KNOBS; k++)
    if (!strncmp(Knobs[k].name, "-mat_sbccoo_", 12)) PetscCall(KnobDraw(s, k, d));
  PetscCall(MatSetFromOptions(s->A));
  PetscCall(MatSetOption(s->A, MAT_SYMMETRIC, PETSC_TRUE));
  for (PetscInt k = 0; k < 3; k++) {
    PetscCall(RecordMult(s, "declared symmetric", s->A, salt + (uint64_t)k));
    if (k) PetscCall(MatScale(s->A, (PetscScalar)0.9));
  }
  PetscCall(MatSetOption(s->A, MAT_SYMMETRIC, PETSC_FALSE));
  PetscCall(RecordMult(s, "not declared any more", s->A, salt));
  PetscFunctionReturn(0);
}

/* Who runs the products, and where vectors live */
static PetscErrorCode DoDevice(Side *s, Draw *d)
{
  static const char *const backends[] = {"device", "device", "host"};
  static const char *const vectors[]  = {VECSTANDARD, VECACCEL};
  const PetscInt           backend = DrawBelow(d, 3), vector = DrawBelow(d, 2);

  PetscFunctionBegin;
  if (!s->ours) PetscFunctionReturn(0);
  Say(s, " (%s)", backends[backend]);
  PetscCall(PetscOptionsSetValue(NULL, "-mat_spmv_backend", backends[backend]));
  PetscCall(MatSetFromOptions(s->A));
  if (DrawChance(d, 40)) PetscCall(MatSetVecType(s->A, vectors[vector]));
  PetscFunctionReturn(0);
}
