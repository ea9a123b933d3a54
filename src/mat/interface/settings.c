/*
  settings.c - what a user wants of a matrix: options
*/
#include "spmvmat.h"
#include "../../host/values.h"
#include "../../spmvdevice.h"

/*MC
  MatSpmvOptions - the options that all matrix types of this library have

  They take the prefix of the matrix. A matrix that is made from another one, by `MatDuplicate()`, `MatPtAP()` or
  `MatCreateSubMatrix()`, say, takes over its settings; where it is given a prefix, options with that come on top. So has `PCASM`,
  and `PCBJACOBI` with several blocks on a process, whose matrices have the prefix sub_.

  Options Database Keys:
+ -mat_spmv_isa
. -mat_spmv_threads
. -mat_spmv_backend
. -mat_spmv_on_device_error
. -mat_spmv_build_after
. -mat_spmv_order
. -mat_spmv_values
. -mat_spmv_product_values
. -mat_spmv_sor
. -mat_spmv_sor_values
. -mat_spmv_transpose
- -mat_spmv_view

  Level: intermediate

  Notes:
  How a format and its knobs are chosen is on the page of `MATSPMV`, and holds for the other types, which have one format. Solves
  with factors are on that of `MATSOLVERPETSCSPMV`.

  After each change of the values, AIJ's kernel makes the first -mat_spmv_build_after products, unless as many came between this
  change and the one before; 0 builds at once. Triangles for sweeps wait for an eighth as many sweeps.

  A storage on the host may have rows and columns in another order than the matrix, so that entries of a vector that are used
  together lie together: by levels of its graph, whose numbering then hardly matters. x and y are brought into that order and back
  in each product. With auto this is done after 16 times -mat_spmv_build_after products with the same values, where it is
  estimated to gain an eighth; levels does it whenever a storage of a square matrix is built, none never. Sums then add up in
  another order.

  With -mat_spmv_backend auto a GPU has the products of a matrix that is estimated, or with -mat_spmv_tune measured, to be faster
  there, with the transfers of vectors that live on the host. `MatCreateVecs()` puts vectors where the products will be.

  With -mat_spmv_values, -mat_spmv_product_values, -mat_spmv_sor_values or -mat_spmv_solve_values float, what is made for
  products, for those of matrices that are products of this one, for sweeps and for solves with its factors has values in single
  precision. Each is wrong by up to 6e-8 (2^-24) of itself, or 0 where it is below 1e-38. Sums are double, and the matrix itself
  keeps PETSc's scalars. Where a value is above 3e38, all stay double. The first of these changes what the matrix does, so the
  residuals of a solver whose matrix it is; the others change a preconditioner. Products need pmf, tpspmv, or bccoo with blocks of
  1 x 1, of which spmv chooses: larger blocks have no floats, and a matrix that has such blocks may be multiplied more slowly. No
  option is on by default.

  A device that fails in mid-run is not used again in this run. With -mat_spmv_on_device_error error the product that finds out is
  an error (`PETSC_ERR_LIB`), since what a device gave before it failed may be wrong as well; the matrix can be used, and the host
  runs its products. With fallback a warning is printed once, and the host makes this product, too. The values of a vector that
  only the device has are lost either way, which is an error. Memory that runs out is no failure: the host serves, after a
  warning.

.seealso: `MATSPMV`, `MATSOLVERPETSCSPMV`, `MatSpmvGetPlan()`, `SpmvDeviceOptions`, `SpmvReportOptions`
M*/

#define SPMV_HELP_WORD "petscspmv" /* at the end of each of our lines of -help, where PETSc has the name of a manual page */

/* What users may write: "one of: 0 1 2", "from 1 to 65536" */
static PetscErrorCode SpmvParamAllowed(const SpmvParam *param, char allowed[], size_t size)
{
  PetscFunctionBegin;
  allowed[0] = 0;
  if (!param->choices) PetscCall(SpmvAppend(allowed, size, "from %" PetscInt_FMT " to %" PetscInt_FMT, param->low, param->high));
  for (PetscInt k = 0; k < param->count; k++)
    PetscCall(SpmvAppend(allowed, size, "%s%" PetscInt_FMT, k ? " " : "one of: ", param->choices[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a knob from an option, if there is one. A value that is not allowed is refused, and nothing is changed */
static PetscErrorCode SpmvReadParam(const char format[], const SpmvParam *param, PetscInt *value, PetscInt list[], PetscBool *set,
                                    SpmvOptionItems PetscOptionsObject)
{
  const char *prefix = PetscOptionsObject->prefix ? PetscOptionsObject->prefix : "";
  char        name[128], help[512], allowed[256];
  PetscInt    given[SPMV_LIST_MAX] = {*value}, n = param->list ? SPMV_LIST_MAX : 1, k = 0;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-mat_%s_%s", format, param->name));
  if (param->names) {
    while (k < param->count - 1 && param->choices[k] != *value) k++;
    PetscCall(PetscOptionsEList(name, param->help, SPMV_HELP_WORD, param->names, param->count, param->names[k], &k, set));
    *value = param->choices[k];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvParamAllowed(param, allowed, sizeof(allowed)));
  PetscCall(PetscSNPrintf(help, sizeof(help), "%s (%s%s)", param->help, param->list ? "a list of values " : "", allowed));
  if (param->list) PetscCall(PetscOptionsIntArray(name, help, SPMV_HELP_WORD, given, &n, set));
  else PetscCall(PetscOptionsInt(name, help, SPMV_HELP_WORD, given[0], &given[0], set));
  if (!*set) PetscFunctionReturn(PETSC_SUCCESS);
  for (k = 0; k < n; k++)
    PetscCheck(SpmvParamAllows(param, given[k]), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%s %s %" PetscInt_FMT " is not %s; set -%s%s to %s", format, param->name, given[k], allowed, prefix, name + 1,
               param->choices ? "one of them" : "a value between");
  *value = param->list ? n : given[0];
  if (!param->list) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArrayzero(list, SPMV_LIST_MAX));
  PetscCall(PetscArraycpy(list, given, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The knob of a side that has a name; -1 if there is none */
PetscInt SpmvSideFind(const SpmvSide *side, const char name[])
{
  for (PetscInt k = 0; k < side->nparams; k++) {
    if (!strcmp(side->params[k].name, name)) return k;
  }
  return -1;
}

/* Of a host side, the knob of how values are stored (host/values.h); -1 if they are always plain */
static PetscInt SpmvValuesKnob(const SpmvFormat *format)
{
  return format->host ? SpmvSideFind(&format->host->side, "values") : -1;
}

/* What is asked for if values are to be floats: those formats that can store them so, or AIJ's kernel */
void SpmvRequestFloats(SpmvRequest *q)
{
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const PetscInt knob = SpmvValuesKnob(SpmvCandidate[k]);

    if (knob >= 0) q->host[k].value[knob] = SPMV_VALUES_FLOAT;
    else if (k != SPMV_NUMBER_AIJ) q->allowed &= ~((PetscInt)1 << k);
  }
  if (!q->allowed) q->allowed = (PetscInt)1 << SPMV_NUMBER_AIJ;
}

/* -mat_spmv_<what>values: whether values are read as floats. Where PETSc's scalars are not double there is no choice */
static PetscErrorCode SpmvReadFloats(const char what[], const char help[], PetscBool *floats, SpmvOptionItems PetscOptionsObject)
{
  const char *const names[] = {"scalar", "float"};
  char              name[64], text[256];
  PetscInt          k = *floats;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "-mat_spmv_%svalues", what));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s: PETSc's scalars, or floats, added up in double precision", help));
  PetscCall(PetscOptionsEList(name, text, SPMV_HELP_WORD, names, 2, names[k], &k, NULL));
  PetscCheck(!k || SPMV_VALUES_HAS_FLOAT, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s float is for a PETSc with real numbers in double precision, which this one is not; leave the option out", name);
  *floats = (PetscBool)k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without options: one thread beside other ranks, else what OMP_NUM_THREADS says, one if it says nothing */
static PetscErrorCode SpmvSettingsDefault(const SpmvFormat *type, SpmvSettings *settings)
{
  const char *text    = getenv("OMP_NUM_THREADS");
  PetscInt    threads = 1;
  PetscMPIInt size;

  PetscFunctionBegin;
  settings->build_after = SPMV_BUILD_AFTER;
  settings->sor         = PETSC_TRUE;
  settings->solve       = PETSC_TRUE;
  PetscCall(SpmvRequestDefault(type, &settings->request));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1 && text) threads = (PetscInt)strtol(text, NULL, 10);
  settings->request.threads = PetscMax(1, PetscMin(SPMV_THREADS_MAX, threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How to choose among formats and plans */
static PetscErrorCode SpmvReadTuning(Mat A, const SpmvFormat *type, SpmvRequest *q, SpmvOptionItems PetscOptionsObject)
{
  char      formats[512] = "";
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEList(
    "-mat_spmv_tune", "How format and open knobs are chosen: not at all, by an estimate, by measuring the few best or all",
    SPMV_HELP_WORD, SpmvTuneKinds, SPMV_TUNE_COUNT, SpmvTuneKinds[q->kind], &q->kind, NULL));
  PetscCall(
    PetscOptionsReal("-mat_spmv_tune_seconds", "Seconds that measuring may take", SPMV_HELP_WORD, q->seconds, &q->seconds, NULL));
  PetscCheck(q->seconds > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%g seconds to measure in are not more than 0; set -mat_spmv_tune_seconds to a positive number, or -mat_spmv_tune "
             "to estimate",
             (double)q->seconds);
  PetscCall(PetscOptionsReal("-mat_spmv_expected_calls", "Products, sweeps or solves that set-up is to pay off in; 0: not known",
                             SPMV_HELP_WORD, q->calls, &q->calls, NULL));
  PetscCheck(q->calls >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%g expected calls are less than 0; set -mat_spmv_expected_calls to 0 or more", (double)q->calls);
  PetscCall(PetscOptionsString("-mat_spmv_wisdom", "File of measured choices, or none; by default in the user's cache folder",
                               SPMV_HELP_WORD, q->wisdom, q->wisdom, sizeof(q->wisdom), NULL));
  for (PetscInt k = 0; k < SPMV_HEURISTICS; k++) {
    char      name[128];
    PetscBool use = (PetscBool) !(q->skipped >> k & 1);

    PetscCall(PetscSNPrintf(name, sizeof(name), "-mat_spmv_tune_%s", SpmvHeuristics[k].name));
    PetscCall(PetscOptionsBool(name, SpmvHeuristics[k].help, SPMV_HELP_WORD, use, &use, NULL));
    q->skipped = use ? q->skipped & ~((PetscInt)1 << k) : q->skipped | (PetscInt)1 << k;
  }
  if (type != &SpmvFormat_spmv) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsString("-mat_spmv_tune_formats", "Formats to choose from, aij among them for AIJ's own kernel",
                               SPMV_HELP_WORD, formats, formats, sizeof(formats), &set));
  if (set) PetscCall(SpmvRequestAllow(formats, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The knobs of a type's candidates, one option where both sides have one; whether the machine runs them */
static PetscErrorCode SpmvReadCandidates(const SpmvFormat *type, SpmvRequest *q, SpmvOptionItems PetscOptionsObject)
{
  SpmvIsa   isa;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(SpmvIsaGet(q->isa, &isa)); /* refuse now what no product could use later */
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const SpmvFormat *format = SpmvCandidate[k];
    const SpmvSide   *h = &format->host->side, *d = SpmvFormatSide(format, SPMV_BACKEND_DEVICE);
    SpmvPlan         *host = &q->host[k], *device = &q->device[k];

    host->threads = q->threads; /* of other formats as well: one that does not suit a matrix hands over to them */
    host->isa     = isa;
    if (type != format && type != &SpmvFormat_spmv) continue;
    for (PetscInt p = 0; p < h->nparams; p++) {
      PetscCall(SpmvReadParam(format->name, &h->params[p], &host->value[p], host->list, &set, PetscOptionsObject));
      if (set) q->pinned[SPMV_BACKEND_HOST][k] |= (PetscInt)1 << p;
    }
    for (PetscInt p = 0; d && p < d->nparams; p++) {
      const SpmvParam *param = &d->params[p];
      const PetscInt   same  = SpmvSideFind(h, param->name);

      set = (PetscBool)(same >= 0 && q->pinned[SPMV_BACKEND_HOST][k] >> same & 1);
      if (same < 0) PetscCall(SpmvReadParam(format->name, param, &device->value[p], device->list, &set, PetscOptionsObject));
      else device->value[p] = host->value[same];
      if (set) q->pinned[SPMV_BACKEND_DEVICE][k] |= (PetscInt)1 << p;
      if (same >= 0 && param->list) PetscCall(PetscArraycpy(device->list, host->list, SPMV_LIST_MAX));
    }
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
  {"-mat_cmrs_word", "leave it out: columns and rows take 32 bits where they fit"},
  {"-mat_csradaptive_long", "leave it out: it is 128"},
  {"-mat_csradaptive_short", "leave it out: it is 32"},
  {"-mat_pmf_columns", "leave it out: columns take 16 bits where they fit"},
};

static PetscErrorCode SpmvRefuseRemoved(Mat A)
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
PetscErrorCode MatSpmvReadOptions(Mat A, SpmvOptionItems PetscOptionsObject)
{
  static const char *const transposes[SPMV_TRANSPOSE_COUNT] = {"shared", "copy"};
  static const char *const backends[SPMV_BACKEND_COUNT]     = {"host", "device", "auto"};
  static const char *const orders[SPMV_ORDER_COUNT]         = {"auto", "none", "levels"};
  static const char *const failures[SPMV_ON_DEVICE_COUNT]   = {"error", "fallback"};
  const char              *isas[SPMV_ISA_COUNT + 1];
  SpmvShadow              *shadow;
  SpmvSettings             s;
  SpmvRequest             *q = &s.request;
  PetscBool                set;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  s = shadow->settings;
  if (!s.known) PetscCall(SpmvSettingsDefault(shadow->type, &s));
  PetscCall(SpmvWordsCheck());
  PetscCall(SpmvRefuseRemoved(A));
  PetscOptionsHeadBegin(PetscOptionsObject, "petscspmv options");
  for (PetscInt k = 0; k <= SPMV_ISA_COUNT; k++) isas[k] = SpmvIsaName(k);
  PetscCall(PetscOptionsEList("-mat_spmv_isa", "Instruction set of the products", SPMV_HELP_WORD, isas, SPMV_ISA_COUNT + 1,
                              isas[q->isa], &q->isa, NULL));
  PetscCall(PetscOptionsInt("-mat_spmv_build_after",
                            "Products by AIJ's kernel, after the values changed, before our storage is built", SPMV_HELP_WORD,
                            s.build_after, &s.build_after, NULL));
  PetscCheck(s.build_after >= 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " products before a build is negative; set -mat_spmv_build_after to 0 or more", s.build_after);
  PetscCall(PetscOptionsEList("-mat_spmv_order",
                              "Order of rows and columns of storages: as they come, by levels of the graph, or what is faster",
                              SPMV_HELP_WORD, orders, SPMV_ORDER_COUNT, orders[s.order], &s.order, NULL));
  PetscCall(SpmvReadFloats("", "Values that our products read", &s.floats, PetscOptionsObject));
  PetscCall(SpmvReadFloats("product_", "Values that our products read of matrices made from this one (coarse levels of GAMG)",
                           &s.productfloats, PetscOptionsObject));
  PetscCall(PetscOptionsBool("-mat_spmv_sor", "Sweeps of MatSOR(), which PCSOR calls, are ours, not AIJ's", SPMV_HELP_WORD, s.sor,
                             &s.sor, NULL));
  PetscCall(SpmvReadFloats("sor_", "Values that our sweeps of MatSOR() read", &s.sorfloats, PetscOptionsObject));
  PetscCall(PetscOptionsBool("-mat_spmv_solve", "Solves with factors of PCILU and PCICC are ours, not PETSc's", SPMV_HELP_WORD,
                             s.solve, &s.solve, NULL));
  PetscCall(SpmvReadFloats("solve_", "Values of factors that our solves read", &s.solvefloats, PetscOptionsObject));
  PetscCall(PetscOptionsEList("-mat_spmv_transpose",
                              "What transposed products read: the storage itself, or a copy of the transposed matrix",
                              SPMV_HELP_WORD, transposes, SPMV_TRANSPOSE_COUNT, transposes[s.transpose], &s.transpose, &set));
  s.transposeset = (PetscBool)(s.transposeset || set);
  PetscCall(PetscOptionsInt("-mat_spmv_threads", "Threads that share a product", SPMV_HELP_WORD, q->threads, &q->threads, NULL));
  PetscCheck(q->threads >= 1 && q->threads <= SPMV_THREADS_MAX, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " threads are not from 1 to %d; set -mat_spmv_threads to a value between", q->threads,
             SPMV_THREADS_MAX);
  PetscCall(PetscOptionsEList(
    "-mat_spmv_backend",
    "Who runs the products: the host, the device if there is one, or auto: a GPU where it is estimated to be faster",
    SPMV_HELP_WORD, backends, SPMV_BACKEND_COUNT, backends[q->backend], &q->backend, NULL));
  PetscCall(PetscOptionsEList(
    "-mat_spmv_on_device_error", "If the device fails in mid-run: an error, or a warning and the host runs products from then on",
    SPMV_HELP_WORD, failures, SPMV_ON_DEVICE_COUNT, failures[s.on_device_error], &s.on_device_error, NULL));
  PetscCall(SpmvReadTuning(A, shadow->type, q, PetscOptionsObject));
  PetscCall(SpmvReadCandidates(shadow->type, q, PetscOptionsObject));
  PetscCall(
    PetscOptionsBool("-mat_spmv_tune_check",
                     "A storage whose first products take longer than those by AIJ's kernel before them is dropped; what serves, "
                     "and so the last bits of products, then depends on the clock",
                     SPMV_HELP_WORD, s.check, &s.check, NULL));
  PetscCall(MatSpmvCheckAllowed(A, s.check, s.build_after));
  PetscCall(PetscOptionsBool("-mat_spmv_tune_view", "Prints what was chosen, and why, once after each choice", SPMV_HELP_WORD,
                             s.tuneview, &s.tuneview, NULL));
  PetscCheck(!(s.floats || s.productfloats) || shadow->type == &SpmvFormat_spmv || SpmvValuesKnob(shadow->type) >= 0,
             PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "%s has no values in single precision; leave -mat_spmv_%svalues float out, or set the matrix's type to spmv, which "
             "chooses a format that has",
             shadow->type->name, s.floats ? "" : "product_");
  PetscCall(PetscOptionsName("-mat_spmv_view", "Prints what was built, once after each build", SPMV_HELP_WORD, &set));
  if (set) {
    PetscCall(PetscOptionsCreateViewer(PetscObjectComm((PetscObject)A), ((PetscObject)A)->options, ((PetscObject)A)->prefix,
                                       "-mat_spmv_view", &s.viewer, &s.viewformat, NULL));
    PetscCall(PetscViewerDestroy(&shadow->settings.viewer));
  }
  PetscOptionsHeadEnd();
  s.why       = (PetscBool)(s.viewer || s.tuneview);
  s.known     = PETSC_TRUE;
  s.inherited = PETSC_FALSE;
  s.version++;
  shadow->settings = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}
