/*
  words.c - options and types that are nearly ours: said once, with the nearest name

  An option that no code asks for is no error in PETSc, so that a misspelt one does nothing and nobody hears of it. Those that
  begin like ours, whatever the prefix of the matrix, or are nearly one of ours, are looked at when the first matrix reads its
  options. The names are those that -help prints: a matrix that is made for it is asked, in the way that a user would.
*/
#include "spmvmat.h"
#include "../../sys/warn.h"
#include <stdarg.h>

#define WORDS_LENGTH 96  /* characters of a name, at most */
#define WORDS_COUNT  256 /* names, at most */
#define WORDS_NEAR   2   /* letters that are wrong in a name that does not begin like ours */
#define WORDS_PREFIX "petscspmv_words_"

static char (*Name)[WORDS_LENGTH]; /* [Names] "mat_spmv_isa" */
static int       Names;
static PetscBool Looked;

/* Letters to insert, to leave out, to replace or to swap with the next one, to make b of a */
static int Distance(const char a[], const char b[])
{
  const int n = (int)PetscMin(strlen(a), WORDS_LENGTH - 1), m = (int)PetscMin(strlen(b), WORDS_LENGTH - 1);
  int       d[3][WORDS_LENGTH]; /* rows i - 2, i - 1 and i, taking turns */

  for (int j = 0; j <= m; j++) d[0][j] = j;
  for (int i = 1; i <= n; i++) {
    int *row = d[i % 3], *last = d[(i + 2) % 3], *before = d[(i + 1) % 3];

    row[0] = i;
    for (int j = 1; j <= m; j++) {
      row[j] = PetscMin(PetscMin(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = PetscMin(row[j], before[j - 2] + 1);
    }
  }
  return d[n % 3][m];
}

static void AddName(const char name[], size_t length)
{
  if (Names == WORDS_COUNT || length >= WORDS_LENGTH) return;
  memcpy(Name[Names], name, length);
  Name[Names++][length] = 0;
}

/* In the place of PETSc's function that prints -help: "  -petscspmv_words_mat_spmv_isa: <now ..." */
static PetscErrorCode CollectHelp(MPI_Comm comm, const char format[], ...)
{
  char        text[512], *at;
  const char *prefix = "-" WORDS_PREFIX;
  va_list     arguments;

  va_start(arguments, format);
  (void)vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  at = strstr(text, prefix);
  if (at) at += strlen(prefix);
  if (at) AddName(at, strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789"));
  return PETSC_SUCCESS;
}

/* The names of all our options of a matrix of type spmv, and of the whole process */
static PetscErrorCode CollectNames(void)
{
  PetscErrorCode (*print)(MPI_Comm, const char[], ...) = PetscHelpPrintf;
  PetscOptions   options;
  PetscErrorCode ierr;
  Mat            A;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsSetValue(options, "-help", NULL));
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 0, 0, 0, 0));
  PetscCall(MatSetType(A, MATSPMV));
  PetscCall(PetscObjectSetOptions((PetscObject)A, options));
  PetscCall(
    MatSetOptionsPrefix(A, WORDS_PREFIX)); /* now: PETSc prints help once for each prefix, and MatSetType() was the first */
  ((PetscObject)A)->optionsprinted = PETSC_FALSE;
  PetscHelpPrintf                  = CollectHelp;
  ierr                             = MatSpmvEnsureSettings(A);
  PetscHelpPrintf                  = print;
  PetscCall(ierr);
  PetscCall(MatDestroy(&A));
  PetscCall(PetscOptionsDestroy(&options));
  for (size_t k = 0; SpmvProcessOption(k); k++) AddName(SpmvProcessOption(k), strlen(SpmvProcessOption(k)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where "mat_spmv_", "mat_bccoo_" and the like begin in a name, which may have a prefix, or "spmv_", which has none; else NULL */
static const char *BeginsLikeOurs(const char name[])
{
  if (!strncmp(name, "spmv_", 5)) return name;
  for (const char *at = name; (at = strstr(at, "mat_")); at++) {
    if (at > name && at[-1] != '_') continue;
    if (!strncmp(at + 4, "spmv_", 5)) return at;
    for (int k = 0; k < SPMV_CANDIDATES; k++) {
      const char  *format = SpmvCandidate[k]->name;
      const size_t length = strlen(format);

      if (k != SPMV_NUMBER_AIJ && !strncmp(at + 4, format, length) && at[4 + length] == '_') return at;
    }
  }
  return NULL;
}

/* One option that nothing has asked for yet */
static PetscErrorCode LookAt(const char name[])
{
  const char *ours = BeginsLikeOurs(name), *part = ours;
  int         nearest = -1, least = 0;

  PetscFunctionBegin;
  if (!part) part = !strncmp(name, "mat_", 4) ? name : strstr(name, "_mat_") ? strstr(name, "_mat_") + 1 : NULL;
  if (!part) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < Names; k++) {
    const int distance = Distance(part, Name[k]);

    if (nearest < 0 || distance < least) {
      nearest = k;
      least   = distance;
    }
  }
  if (nearest < 0 || !least || (!ours && least > WORDS_NEAR)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvWarn("there is no option -%s; the nearest is -%.*s%s (-help | grep petscspmv lists all)", name,
                     (int)(part - name), name, Name[nearest]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the first matrix reads its options: those that are left and begin like ours */
PetscErrorCode SpmvWordsCheck(void)
{
  PetscInt n;
  char   **names, **values;
  int      some = 0;

  PetscFunctionBegin;
  if (Looked) PetscFunctionReturn(PETSC_SUCCESS);
  Looked = PETSC_TRUE; /* CollectNames() comes here as well */
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt k = 0; k < n; k++) some += BeginsLikeOurs(names[k]) || strstr(names[k], "mat_");
  if (some) {
    PetscCall(PetscMalloc1(WORDS_COUNT, &Name));
    PetscCall(CollectNames());
    for (PetscInt k = 0; k < n; k++) PetscCall(LookAt(names[k]));
    PetscCall(PetscFree(Name));
    Names = 0;
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SpmvWordsReset(void)
{
  Looked = PETSC_FALSE;
}

/* True if a type of PETSc's or of somebody else's has this name */
static PetscErrorCode IsType(const char type[], PetscBool *is)
{
  char seq[128];
  void (*create)(void) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, type, &create));
  PetscCall(PetscSNPrintf(seq, sizeof(seq), "seq%s", type));
  if (!create) PetscCall(PetscFunctionListFind(MatList, seq, &create));
  *is = (PetscBool)(create != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  When the library is loaded: a value of -mat_type, -dm_mat_type or the like that is no type and nearly one of ours. PETSc's
  error, which follows, knows no names
*/
PetscErrorCode SpmvWordsCheckTypes(void)
{
  PetscInt n;
  char   **names, **values;

  PetscFunctionBegin;
  PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
  for (PetscInt k = 0; k < n; k++) {
    const size_t length = strlen(names[k]);
    const char  *value = values[k], *nearest = MATSPMV;
    char         types[256];
    PetscBool    is = PETSC_FALSE;
    int          least;

    if (!value || length < 8 || strcmp(names[k] + length - 8, "mat_type")) continue;
    PetscCall(IsType(value, &is));
    if (is) continue;
    for (const char *const *start = (const char *const[]){"seqaij", "mpiaij", NULL}; *start; start++) {
      if (!strncmp(value, *start, 6)) value += 6;
    }
    least = Distance(value, nearest);
    for (int c = 0; c < SPMV_CANDIDATES; c++) {
      const int distance = Distance(value, SpmvCandidate[c]->name);

      if (c == SPMV_NUMBER_AIJ || distance >= least) continue;
      least   = distance;
      nearest = SpmvCandidate[c]->name;
    }
    PetscCall(SpmvFormatNames(MATSPMV, types, sizeof(types)));
    if (least && least <= WORDS_NEAR)
      PetscCall(
        SpmvWarn("-%s %s is no type that PETSc knows; the nearest of ours is %s, of: %s", names[k], values[k], nearest, types));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
