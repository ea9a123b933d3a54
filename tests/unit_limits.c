static const char help[] =
  "Matrices of more rows, columns or entries than a storage counts: each is refused before anything is built. No matrix "
  "is that large: only its sizes are, and what tells how many entries it has.\n\n";

#include "spmvtest.h"

/* Sizes that do not fit PetscInt are for builds where it has 64 bits */
static const struct {
  const char *format;
  SpmvBackend backend;
  int64_t     m, n, nz;
  const char *options; /* knobs that are not the default: "name=value name=value", numbers as a plan has them */
  const char *words;
} Cases[] = {
  {"pmf", SPMV_BACKEND_HOST, 100, 100, INT64_C(1) << 30, "", "is more than 32-bit indices count"},
  {"pmf", SPMV_BACKEND_HOST, INT32_MAX, 100, 100, "", "is more than 32-bit indices count"},
  {"pmf", SPMV_BACKEND_HOST, 100, INT32_MAX, 100, "", "is more than 32-bit indices count"},
  {"pmf", SPMV_BACKEND_DEVICE, 100, 100, INT64_C(1) << 30, "", "is more than 32-bit indices count"},
  {"pmf", SPMV_BACKEND_HOST, 100, 100, INT64_C(1) << 34, "", "is more than 32-bit indices count"},
  {"bccoo", SPMV_BACKEND_DEVICE, 100, 100, INT32_MAX - 1, "device_convert=2", "entries are more than a device converts"},
  {"bccoo", SPMV_BACKEND_DEVICE, INT32_MAX, 100, 100, "", "more block rows or columns than 32-bit indices count"},
  {"bccoo", SPMV_BACKEND_DEVICE, INT64_C(1) << 31, 100, 100, "block_height=2", "rows are more than 32-bit integers count"},
  {"bccoo", SPMV_BACKEND_HOST, 100, 100, INT64_C(1) << 32, "fill=2", "Blocks with masks are for at most"},
  {"bccoo", SPMV_BACKEND_HOST, 4, 100000, 65537, "fill=2", "entries of four rows, not 100000 and 65537"},
  {"csradaptive", SPMV_BACKEND_HOST, INT64_C(1) << 32, 100, 100, "", "a row block keeps a row in 32 bits"},
  {"csradaptive", SPMV_BACKEND_HOST, 100, 100, INT64_C(1) << 62, "", "a workgroup number has 31 bits"},
  {"cmrs", SPMV_BACKEND_DEVICE, INT64_C(1) << 31, 100, 100, "", "rows are more than 32-bit integers count"},
  {"sbccoo", SPMV_BACKEND_HOST, INT64_C(1) << 33, INT64_C(1) << 33, 100, "", "columns are more than 32-bit numbers count"},
  {"tpspmv", SPMV_BACKEND_HOST, INT32_MAX, 100, 100, "", "more rows or columns than 32-bit indices count"},
  {"tpspmv", SPMV_BACKEND_HOST, 100, INT32_MAX, 100, "tile=32768", "more rows or columns than 32-bit indices count"},
  {"tpspmv", SPMV_BACKEND_DEVICE, 100, 100, INT32_MAX, "", "nonzeros are more than the 32-bit integers of device kernels"},
};

/* Sets the knobs of a plan that a case names */
static PetscErrorCode Set(const SpmvSide *side, const char options[], SpmvPlan *plan)
{
  char text[128], *word, *rest = text;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(text, options, sizeof(text)));
  while ((word = strtok_r(rest, " =", &rest))) {
    const PetscInt k = SpmvSideFind(side, word);

    PetscCheck(k >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "there is no knob %s", word);
    plan->value[k] = (PetscInt)atol(strtok_r(rest, " =", &rest));
  }
  PetscFunctionReturn(0);
}

/* What is not written to takes no memory */
static PetscErrorCode Refused(size_t c)
{
  const SpmvDeviceInfo info   = {.name     = "none",
                                 .memory   = (size_t)1 << 40,
                                 .room     = 1e12,
                                 .local    = 49152,
                                 .large    = 49152,
                                 .group    = 1024,
                                 .units    = 4,
                                 .gpu      = PETSC_TRUE,
                                 .forward  = PETSC_TRUE,
                                 .real64   = PETSC_TRUE,
                                 .atomic64 = PETSC_TRUE};
  const PetscBool      device = (PetscBool)(Cases[c].backend == SPMV_BACKEND_DEVICE);
  const size_t         bytes  = ((size_t)Cases[c].m + 1) * sizeof(PetscInt);
  const SpmvSide      *side   = NULL;
  const PetscInt       one[2] = {0, 1}, zero = 0;
  const PetscScalar    value = 1;
  const SpmvCSR        small = {.m = 1, .n = 1, .rbs = 1, .cbs = 1, .i = one, .j = &zero, .a = &value};
  char                 why[512];
  PetscInt            *i;
  SpmvCSR              large;
  SpmvPlan             plan;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    if (!strcmp(SpmvCandidate[k]->name, Cases[c].format)) side = SpmvFormatSide(SpmvCandidate[k], Cases[c].backend);
  }
  PetscCheck(side, PETSC_COMM_SELF, PETSC_ERR_PLIB, "there is no %s", Cases[c].format);
  plan = SpmvPlanDefault(Cases[c].backend, side->nparams, side->params);
  PetscCall(Set(side, Cases[c].options, &plan));
  PetscCall(SpmvResolve(side, &small, device ? &info : NULL, &plan, why, sizeof(why)));
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "case %zu, a matrix of one entry: %s", c, why);
  i = (PetscInt *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  PetscCheck(i != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_MEM, "mmap() of %zu bytes", bytes);
  i[Cases[c].m] = (PetscInt)Cases[c].nz;
  large         = (SpmvCSR){.m = (PetscInt)Cases[c].m, .n = (PetscInt)Cases[c].n, .rbs = 1, .cbs = 1, .i = i};
  PetscCall(side->allows(&large, device ? &info : NULL, &plan, why, sizeof(why)));
  PetscCheck(strstr(why, Cases[c].words), PETSC_COMM_SELF, PETSC_ERR_PLIB, "case %zu, %s: '%s'", c, Cases[c].format, why);
  PetscCheck(!munmap(i, bytes), PETSC_COMM_SELF, PETSC_ERR_SYS, "munmap()");
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt done = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(Cases); c++) {
    if (PetscMax(Cases[c].nz, PetscMax(Cases[c].m, Cases[c].n)) > PETSC_MAX_INT) continue;
    PetscCall(Refused(c));
    done++;
  }
  PetscCheck(done >= 10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "only %d cases were tried", (int)done);
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
