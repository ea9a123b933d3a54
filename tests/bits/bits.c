static const char help[] = "The bits of products, so that two libraries can be compared: tests/bits/compare runs it.\n\
  A line of standard input is a case: set matrix type options isa threads backend\n\
  set     - all or few: which products\n\
  matrix  - kind:number:number...\n\
  options - name=value:name=value, or -; bunch=8 is short for -mat_<type>_bunch 8, names with mat_ are whole\n\
For each product a line is printed, and a line with a dot at the end of the case:\n\
  matrix type options isa threads backend product hash # plan\n\
A product that cannot be made has the error's code in the place of the hash, and the message behind it.\n\n";

#include "matrices.h"

#define COLUMNS 21 /* of a dense matrix: the kernels take 16, 8 and 4 */

typedef struct {
  char         set[8], matrix[128], type[64], options[256], isa[16], backend[16];
  int          threads;
  PetscOptions database;
} Case;

/* ---- errors ---- */

static char Message[512];

/* PETSc's error handler while something is tried: keeps the first message and says nothing */
static PetscErrorCode Keep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                           PetscErrorType type, const char *message, void *context)
{
  const char *text = message;

  if (type != PETSC_ERROR_INITIAL || Message[0]) return code;
  if (!text || !text[0]) (void)PetscErrorMessage(code, &text, NULL);
  (void)snprintf(Message, sizeof(Message), "%s", text ? text : "unknown error");
  for (char *p = Message; *p; p++) *p = *p == '\n' ? ' ' : *p;
  (void)comm, (void)line, (void)function, (void)file, (void)context;
  return code;
}

/* failed <- 0, or the code of what call returned */
#if defined(PETSC_USE_DEBUG) && !defined(PETSC_HAVE_THREADSAFETY)
  #define STACK_KEEP    const PetscStack stack_ = petscstack /* functions that fail do not take themselves off it */
  #define STACK_RESTORE petscstack = stack_
#else
  #define STACK_KEEP
  #define STACK_RESTORE
#endif
#define TRY(failed, call) \
  do { \
    STACK_KEEP; \
    Message[0] = 0; \
    PetscCall(PetscPushErrorHandler(Keep, NULL)); \
    *(failed) = (int)(call); \
    STACK_RESTORE; \
    PetscCall(PetscPopErrorHandler()); \
  } while (0)

/* ---- numbers in, hashes out ---- */

static void Fill(PetscInt seed, PetscInt first, PetscInt n, PetscScalar a[])
{
  for (PetscInt k = 0; k < n; k++) a[k] = NumberOf(seed, first + k, 0);
}

/* A vector like another, with the numbers of a seed; full of NaN with seed 0 */
static PetscErrorCode VectorCreate(Vec like, PetscInt seed, Vec *x)
{
  PetscScalar *a;
  PetscInt     first, end;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(like, x));
  PetscCall(VecGetOwnershipRange(*x, &first, &end));
  PetscCall(VecGetArrayWrite(*x, &a));
  Fill(seed, first, end - first, a);
  for (PetscInt k = 0; k < end - first && !seed; k++) a[k] = (PetscScalar)NAN;
  PetscCall(VecRestoreArrayWrite(*x, &a));
  PetscFunctionReturn(0);
}

/* FNV-1a, four bytes at a time; NaN are all the same */
static uint64_t HashOf(PetscInt n, const PetscScalar a[])
{
  const PetscReal *r = (const PetscReal *)a;
  uint64_t         h = UINT64_C(0xcbf29ce484222325);

  for (size_t k = 0; k < (size_t)n * sizeof(PetscScalar) / sizeof(PetscReal); k++) {
    uint32_t word[sizeof(PetscReal) / 4];

    memcpy(word, &r[k], sizeof(word));
    for (size_t w = 0; w < sizeof(word) / 4; w++) h = (h ^ (PetscIsNanReal(r[k]) ? 0x7ff8 : word[w])) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
  }
  return h;
}

/* Of all processes, each with its own */
static PetscErrorCode HashGather(uint64_t *hash)
{
  uint64_t    all[64] = {0}, h = 0;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size <= 64, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "%d processes are more than 64; use fewer", size);
  PetscCallMPI(MPI_Allgather(hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, PETSC_COMM_WORLD));
  for (int k = 0; k < size; k++) h = h * UINT64_C(0x9e3779b97f4a7c15) + all[k];
  *hash = h;
  PetscFunctionReturn(0);
}

/* ---- products ---- */

static PetscErrorCode MultiplyVectors(Mat A, const char product[], Vec in, Vec out, uint64_t *hash)
{
  const PetscBool    adds = (PetscBool)(strstr(product, "add") != NULL);
  const PetscScalar *a;
  PetscInt           n;
  Vec                x, y, z;

  PetscFunctionBegin;
  PetscCall(VectorCreate(in, 1, &x));
  PetscCall(VectorCreate(out, 2, &z));
  PetscCall(VectorCreate(out, !strcmp(product, "addto") ? 2 : 0, &y));
  if (!strncmp(product, "trans", 5)) PetscCall(adds ? MatMultTransposeAdd(A, x, z, y) : MatMultTranspose(A, x, y));
  else PetscCall(adds ? MatMultAdd(A, x, strcmp(product, "addto") ? z : y, y) : MatMult(A, x, y));
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(y, &a));
  *hash = HashOf(n, a);
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

static PetscErrorCode MultiplyDense(Mat A, PetscBool transposed, uint64_t *hash)
{
  const PetscScalar *c;
  PetscScalar       *b;
  PetscInt           m, n, first, end;
  Mat                B, C;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, transposed ? &n : &m, transposed ? &m : &n));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)A), n, PETSC_DECIDE, PETSC_DETERMINE, COLUMNS, NULL, &B));
  PetscCall(MatGetOwnershipRange(B, &first, &end));
  PetscCall(MatDenseGetArrayWrite(B, &b));
  for (PetscInt k = 0; k < COLUMNS; k++) Fill(3 + k, first, n, b + (size_t)k * (size_t)n);
  PetscCall(MatDenseRestoreArrayWrite(B, &b));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall((transposed ? MatTransposeMatMult : MatMatMult)(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatDenseGetArrayRead(C, &c));
  *hash = HashOf(m * COLUMNS, c);
  PetscCall(MatDenseRestoreArrayRead(C, &c));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(0);
}

/* One product, by its name. Vectors are of the kind that the matrix makes; with "host..." they are the host's */
static PetscErrorCode Multiply(Mat A, const char product[], uint64_t *hash)
{
  const PetscBool host       = (PetscBool)!strncmp(product, "host", 4);
  const PetscBool transposed = (PetscBool)!strncmp(product, "trans", 5);
  Vec             right, left;

  PetscFunctionBegin;
  *hash = 0;
  if (!strncmp(product, "dense", 5)) PetscCall(MultiplyDense(A, (PetscBool)!strcmp(product, "densetrans"), hash));
  else {
    PetscCall(MatCreateVecs(A, &right, &left));
    if (host) {
      PetscCall(VecSetType(right, VECSTANDARD));
      PetscCall(VecSetType(left, VECSTANDARD));
    }
    PetscCall(MultiplyVectors(A, host ? "mult" : product, transposed ? left : right, transposed ? right : left, hash));
    PetscCall(VecDestroy(&right));
    PetscCall(VecDestroy(&left));
  }
  PetscCall(HashGather(hash));
  PetscFunctionReturn(0);
}

/* ---- cases ---- */

/* -mat_... of one of the options of a case; the value is NULL at the end. Cuts text */
static char *OptionNext(const Case *c, char **text, char name[], size_t size)
{
  char *option = strtok_r(NULL, ":", text), *value = option ? strchr(option, '=') : NULL;

  if (!value) return NULL;
  *value++ = 0;
  if (!strncmp(option, "mat_", 4)) (void)snprintf(name, size, "-%s", option);
  else (void)snprintf(name, size, "-mat_%s_%s", c->type, option);
  return value;
}

static PetscErrorCode OptionsSet(Case *c, PetscBool copy)
{
  char text[sizeof(c->options)], name[128], threads[16], *value, *state = text;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&c->database));
  (void)snprintf(threads, sizeof(threads), "%d", c->threads);
  PetscCall(PetscOptionsSetValue(c->database, "-mat_spmv_build_after", "0"));
  PetscCall(PetscOptionsSetValue(c->database, "-mat_spmv_isa", c->isa));
  PetscCall(PetscOptionsSetValue(c->database, "-mat_spmv_threads", threads));
  PetscCall(PetscOptionsSetValue(c->database, "-mat_spmv_backend", c->backend));
  PetscCall(PetscOptionsSetValue(c->database, "-mat_spmv_wisdom", "none"));
  if (copy) PetscCall(PetscOptionsSetValue(c->database, "-mat_spmv_transpose", "copy"));
  (void)snprintf(text, sizeof(text), "%s", c->options);
  while ((value = OptionNext(c, &state, name, sizeof(name)))) PetscCall(PetscOptionsSetValue(c->database, name, value));
  PetscFunctionReturn(0);
}

/* The first option of a case that nobody has asked for is an error */
static PetscErrorCode OptionsCheck(Case *c)
{
  char text[sizeof(c->options)], name[128], *state = text;

  PetscFunctionBegin;
  (void)snprintf(text, sizeof(text), "%s", c->options);
  while (OptionNext(c, &state, name, sizeof(name))) {
    PetscBool used;

    PetscCall(PetscOptionsUsed(c->database, name + 1, &used));
    PetscCheck(used, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "unknown option %s", name);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CaseMatrix(Case *c, Mat source, PetscBool copy, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(OptionsSet(c, copy));
  PetscCall(MatConvert(source, c->type, MAT_INITIAL_MATRIX, A));
  PetscCall(MatrixDeclare(c->matrix, *A));
  PetscCall(PetscObjectSetOptions((PetscObject)*A, c->database));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(OptionsCheck(c));
  PetscFunctionReturn(0);
}

static PetscErrorCode Print(const Case *c, Mat A, const char prefix[], const char product[], int failed, uint64_t hash)
{
  PetscErrorCode (*getplan)(Mat, char[], size_t) = NULL;
  char tail[512]                                 = "", result[32];

  PetscFunctionBegin;
  if (!failed) PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSpmvGetPlan_C", &getplan));
  if (getplan) PetscCall((*getplan)(A, tail, sizeof(tail)));
  if (failed) (void)snprintf(result, sizeof(result), "!%d", failed);
  else (void)snprintf(result, sizeof(result), "%016" PRIx64, hash);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s %s %s %s %d %s %s%s %s # %s\n", c->matrix, c->type, c->options, c->isa, c->threads,
                        c->backend, prefix, product, result, failed ? Message : tail));
  PetscFunctionReturn(0);
}

/* Products of one matrix, some before and some after its values changed. What has failed is left as it is: it need not be fit to
   be destroyed */
static PetscErrorCode Run(Case *c, Mat source, const char prefix[], const char *const before[], const char *const after[])
{
  const PetscBool copy = (PetscBool)(prefix[0] != 0);
  Mat             A    = NULL;
  uint64_t        hash = 0;
  char            renewed[32];
  int             failed;

  PetscFunctionBegin;
  (void)snprintf(renewed, sizeof(renewed), "%snew:", prefix);
  TRY(&failed, CaseMatrix(c, source, copy, &A));
  for (int k = 0; before[k]; k++) {
    if (!failed) TRY(&failed, Multiply(A, before[k], &hash));
    PetscCall(Print(c, A, prefix, before[k], failed, hash));
  }
  if (!failed) TRY(&failed, MatrixRenew(A));
  for (int k = 0; after[k]; k++) {
    if (!failed) TRY(&failed, Multiply(A, after[k], &hash));
    PetscCall(Print(c, A, renewed, after[k], failed, hash));
  }
  if (failed) PetscFunctionReturn(0);
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsDestroy(&c->database));
  PetscFunctionReturn(0);
}

static PetscErrorCode RunCase(Case *c, Mat source)
{
  static const char *const all[]    = {"mult", "add", "addto", "trans", "transadd", "dense", "densetrans", NULL};
  static const char *const device[] = {"mult", "add", "addto", "trans", "transadd", "hostmult", NULL};
  static const char *const few[] = {"mult", "addto", "trans", NULL}, *const renewed[] = {"mult", "addto", "trans", NULL};
  static const char *const copied[] = {"trans", "transadd", NULL}, *const fewer[] = {"trans", NULL};
  const PetscBool whole = (PetscBool)!strcmp(c->set, "all"), host = (PetscBool)!strcmp(c->backend, "host");

  PetscFunctionBegin;
  PetscCall(Run(c, source, "", !whole ? few : host ? all : device, renewed));
  PetscCall(Run(c, source, "copy:", whole ? copied : fewer, fewer));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, ".\n"));
  PetscFunctionReturn(0);
}

/* The next line of standard input, for all processes; PETSC_FALSE at its end */
static PetscErrorCode CaseRead(Case *c, PetscBool *more)
{
  char        line[1024] = "";
  PetscMPIInt rank;
  int         fields;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank && !fgets(line, sizeof(line), stdin)) line[0] = 0;
  PetscCallMPI(MPI_Bcast(line, sizeof(line), MPI_CHAR, 0, PETSC_COMM_WORLD));
  *more = (PetscBool)(line[0] != 0);
  if (!*more) PetscFunctionReturn(0);
  fields =
    sscanf(line, "%7s %127s %63s %255s %15s %d %15s", c->set, c->matrix, c->type, c->options, c->isa, &c->threads, c->backend);
  PetscCheck(fields == 7, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Not a case: %s", line);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Pattern   pattern   = {0};
  char      name[128] = "";
  Mat       source    = NULL;
  Case      c;
  PetscBool more;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (;;) {
    PetscCall(CaseRead(&c, &more));
    if (!more) break;
    if (strcmp(name, c.matrix)) {
      PetscCall(MatrixDestroy(&pattern, &source));
      PetscCall(MatrixCreate(c.matrix, &pattern, &source));
      (void)snprintf(name, sizeof(name), "%s", c.matrix);
    }
    PetscCall(RunCase(&c, source));
    fflush(stdout);
  }
  PetscCall(MatrixDestroy(&pattern, &source));
  PetscCall(PetscFinalize());
  return 0;
}
