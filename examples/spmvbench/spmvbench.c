/*
  spmvbench.c - measures the products of matrix types: the options, the loop over the matrices

  The help text below says what it does; the table's columns are explained in report.c and the method in measure.c.
*/
static char help[] =
  "spmvbench - which matrix type is best for your matrix? How fast do types multiply, and how exactly?\n\n"
  "  spmvbench -f my.mtx                      the best type, how much faster it is, its memory, and what to type\n"
  "  spmvbench -f my.mtx -plot my.png         the same, and a picture of it\n"
  "  ./app -ksp_view_mat binary:my.petsc      writes the matrix of a running program, for -f my.petsc\n"
  "  spmvbench -f a.mtx.gz,b.petsc -types bccoo,bccoo:block_height=1:block_width=1 -csv out.csv\n"
  "                                           all that is measured of these types\n\n"
  "  -f FILE,...      Matrix Market (.mtx, .mtx.gz) or PETSc binary files\n"
  "  -generate K:N,.. dense:N, laplace7:N, laplace7var:N, laplace27:N, elasticity:N (nodes of an edge), p2:N (cubes\n"
  "                   of an edge), qcd:N (sites of an edge), powerlaw:N, permutation:N, lpwide:N (columns), uniform:N,\n"
  "                   longrow:N (entries of the long row)\n"
  "  -types T,...     types to measure besides PETSc's aij (with and without inodes), aijperm, aijsell, sell and baij;\n"
  "                   without it all of ours, and a short report of products. T may have\n"
  "                   options: bccoo:block_height=3 sets -mat_bccoo_block_height 3, bccoo:mat_spmv_isa=avx2 sets\n"
  "                   -mat_spmv_isa avx2, bccoo:block_size=3 calls MatSetBlockSize()\n"
  "  -csv FILE        one line for each matrix and type\n"
  "  -plot FILE       draws times and bytes: FILE.svg by Python alone; FILE.png, FILE.pdf by Matplotlib (python3-matplotlib)\n"
  "  -seconds S       seconds of products for each type and matrix (0.3; 1 with -types); 0 looks at errors only\n"
  "  -threads N       threads that share a product, where a type can (1); bytes are read by as many\n"
  "  -operation O     what is timed: product (default), transpose, refresh (a product with new values), kernels (a product\n"
  "                   on a device that has x and y already; aij on the host beside it), columns:N (a product with a\n"
  "                   dense matrix of N columns), sor (a symmetric Gauss-Seidel sweep from zero), ilu or icc (a solve with\n"
  "                   incomplete factors of level 0); rates count one product's work\n"
  "  -petsc P         which of PETSc's own types: all (default), aij, which is all that kernels is compared with, or none\n"
  "  -turns FILE      several of these programs at once: while one takes times the others wait, by a lock of FILE\n"
  "  -values V        file (default), or random: the pattern with values of either sign\n"
  "  -progress S      seconds between two lines about what is going on, where standard error is no terminal (10)\n"
  "  -matrix_view V   shows each matrix, as PETSc's viewers do: ascii, binary:out.petsc, draw\n\n"
  "mpiexec -n N: N processes measure the same at once, each for itself, and the first one reports its own times\n\n"
  "Exit status: 0 all is well; 1 a file is broken, a type asked for fails, a product is wrong, or nothing could be drawn;\n"
  "2 the options are wrong, nothing was done\n\n";

#include "spmvbench.h"
#include "petscspmv.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BENCH_LIST_MAX 4096 /* items in a list of an option, at most */

/* ---- a line about what is going on, on standard error, when it takes long ---- */

static struct {
  PetscBool shown;
  PetscReal pause;         /* seconds between lines, where standard error is no terminal */
  PetscInt  matrix, total; /* the one that is being measured, from 1, and how many there are */
} progress = {.pause = 10};

PetscErrorCode BenchProgress(const char format[], ...)
{
  static double start = 0, last = 0;
  const double  now = BenchClock();
  const int     tty = isatty(STDERR_FILENO);
  va_list       arguments;

  PetscFunctionBegin;
  if (start == 0) start = now;
  if (now - start < PetscMin(2, progress.pause) || now - last < (tty ? 0.2 : progress.pause)) PetscFunctionReturn(PETSC_SUCCESS);
  last = now;
  fprintf(stderr, tty ? "\r\033[K[%.0f s] " : "[%.0f s] ", now - start);
  if (progress.total > 1) fprintf(stderr, "%" PetscInt_FMT " of %" PetscInt_FMT ", ", progress.matrix, progress.total);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  if (!tty) fputc('\n', stderr);
  else progress.shown = PETSC_TRUE;
  fflush(stderr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the line away, before something else is printed */
PetscErrorCode BenchProgressClear(void)
{
  PetscFunctionBegin;
  if (progress.shown) fprintf(stderr, "\r\033[K");
  progress.shown = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- errors that are not ours ---- */

/* PETSc's error handler while something is tried: keeps the first message and says nothing */
static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                  PetscErrorType type, const char *message, void *context)
{
  char       *why = context;
  const char *text;

  if (type != PETSC_ERROR_INITIAL || why[0]) return code;
  if (!message || !message[0]) (void)PetscErrorMessage(code, &text, NULL);
  else text = message;
  (void)snprintf(why, BENCH_REASON, "%s", text ? text : "unknown error");
  for (char *p = why; *p; p++) {
    if (*p == '\n') *p = ' ';
  }
  return code;
}

/* ok, or the first message of what went wrong */
PetscErrorCode BenchTry(PetscErrorCode (*run)(void *), void *context, char why[], PetscBool *ok)
{
  PetscErrorCode code;
#if defined(PETSC_USE_DEBUG) && !defined(PETSC_HAVE_THREADSAFETY)
  PetscStack stack;
#endif

  PetscFunctionBegin;
  why[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepMessage, why));
#if defined(PETSC_USE_DEBUG) && !defined(PETSC_HAVE_THREADSAFETY)
  stack      = petscstack; /* functions that fail do not take themselves off it */
  code       = (*run)(context);
  petscstack = stack;
#else
  code = (*run)(context);
#endif
  PetscCall(PetscPopErrorHandler());
  *ok = (PetscBool)(code == PETSC_SUCCESS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the matrices ---- */

typedef struct {
  const char  *description;
  BenchMatrix *M;
} BenchGenerate;

static PetscErrorCode GenerateTry(void *context)
{
  BenchGenerate *g = context;

  PetscFunctionBegin;
  PetscCall(BenchMatrixGenerate(g->description, g->M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchMatrixGet(const char name[], PetscBool generate, BenchMatrix *M, BenchOutcome *outcome, char reason[])
{
  PetscFunctionBegin;
  PetscCall(BenchProgress("%s: %s", name, generate ? "generating" : "reading"));
  if (generate) {
    BenchGenerate g  = {name, M};
    PetscBool     ok = PETSC_FALSE;

    PetscCall(BenchTry(GenerateTry, &g, reason, &ok));
    *outcome = ok ? BENCH_OK : BENCH_BROKEN;
    if (!ok) {
      char why[BENCH_REASON];

      PetscCall(PetscStrncpy(why, reason, sizeof(why)));
      PetscCall(PetscSNPrintf(reason, BENCH_REASON, "-generate %s: %s", name, why));
    }
  } else PetscCall(BenchMatrixRead(name, M, outcome, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  BenchRun  run;
  PetscBool random; /* values */
  PetscInt  ntypes;
  char     *types[BENCH_LIST_MAX];
  PetscInt  measured, skipped, broken;
  PetscBool good;
} Bench;

static PetscErrorCode BenchOne(Bench *b, const char name[], PetscBool generate)
{
  BenchMatrix  M;
  BenchType   *types;
  BenchOutcome outcome;
  PetscInt     count;
  char         reason[BENCH_REASON];

  PetscFunctionBegin;
  progress.matrix++;
  PetscCall(BenchMatrixGet(name, generate, &M, &outcome, reason));
  if (outcome == BENCH_OK) {
    uint64_t state = 31415926;

    for (PetscInt k = 0; b->random && k < M.i[M.m]; k++) M.a[k] = BenchSigned(&state);
    PetscCall(BenchTypesCreate(&M, &b->run, b->ntypes, b->types, &count, &types));
    PetscCall(BenchMeasure(&M, &b->run, count, types, &b->good));
    PetscCall(BenchReportMatrix(&M, &b->run, count, types));
    for (PetscInt k = 0; k < count; k++) {
      if (types[k].A && !types[k].pass)
        PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "spmvbench: %s: a product of type %s is wrong by %g eps |A||x|\n",
                               M.name, types[k].spec, types[k].error));
    }
    if (types[0].A && !b->run.rank) { /* aij, or the first that was asked for; its prefix is no user's */
      PetscCall(MatSetOptionsPrefix(types[0].A, NULL));
      PetscCall(MatViewFromOptions(types[0].A, NULL, "-matrix_view"));
    }
    PetscCall(BenchTypesDestroy(count, &types));
    b->measured++;
  } else {
    PetscCall(BenchProgressClear());
    PetscCall(
      PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "spmvbench: %s%s\n", reason, outcome == BENCH_SKIPPED ? " (skipped)" : ""));
    if (outcome == BENCH_SKIPPED) b->skipped++;
    else b->broken++;
  }
  PetscCall(BenchMatrixDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -turns: programs share the file's lock, but for one that takes times, which has it alone */
PetscErrorCode BenchTurn(const BenchRun *run, int lock)
{
  PetscFunctionBegin;
  if (run->turns >= 0)
    PetscCheck(!flock(run->turns, lock), PETSC_COMM_SELF, PETSC_ERR_SYS, "-turns cannot be locked: %s", strerror(errno));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the options ---- */

static PetscErrorCode ListGet(const char option[], char *list[], PetscInt *count)
{
  PetscBool set;

  PetscFunctionBegin;
  *count = BENCH_LIST_MAX;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, list, count, &set));
  if (!set) *count = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The types that are asked for; none: all of ours */
static PetscErrorCode TypesGet(Bench *b)
{
  static const char *const ours[] = {
    MATSPMV,
#define SPMV_FORMAT(name) #name,
#include "formats.h"
#undef SPMV_FORMAT
  };

  PetscFunctionBegin;
  PetscCall(ListGet("-types", b->types, &b->ntypes));
  if (b->ntypes) PetscFunctionReturn(PETSC_SUCCESS);
  b->run.brief = PETSC_TRUE;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(ours); k++) PetscCall(PetscStrallocpy(ours[k], &b->types[b->ntypes++]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListDestroy(char *list[], PetscInt count)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++) PetscCall(PetscFree(list[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tries the types that were asked for on a small matrix, which blocks of all sizes divide: a typing error is said at once */
static PetscErrorCode TypesCheck(Bench *b, PetscBool *ok)
{
  BenchMatrix M;
  BenchType  *types;
  PetscInt    count;
  BenchRun    run = {.threads   = 1,
                     .rank      = b->run.rank,
                     .ranks     = b->run.ranks,
                     .petsc     = b->run.petsc,
                     .turns     = -1,
                     .operation = b->run.operation == BENCH_KERNELS ? BENCH_KERNELS : BENCH_PRODUCT};
  PetscBool   good;

  PetscFunctionBegin;
  *ok = PETSC_TRUE;
  PetscCall(BenchMatrixGenerate("permutation:840", &M));
  PetscCall(PetscStrncpy(M.name, "-types", sizeof(M.name)));
  PetscCall(BenchTypesCreate(&M, &run, b->ntypes, b->types, &count, &types));
  PetscCall(BenchMeasure(&M, &run, count, types, &good));
  for (PetscInt k = 0; k < count; k++) *ok = (PetscBool)(*ok && (types[k].A || !types[k].asked));
  PetscCall(BenchTypesDestroy(count, &types));
  PetscCall(BenchMatrixDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether it is so in all processes */
static PetscErrorCode GoodOfAll(PetscBool *good)
{
  int mine = (int)*good, all = mine;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  *good = (PetscBool)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything between PetscInitialize() and PetscFinalize() */
static PetscErrorCode BenchMain(Bench *b, int *status)
{
  static char       *files[BENCH_LIST_MAX], *kinds[BENCH_LIST_MAX]; /* too large for the stack */
  static const char *values[] = {"file", "random"}, *petscs[] = {"all", "aij", "none"};
  PetscInt           nfiles, nkinds, value = 0, petsc = 0;
  PetscReal          seconds;
  char               operation[64]           = "product";
  char               csv[PETSC_MAX_PATH_LEN] = "", plot[PETSC_MAX_PATH_LEN] = "", turns[PETSC_MAX_PATH_LEN] = "";
  PetscBool          ok, own = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(ListGet("-f", files, &nfiles));
  PetscCall(ListGet("-generate", kinds, &nkinds));
  PetscCall(TypesGet(b));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-csv", csv, sizeof(csv), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-plot", plot, sizeof(plot), NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-progress", &progress.pause, NULL));
  if (b->run.rank) {
    csv[0] = plot[0] = 0;
    progress.pause   = PETSC_MAX_REAL;
  }
  seconds = b->run.brief ? (PetscReal)0.3 : 1;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &seconds, NULL));
  PetscCheck(seconds >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-seconds %g is negative; set it to 0 or more",
             (double)seconds);
  b->run.threads = 1;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-threads", &b->run.threads, NULL));
  PetscCheck(b->run.threads >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-threads %" PetscInt_FMT " is less than 1; set it to 1 or more", b->run.threads);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-turns", turns, sizeof(turns), NULL));
  b->run.turns = turns[0] ? open(turns, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
  PetscCheck(!turns[0] || b->run.ranks == 1, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-turns %s is for programs of one process each; leave it out with mpiexec -n %d", turns, (int)b->run.ranks);
  PetscCheck(!turns[0] || b->run.turns >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-turns %s cannot be opened: %s", turns,
             strerror(errno));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-operation", operation, sizeof(operation), NULL));
  PetscCall(BenchOperationParse(operation, &b->run));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-values", values, 2, &value, NULL));
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-petsc", petscs, 3, &petsc, NULL));
  b->run.petsc   = petsc == BENCH_PETSC_ALL && b->run.operation == BENCH_KERNELS ? BENCH_PETSC_AIJ : petsc;
  b->run.seconds = (double)seconds;
  b->run.brief   = (PetscBool)(b->run.brief && seconds > 0 && b->run.operation == BENCH_PRODUCT && petsc != BENCH_PETSC_NONE);
  PetscCall(BenchTurn(&b->run, LOCK_SH));
  progress.total = nfiles + nkinds;
  b->random      = (PetscBool)(value == 1);
  b->good        = PETSC_TRUE;
  *status        = 2;
  PetscCall(TypesCheck(b, &ok));
  if (!(nfiles + nkinds))
    fprintf(stderr, "spmvbench: no matrix; give -f FILE,... or -generate KIND:N,... (spmvbench -help says more)\n");
  else if (ok && plot[0] && seconds == 0) {
    fprintf(stderr, "spmvbench: -plot draws times, and -seconds 0 takes none: leave one of them out\n");
    ok = PETSC_FALSE;
  } else if (ok) PetscCall(BenchPlotOpen(plot, csv, &own, &ok));
  if (ok && nfiles + nkinds) {
    PetscCall(BenchReportOpen(csv, &ok));
    if (!ok) fprintf(stderr, "spmvbench: -csv %s cannot be written\n", csv);
  }
  PetscCall(GoodOfAll(&ok)); /* the others would wait for one that gives up */
  if (ok && nfiles + nkinds) {
    for (PetscInt k = 0; k < nfiles; k++) PetscCall(BenchOne(b, files[k], PETSC_FALSE));
    for (PetscInt k = 0; k < nkinds; k++) PetscCall(BenchOne(b, kinds[k], PETSC_TRUE));
    PetscCall(BenchReportClose((PetscBool)(!b->run.brief || b->measured > 1)));
    printf("%" PetscInt_FMT " matri%s measured, %" PetscInt_FMT " skipped, %" PetscInt_FMT " broken%s\n", b->measured,
           b->measured == 1 ? "x" : "ces", b->skipped, b->broken, b->good ? "" : "; a type failed or a product is wrong");
    *status = b->broken || !b->good;
    PetscCall(BenchPlot(b->measured ? plot : "", csv, own, &ok));
    if (!ok) *status = 1;
  }
  PetscCall(ListDestroy(files, nfiles));
  PetscCall(ListDestroy(kinds, nkinds));
  PetscCall(ListDestroy(b->types, b->ntypes));
  if (b->run.turns >= 0) close(b->run.turns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static Bench b; /* too large for the stack */
  int          status = 2;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &b.run.ranks));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &b.run.rank));
  if (b.run.rank && !freopen("/dev/null", "w", stdout)) fclose(stdout); /* what is reported is the first one's */
  PetscCall(BenchMain(&b, &status));
  PetscCall(PetscFinalize());
  return status;
}
