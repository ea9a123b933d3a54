/*
  settings.c - what a user wants of a matrix: options, and who inherits them

  Options are read in ops->setfromoptions, and at the first product of a Mat that never saw it. A parallel Mat reads them
  once and hands them to its blocks, which have no options prefix. Duplicates, submatrices and products take over the
  settings of the Mat they come from, never its storage.
*/
#include "spmvmat.h"
#include "../../spmvdevice.h"

/* Sets *value from an option whose choices have names */
static PetscErrorCode SpmvParamProcessNames(const SpmvParam *param, const char name[], PetscInt *value, PetscBool *set,
                                            SpmvOptionItems PetscOptionsObject)
{
  PetscInt index = 0;

  PetscFunctionBegin;
  while (index < param->count - 1 && param->choices[index] != *value) index++;
  PetscCall(
    PetscOptionsEList(name, param->help, "MatSetFromOptions", param->names, param->count, param->names[index], &index, set));
  *value = param->choices[index];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What users may write: "one of: 0 1 2", "from 1 to 65536" */
static PetscErrorCode SpmvParamAllowed(const SpmvParam *param, char allowed[], size_t size)
{
  PetscFunctionBegin;
  allowed[0] = 0;
  if (!param->choices) {
    PetscCall(SpmvAppend(allowed, size, "from %" PetscInt_FMT " to %" PetscInt_FMT, param->low, param->high));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < param->count; k++)
    PetscCall(SpmvAppend(allowed, size, "%s%" PetscInt_FMT, k ? " " : "one of: ", param->choices[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvParamProcess - sets a knob from an option; a value that is not allowed is refused and nothing is changed

  Input Parameters:
+ format - its name
- param  - the knob

  Input/Output Parameters:
+ value - of the knob; of a list its length
. list  - [SPMV_LIST_MAX] for knobs that are lists
- isset - PETSC_TRUE if there is such an option, else as it was
*/
static PetscErrorCode SpmvParamProcess(const char format[], const SpmvParam *param, PetscInt *value, PetscInt list[],
                                       PetscBool *isset, SpmvOptionItems PetscOptionsObject)
{
  char      name[128], full[256], help[512], allowed[256];
  PetscInt  given[SPMV_LIST_MAX], n = 1;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-mat_%s_%s", format, param->name));
  if (param->names) {
    PetscCall(SpmvParamProcessNames(param, name, value, &set, PetscOptionsObject));
    if (set) *isset = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvParamAllowed(param, allowed, sizeof(allowed)));
  PetscCall(PetscSNPrintf(help, sizeof(help), "%s (%s%s)", param->help, param->list ? "a list of values " : "", allowed));
  given[0] = *value;
  if (param->list) {
    n = SPMV_LIST_MAX;
    PetscCall(PetscOptionsIntArray(name, help, "MatSetFromOptions", given, &n, &set));
  } else PetscCall(PetscOptionsInt(name, help, "MatSetFromOptions", given[0], &given[0], &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(full, sizeof(full), "-%s%s", PetscOptionsObject->prefix ? PetscOptionsObject->prefix : "", name + 1));
  for (PetscInt k = 0; k < n; k++)
    PetscCheck(SpmvParamAllows(param, given[k]), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%s %s %" PetscInt_FMT " is not %s; set %s to %s", format, param->name, given[k], allowed, full,
               param->choices ? "one of them" : "a value between");
  *value = param->list ? n : given[0];
  *isset = PETSC_TRUE;
  if (param->list) {
    PetscCall(PetscArrayzero(list, SPMV_LIST_MAX));
    PetscCall(PetscArraycpy(list, given, n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without an option: one thread beside other ranks, else what OMP_NUM_THREADS says, one if it says nothing */
static PetscErrorCode SpmvThreadsDefault(PetscInt *threads)
{
  const char *text = getenv("OMP_NUM_THREADS");
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  *threads = size == 1 && text ? (PetscInt)strtol(text, NULL, 10) : 1;
  *threads = PetscMax(1, PetscMin(SPMV_THREADS_MAX, *threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpmvSettingsDefault(const SpmvFormat *type, SpmvSettings *settings)
{
  PetscFunctionBegin;
  settings->build_after = SPMV_BUILD_AFTER;
  settings->transpose   = SPMV_TRANSPOSE_SHARED;
  PetscCall(SpmvRequestDefault(type, &settings->request));
  PetscCall(SpmvThreadsDefault(&settings->request.threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Releases what the settings refer to */
PetscErrorCode SpmvSettingsReset(SpmvSettings *settings)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerDestroy(&settings->viewer));
  PetscCall(PetscMemzero(settings, sizeof(*settings)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The knob of a side with the name of another's; -1 if there is none */
static PetscInt SpmvSideFind(const SpmvSide *side, const char name[])
{
  for (PetscInt k = 0; k < side->nparams; k++) {
    if (!strcmp(side->params[k].name, name)) return k;
  }
  return -1;
}

/* The knobs of one format. What both sides have is one option */
static PetscErrorCode SpmvFormatProcess(const SpmvFormat *format, SpmvPlan *host, SpmvPlan *device, PetscInt *pinned,
                                        SpmvOptionItems PetscOptionsObject)
{
  const SpmvSide *h = &format->host->side, *d = SpmvFormatSide(format, SPMV_BACKEND_DEVICE);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < h->nparams; k++) {
    PetscBool set = PETSC_FALSE;

    PetscCall(SpmvParamProcess(format->name, &h->params[k], &host->value[k], host->list, &set, PetscOptionsObject));
    if (set) *pinned |= (PetscInt)1 << k;
  }
  for (PetscInt k = 0; d && k < d->nparams; k++) {
    const PetscInt same = SpmvSideFind(h, d->params[k].name);
    PetscBool      set;

    if (same < 0)
      PetscCall(SpmvParamProcess(format->name, &d->params[k], &device->value[k], device->list, &set, PetscOptionsObject));
    else device->value[k] = host->value[same];
    if (same >= 0 && d->params[k].list) PetscCall(PetscArraycpy(device->list, host->list, SPMV_LIST_MAX));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How to choose among formats and plans */
static PetscErrorCode SpmvTuneProcess(Mat A, const SpmvFormat *type, SpmvRequest *q, SpmvOptionItems PetscOptionsObject)
{
  char     *names[SPMV_CANDIDATES];
  PetscInt  n = SPMV_CANDIDATES;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEList(
    "-mat_spmv_tune",
    "How the format and its open knobs are chosen: not at all, by an estimate, by measuring the few best or all",
    "MatSpmvSetTune", SpmvTuneKinds, SPMV_TUNE_COUNT, SpmvTuneKinds[q->kind], &q->kind, NULL));
  PetscCall(PetscOptionsReal("-mat_spmv_tune_seconds", "Seconds that measuring may take", "MatSpmvSetTuneSeconds", q->seconds,
                             &q->seconds, NULL));
  PetscCheck(q->seconds > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%g seconds to measure in are not more than 0; set -mat_spmv_tune_seconds to a positive number, or -mat_spmv_tune "
             "to estimate",
             (double)q->seconds);
  PetscCall(PetscOptionsReal("-mat_spmv_expected_calls",
                             "Products that are expected, to weigh set-up; 0: so many that it does not count",
                             "MatSpmvSetExpectedCalls", q->calls, &q->calls, NULL));
  PetscCheck(q->calls >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%g expected products are less than 0; set -mat_spmv_expected_calls to 0 or more", (double)q->calls);
  PetscCall(PetscOptionsString("-mat_spmv_wisdom",
                               "File of what was found by measuring, or none; by default in the user's cache folder",
                               "MatSpmvSetWisdom", q->wisdom, q->wisdom, sizeof(q->wisdom), NULL));
  for (PetscInt k = 0; k < SpmvHeuristics.count; k++) {
    char      name[128];
    PetscBool use = (PetscBool) !(q->skipped >> k & 1);

    PetscCall(PetscSNPrintf(name, sizeof(name), "-mat_spmv_tune_%s", SpmvHeuristics.of[k].name));
    PetscCall(PetscOptionsBool(name, SpmvHeuristics.of[k].help, "MatSpmvSetTune", use, &use, NULL));
    q->skipped = use ? q->skipped & ~((PetscInt)1 << k) : q->skipped | (PetscInt)1 << k;
  }
  if (type != &SpmvFormat_spmv) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsStringArray("-mat_spmv_tune_formats", "Formats to choose from, aij among them for AIJ's own kernel",
                                    "MatSpmvSetTuneFormats", names, &n, &set));
  if (set) PetscCall(SpmvRequestAllow(n, (const char *const *)names, q));
  for (PetscInt k = 0; k < n && set; k++) PetscCall(PetscFree(names[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The candidates of a type: their knobs; whether the machine runs them */
static PetscErrorCode SpmvCandidatesProcess(const SpmvFormat *type, SpmvRequest *q, SpmvOptionItems PetscOptionsObject)
{
  const SpmvKernels *kernels;
  SpmvIsa            isa;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const SpmvFormat *format = SpmvCandidate[k];

    if (type != format && type != &SpmvFormat_spmv) continue;
    PetscCall(SpmvFormatProcess(format, &q->host[k], &q->device[k], &q->pinned[k], PetscOptionsObject));
    PetscCall(SpmvKernelsGet(format, q->isa, &kernels, &isa)); /* refuse now what no product could use later */
    q->host[k].threads = q->threads;
    q->host[k].isa     = isa;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options of earlier versions, and what to do instead; CHANGELOG.md says why they went */
static const struct {
  const char *name, *remedy;
} Removed[] = {
  {"-mat_bccoo_flag_bits",
   "leave it out: the host's products are the same with each value; -mat_bccoo_device_flag_bits sets a device's"},
  {"-mat_bccoo_device_grid", "leave it out: each work group has one tile of the matrix"},
  {"-mat_bccoo_device_scan", "leave it out: the scan of a work group goes through local memory"},
  {"-mat_cmrs_order", "leave it out: this processor interleaves the entries of a strip; -mat_cmrs_device_order sets a device's"},
  {"-mat_cmrs_align", "leave it out: this processor always aligns; -mat_cmrs_device_align sets a device's"},
  {"-mat_pmf_columns", "leave it out: columns take 16 bits where they fit"},
};

static PetscErrorCode SpmvRemovedRefuse(Mat A)
{
  const char *prefix = ((PetscObject)A)->prefix;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Removed); k++) {
    PetscBool set;

    PetscCall(PetscOptionsHasName(((PetscObject)A)->options, prefix, Removed[k].name, &set));
    PetscCheck(!set, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "There is no option -%s%s any more; %s",
               prefix ? prefix : "", Removed[k].name + 1, Removed[k].remedy);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads our options inside a PetscOptionsBegin() ... PetscOptionsEnd() */
PetscErrorCode MatSpmvSettingsProcess(Mat A, SpmvOptionItems PetscOptionsObject)
{
  static const char *const transposes[SPMV_TRANSPOSE_COUNT] = {"shared", "copy"};
  static const char *const backends[SPMV_BACKEND_COUNT]     = {"host", "device", "auto"};
  const char              *isas[SPMV_ISA_COUNT + 1];
  SpmvShadow              *shadow;
  SpmvSettings             s;
  SpmvRequest             *q = &s.request;
  PetscBool                set;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  s = shadow->settings;
  if (!s.known) PetscCall(SpmvSettingsDefault(shadow->type, &s));
  PetscCall(SpmvRemovedRefuse(A));
  PetscOptionsHeadBegin(PetscOptionsObject, "petscspmv options");
  for (PetscInt k = 0; k <= SPMV_ISA_COUNT; k++) isas[k] = SpmvIsaName(k);
  PetscCall(PetscOptionsEList("-mat_spmv_isa", "Instruction set of the products", "MatSetFromOptions", isas, SPMV_ISA_COUNT + 1,
                              isas[q->isa], &q->isa, NULL));
  PetscCall(PetscOptionsInt("-mat_spmv_build_after",
                            "Products that AIJ's kernel serves, after the values changed, before our storage is built",
                            "MatSetFromOptions", s.build_after, &s.build_after, NULL));
  PetscCheck(s.build_after >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " products before a build is negative; set -mat_spmv_build_after to 0 or more", s.build_after);
  PetscCall(PetscOptionsEList(
    "-mat_spmv_transpose", "What transposed products read: the storage itself, or a copy of the transposed matrix",
    "MatSetFromOptions", transposes, SPMV_TRANSPOSE_COUNT, transposes[s.transpose], &s.transpose, NULL));
  PetscCall(
    PetscOptionsInt("-mat_spmv_threads", "Threads that share a product", "MatSetFromOptions", q->threads, &q->threads, NULL));
  PetscCheck(q->threads >= 1 && q->threads <= SPMV_THREADS_MAX, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " threads are not from 1 to %d; set -mat_spmv_threads to a value between", q->threads,
             SPMV_THREADS_MAX);
  PetscCall(PetscOptionsEList(
    "-mat_spmv_backend", "Who runs the products: the host, the device if there is one, or auto: a GPU if the matrix is large",
    "MatSetFromOptions", backends, SPMV_BACKEND_COUNT, backends[q->backend], &q->backend, NULL));
  PetscCall(SpmvTuneProcess(A, shadow->type, q, PetscOptionsObject));
  PetscCall(SpmvCandidatesProcess(shadow->type, q, PetscOptionsObject));
  PetscCall(PetscOptionsBool("-mat_spmv_tune_view", "Prints what was chosen, and why, once after each choice", "MatView",
                             s.tuneview, &s.tuneview, NULL));
  PetscCall(PetscOptionsName("-mat_spmv_view", "Prints what was built, once after each build", "MatView", &set));
  if (set) {
    PetscCall(PetscViewerDestroy(&s.viewer));
    PetscCall(PetscOptionsCreateViewer(PetscObjectComm((PetscObject)A), ((PetscObject)A)->options, ((PetscObject)A)->prefix,
                                       "-mat_spmv_view", &s.viewer, &s.viewformat, NULL));
  }
  PetscOptionsHeadEnd();
  s.known = PETSC_TRUE;
  s.version++;
  shadow->settings = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes sure that A has settings: reads the options of a Mat that MatSetFromOptions() never saw. Collective on A */
PetscErrorCode MatSpmvSettingsNeed(Mat A)
{
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  if (shadow->settings.known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscObjectOptionsBegin((PetscObject)A);
  PetscCall(MatSpmvSettingsProcess(A, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B, if it is of A's format, takes over A's settings; a viewer only if both live on as many processes */
PetscErrorCode MatSpmvSettingsInherit(Mat A, Mat B)
{
  const SpmvFormat *fa, *fb;
  SpmvShadow       *sa, *sb;
  PetscInt          version;
  PetscMPIInt       compare;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &fa));
  PetscCall(SpmvFormatFind(((PetscObject)B)->type_name, &fb));
  if (!fa || fa != fb) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetShadow(A, &sa));
  PetscCall(MatSpmvGetShadow(B, &sb));
  if (!sa->settings.known) PetscFunctionReturn(PETSC_SUCCESS);
  version = sb->settings.version;
  PetscCall(SpmvSettingsReset(&sb->settings));
  sb->settings         = sa->settings;
  sb->settings.version = version + 1;
  PetscCallMPI(MPI_Comm_compare(PetscObjectComm((PetscObject)A), PetscObjectComm((PetscObject)B), &compare));
  if (compare == MPI_UNEQUAL) sb->settings.viewer = NULL;
  PetscCall(PetscObjectReference((PetscObject)sb->settings.viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B, of A's type, takes over what was chosen for A's blocks; it holds as long as B's pattern is A's */
static PetscErrorCode MatSpmvChoicesInherit(Mat A, Mat B)
{
  Mat       a[2], b[2];
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetBlocks(A, a, &parallel));
  PetscCall(MatSpmvGetBlocks(B, b, &parallel));
  for (int k = 0; k < 2; k++) {
    SpmvShadow *sa, *sb;

    if (!a[k] || !b[k]) continue;
    PetscCall(MatSpmvGetShadow(a[k], &sa));
    PetscCall(MatSpmvGetShadow(b[k], &sb));
    sb->seq.choice = sa->seq.choice;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A duplicate B of A takes over its settings and what was chosen for it; one made while A bore its parent's name is plain AIJ, and is not to have our functions */
PetscErrorCode MatSpmvDuplicated(Mat A, SpmvParent *parent, Mat B)
{
  const SpmvFormat *format;

  PetscFunctionBegin;
  PetscCall(SpmvFormatFind(((PetscObject)B)->type_name, &format));
  if (format) {
    PetscCall(MatSpmvSettingsInherit(A, B));
    PetscCall(MatSpmvChoicesInherit(A, B));
  } else PetscCall(MatSpmvCompose(B, parent, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New submatrices of A take over its settings */
PetscErrorCode MatSpmvSettingsInheritAll(Mat A, PetscInt n, MatReuse reuse, Mat B[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && reuse == MAT_INITIAL_MATRIX; k++) {
    if (B[k]) PetscCall(MatSpmvSettingsInherit(A, B[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product takes over the settings of the first of its factors that is of its format */
PetscErrorCode MatSpmvSettingsFromProduct(Mat A)
{
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  if (shadow->settings.known || !A->product) PetscFunctionReturn(PETSC_SUCCESS);
  if (A->product->A) PetscCall(MatSpmvSettingsInherit(A->product->A, A));
  if (!shadow->settings.known && A->product->B) PetscCall(MatSpmvSettingsInherit(A->product->B, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
