static char help[] = "Every Mat operation gives on a type derived from AIJ what it gives on AIJ.\n\
  -type <bccoo>   the type under test\n\
  -only <names>   run these operations, a comma between two\n\
  -skip <names>   do not run these\n\
  -kind <name>    on this matrix only\n\
  -sample <N>     every N-th pair of an operation and a matrix only\n\
  -v              a line for each operation\n\n";

/*
  mat_contract - the contract between AIJ and the types derived from it

  Each operation of the tables in mat_contract_*.h runs by the same code on `aij` and on the type under test, for several
  matrices that have multiplied before, so that whatever the type stores inside exists and can go stale. It records what it
  sees; afterwards the matrix multiplies again in every way. The two records must agree. Where AIJ refuses, the type must refuse.

  Sanity: `-type aij` passes everything. PETSc's own `aijsell` and `aijperm` do not, which shows that the test can fail.
*/
#include "devicetest.h"
#include "sample.h"
#include "mat_contract_matrices.h"
#include "mat_contract_create.h"
#include "mat_contract_arrays.h"
#include "mat_contract_values.h"
#include "mat_contract_change.h"
#include "mat_contract_convert.h"
#include "mat_contract_query.h"
#include "mat_contract_view.h"
#include "mat_contract_product.h"
#include "mat_contract_sub.h"
#include "mat_contract_factor.h"
#include "mat_contract_graph.h"
#include "mat_contract_wrap.h"

static const struct {
  const Operation *operations;
  size_t           count;
} tables[] = {
#define TABLE(t) \
  { \
    t, PETSC_STATIC_ARRAY_LENGTH(t) \
  }
  TABLE(create_operations),  TABLE(arrays_operations), TABLE(values_operations), TABLE(change_operations),
  TABLE(convert_operations), TABLE(query_operations),  TABLE(view_operations),   TABLE(product_operations),
  TABLE(sub_operations),     TABLE(factor_operations), TABLE(graph_operations),  TABLE(wrap_operations),
};

/* What runs when a type makes the program crash */
static char running[256] = "nothing";

static PetscErrorCode SignalName(int signal, void *ctx)
{
  (void)ctx;
  fprintf(stderr, "mat_contract: signal %d in %s\n", signal, running);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 0;
}

/* Runs an operation on one type. An error is part of the record */
static PetscErrorCode RunOn(Case *c, const Operation *operation, const char root[])
{
  Mat       A;
  MatType   type;
  PetscBool ok, assembled;

  PetscFunctionBegin;
  c->root   = root;
  c->arg    = operation->arg;
  c->forget = PETSC_FALSE;
  c->slack  = 1;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 1, 1, 1, 1));
  PetscCall(MatSetType(A, root));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscStrncpy(c->seq, type, sizeof(c->seq)));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscSNPrintf(c->mpi, sizeof(c->mpi), "mpi%s", c->seq + 3));
  c->full      = c->size == 1 ? c->seq : c->mpi;
  lasterror[0] = 0;
  PetscCall(Make(c, root, (Kind)c->kind, 0, &A));
  Try(c, "the operation", ok, operation->run(c, A));
  PetscCall(MatAssembled(A, &assembled)); /* not where PETSc gave up halfway */
  PetscCall(RecordInt(c, "assembled", assembled));
  if (ok && assembled && !c->forget) {
    PetscCall(RecordMat(c, "afterwards", A));
    Try(c, "new values", ok, Fill(A, (Kind)c->kind, 0, 9, INSERT_VALUES));
    if (ok) PetscCall(RecordMat(c, "with new values", A));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Runs an operation on one test matrix with both types. -1: it fails with both, 0: they agree, 1: they do not */
static PetscErrorCode RunKind(MPI_Comm comm, const Operation *operation, int kind, const char root[], char difference[],
                              size_t length, int *outcome, PetscInt *refused)
{
  Case        reference, mine;
  PetscMPIInt bad[2];
  Log        *log = &reference.log;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&reference, sizeof(reference)));
  reference.comm = comm;
  reference.kind = kind;
  PetscCallMPI(MPI_Comm_rank(comm, &reference.rank));
  PetscCallMPI(MPI_Comm_size(comm, &reference.size));
  mine = reference;
  PetscCall(PetscSNPrintf(running, sizeof(running), "%s on aij, %s", operation->name, kindnames[kind]));
  PetscCall(RunOn(&reference, operation, MATAIJ));
  PetscCall(PetscSNPrintf(running, sizeof(running), "%s on %s, %s", operation->name, root, kindnames[kind]));
  PetscCall(RunOn(&mine, operation, root));
  PetscCall(LogCompare(log, &mine.log, difference, length));
  bad[0] = difference[0] != 0;
  bad[1] = 0;
  for (PetscInt k = 0; k < log->n; k++) {
    PetscBool same;

    PetscCall(PetscStrcmp(log->e[k].label, "the operation", &same));
    if (same && PetscRealPart(log->e[k].v[0]) == 0) bad[1] = 1;
  }
  if (bad[0] && lasterror[0]) {
    size_t used;

    PetscCall(PetscStrlen(difference, &used));
    PetscCall(PetscSNPrintf(difference + used, length - used, "; %s: %s", root, lasterror));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bad, 2, MPI_INT, MPI_MAX, comm));
  *outcome = bad[0] ? 1 : (bad[1] ? -1 : 0);
  *refused += reference.refused;
  PetscCall(LogReset(&reference.log));
  PetscCall(LogReset(&mine.log));
  PetscFunctionReturn(0);
}

typedef struct {
  char      root[64], only[1024], skip[1024], kind[64];
  PetscBool some, verbose, onekind;
} Choice;

/* Runs an operation on all its matrices, one line for each that differs */
static PetscErrorCode RunOperation(const Operation *operation, const Choice *choice, PetscBool *agrees)
{
  char      difference[1024];
  int       outcome = 0, agreed = 0, failed = 0;
  PetscInt  refused = 0;
  PetscBool wanted;

  PetscFunctionBegin;
  *agrees = PETSC_TRUE;
  for (int kind = 0; kind < KINDS; kind++) {
    if (!(operation->kinds & BIT(kind))) continue;
    PetscCall(PetscStrcmp(choice->kind, kindnames[kind], &wanted));
    if ((choice->onekind && !wanted) || !SpmvTestSampled()) continue;
    PetscCall(RunKind(PETSC_COMM_WORLD, operation, kind, choice->root, difference, sizeof(difference), &outcome, &refused));
    if (outcome == 0) agreed++;
    else if (outcome < 0) {
      failed++;
      if (choice->verbose) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "    both-fail on %s: %s\n", kindnames[kind], lasterror));
    } else {
      *agrees = PETSC_FALSE;
      PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "%s%s%s%s%s%s", difference[0] ? operation->name : "",
                                        difference[0] ? " on " : "", difference[0] ? kindnames[kind] : "",
                                        difference[0] ? ": " : "", difference, difference[0] ? "\n" : ""));
      PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
    }
  }
  if (choice->verbose)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-38s %s, %d agree, %d both-fail, %" PetscInt_FMT " calls refused by both\n",
                          operation->name, *agrees ? "ok" : "FAILS", agreed, failed, refused));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(const Choice *choice, PetscInt *failed)
{
  PetscInt  count = 0;
  PetscBool wanted, unwanted, agrees, known = PETSC_TRUE;
  Mat       A;

  PetscFunctionBegin;
  *failed = 0;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 1, 1, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(PetscPushErrorHandler(ErrorKeep, NULL));
  if (MatSetType(A, choice->root)) known = PETSC_FALSE;
  PetscCall(PetscPopErrorHandler());
  PetscCall(MatDestroy(&A));
  PetscCheck(known, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "Matrix type %s is not registered; load its library with -dll_append /path/lib/libpetscspmv.so", choice->root);
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(tables); t++) {
    for (size_t k = 0; k < tables[t].count; k++) {
      PetscCall(PetscStrInList(tables[t].operations[k].name, choice->only, ',', &wanted));
      PetscCall(PetscStrInList(tables[t].operations[k].name, choice->skip, ',', &unwanted));
      if (unwanted || (choice->some && !wanted)) continue;
      PetscCall(RunOperation(&tables[t].operations[k], choice, &agrees));
      count++;
      if (!agrees) (*failed)++;
    }
  }
  if (*failed)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "mat_contract: %" PetscInt_FMT " of %" PetscInt_FMT " operations disagree with aij\n",
                          *failed, count));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "mat_contract: %" PetscInt_FMT " operations agree with aij\n", count));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Choice    choice = {"bccoo", "", "", "", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  PetscInt  failed;
  PetscBool missing;

  /* The library's own kernels from the first product on; before PetscInitialize, so that the command line can say otherwise */
  if (PetscOptionsSetValue(NULL, "-mat_spmv_build_after", "0")) return 2;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DeviceIsMissing(&missing));
  if (missing) return PetscFinalize();
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", choice.root, sizeof(choice.root), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", choice.only, sizeof(choice.only), &choice.some));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-skip", choice.skip, sizeof(choice.skip), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-kind", choice.kind, sizeof(choice.kind), &choice.onekind));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-v", &choice.verbose));
  PetscCall(PetscPushSignalHandler(SignalName, NULL));
  PetscCall(Run(&choice, &failed));
  PetscCall(PetscPopSignalHandler());
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}

/*TEST

  # -log_sync, which the harness of newer releases sets: PETSc's own MATSELL waits for ever where a process has no rows; tests/mat_sync.c has it
  # PETSc's ILU(0) and PCREDUNDANT copy A's list of functions to what they make of it; the harness of newer releases has these names printed

  testset:
    args: -type {{FORMATS spmv}} -mat_spmv_build_after 0 -log_sync no
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ\|name: MatSpmv\|_anytype_C" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/mat_contract.out

    test: # types begin at different ones, so that together they do all
      suffix: 1
      args: -sample 3

    test:
      suffix: 1_long

    test:
      suffix: 2_long
      nsize: 2

    test:
      suffix: 3_long
      nsize: 3

  testset:
    args: -mat_spmv_build_after 0 -log_sync no
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ\|name: MatSpmv\|_anytype_C" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/mat_contract.out

    test:
      suffix: 2
      nsize: 2
      args: -type {{bccoo spmv}} -sample 8

    test:
      suffix: 3
      nsize: 3
      args: -type pmf -sample 12

    test:
      suffix: masks
      args: -type bccoo -mat_bccoo_fill masks -sample 3

    test:
      suffix: masks_long
      nsize: {{1 3}}
      args: -type bccoo -mat_bccoo_fill masks

    test:
      suffix: order
      args: -type {{sbccoo spmv}} -mat_spmv_order levels -sample 3

    test:
      suffix: order_2
      nsize: 2
      args: -type spmv -mat_spmv_order levels -sample 8

    test:
      suffix: order_long
      nsize: {{1 3}}
      args: -type {{FORMATS spmv}} -mat_spmv_order levels

  test: # products and vectors on a device
    suffix: device_long
    nsize: {{1 2}}
    args: -type bccoo -mat_spmv_backend device -spmv_device opencl -skip_without_device
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ\|name: MatSpmv\|_anytype_C" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/mat_contract.out

  test:
    suffix: device_types_long
    args: -type {{DEVICE_FORMATS}} -mat_spmv_backend device -vec_type accel -mat_spmv_build_after 0 -spmv_device opencl -skip_without_device
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ\|name: MatSpmv\|_anytype_C" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/mat_contract.out

  test:
    suffix: device
    args: -type bccoo -mat_spmv_backend device -spmv_device opencl -skip_without_device -sample 3
    timeoutfactor: 5
    filter: grep -v "MatCreate_MAIJ\|name: MatSpmv\|_anytype_C" | sed -E "s,contract: [0-9]+,contract: N,"
    output_file: output/mat_contract.out

TEST*/
