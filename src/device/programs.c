/*
  programs.c - kernels compiled once: a cache in memory for the process, and one on disk for the next

  Key:     source, options, compiler, device and driver. A file is named after the key's hash and begins with the key itself
           and a hash of the binary: what does not match is a miss, never an error.
  Folder:  -spmv_device_cache DIR ("none" for no files), else petscspmv/kernels in $XDG_CACHE_HOME or $HOME/.cache. A
           folder that cannot be written is tolerated. Files are written beside and then renamed, so that processes that start
           at once do not read each other's halves.
*/
#include "device.h"
#include "../hash.h"
#include <inttypes.h>
#include <unistd.h>

extern const char SpmvDevicePrelude[];
const char        SpmvDevicePrelude[] =
#include "prelude.cl.h"
  ;

typedef struct _n_Program {
  char              *key;
  void              *program;
  struct _n_Program *next;
} Program;

static Program   *Programs;
SpmvProgramCounts SpmvPrograms;

/* The API's prelude, ours, the kernels */
PetscErrorCode SpmvProgramSource(const SpmvDeviceApi *api, const char source[], char **whole)
{
  const size_t size = strlen(api->prelude) + strlen(SpmvDevicePrelude) + strlen(source) + 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(size, whole));
  PetscCall(PetscSNPrintf(*whole, size, "%s%s%s", api->prelude, SpmvDevicePrelude, source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What every kernel is told besides its plan */
PetscErrorCode SpmvProgramOptions(const SpmvDeviceInfo *info, const char options[], char whole[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(whole, size, "-DREAL_BITS=%d -DCOMPLEX=%d -DATOMIC_64=%d -DUNIFORM_BRANCHES=%d %s",
                          (int)(8 * sizeof(PetscReal)), (int)PetscDefined(USE_COMPLEX), (int)info->atomic64, (int)info->gpu,
                          options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The line that a compiler's log names first after a ':' or '(', 0 if there is none */
static long ProgramErrorLine(const char log[])
{
  const char *p = strstr(log, "error");

  while (p && p > log && p[-1] != '\n') p--;
  for (; p && *p && *p != '\n'; p++) {
    char      *end;
    const long line = (*p == ':' || *p == '(') ? strtol(p + 1, &end, 10) : 0;

    if (line > 0 && (*end == ':' || *end == ')')) return line;
  }
  return 0;
}

/*
  SpmvProgramRefuse - the error of a compiler that refuses a kernel: what it says, the line it means, the options

  Note:
  Always `PETSC_ERR_LIB`: the source is ours.
*/
PetscErrorCode SpmvProgramRefuse(const char api[], const char source[], const char options[], const char log[])
{
  const long  line = ProgramErrorLine(log);
  const char *text = source;

  PetscFunctionBegin;
  for (long k = 1; k < line && text; k++) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  if (!line || !text) text = "";
  SETERRQ(
    PETSC_COMM_SELF, PETSC_ERR_LIB,
    "The %s compiler refuses a kernel; set -mat_spmv_backend host to do without.\nLine %ld: %.*s\nOptions: %.600s\nLog: %.900s",
    api, line, (int)PetscMin(strcspn(text, "\n"), 200), text, options, log);
}

/* Where files are kept; "" for nowhere */
static PetscErrorCode ProgramFolder(char folder[], size_t size)
{
  PetscBool set, none;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-spmv_device_cache", folder, size, &set));
  if (!set) PetscCall(SpmvUserPath("XDG_CACHE_HOME", ".cache", "kernels", folder, size));
  PetscCall(PetscStrcmp(folder, "none", &none));
  if (none) folder[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The binary that a file holds under a key; NULL if there is none, or another, or half of one */
static PetscErrorCode ProgramFileRead(const char file[], const char key[], char **binary, size_t *size)
{
  const size_t nkey = strlen(key);
  FILE        *f    = fopen(file, "rb");
  size_t       head[3]; /* length of key, length of binary, hash of binary */
  char        *text = NULL;

  PetscFunctionBegin;
  *binary = NULL;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  if (fread(head, sizeof(head), 1, f) == 1 && head[0] == nkey && head[1] > 0 && head[1] < (size_t)1 << 30) {
    PetscCall(PetscMalloc1(nkey, &text));
    PetscCall(PetscMalloc1(head[1], binary));
    if (fread(text, 1, nkey, f) != nkey || memcmp(text, key, nkey) || fread(*binary, 1, head[1], f) != head[1] ||
        SpmvHash(0, *binary, head[1]) != head[2])
      PetscCall(PetscFree(*binary));
    PetscCall(PetscFree(text));
    *size = head[1];
  }
  fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fails silently: the next process compiles again */
static PetscErrorCode ProgramFileWrite(const char file[], const char key[], const char *binary, size_t size)
{
  const size_t head[3] = {strlen(key), size, (size_t)SpmvHash(0, binary, size)};
  char         beside[PETSC_MAX_PATH_LEN];
  PetscBool    good;
  FILE        *f;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(beside, sizeof(beside), "%s.%ld", file, (long)getpid()));
  f = fopen(beside, "wb");
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  good = (PetscBool)(fwrite(head, sizeof(head), 1, f) == 1 && fwrite(key, 1, head[0], f) == head[0] &&
                     fwrite(binary, 1, size, f) == size);
  if (fclose(f)) good = PETSC_FALSE;
  if (!good || rename(beside, file)) (void)unlink(beside);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From disk, or compiled and then put there */
static PetscErrorCode ProgramMake(SpmvDevice *d, const char source[], const char options[], const char key[], void **program)
{
  char   folder[PETSC_MAX_PATH_LEN], file[PETSC_MAX_PATH_LEN], *binary = NULL, *log = NULL;
  size_t size = 0;

  PetscFunctionBegin;
  *program = NULL;
  PetscCall(ProgramFolder(folder, sizeof(folder)));
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s/%016" PRIx64 ".bin", folder, SpmvHash(0, key, strlen(key))));
  if (folder[0]) PetscCall(ProgramFileRead(file, key, &binary, &size));
  if (binary) PetscCall(d->api->load(d->handle, binary, size, program));
  PetscCall(PetscFree(binary));
  if (*program) {
    SpmvPrograms.loaded++;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(d->api->compile(d->handle, source, options, program, &binary, &size, &log));
  if (log) {
    PetscErrorCode ierr = SpmvProgramRefuse(d->api->name, source, options, log);

    PetscCall(PetscFree(log));
    PetscCall(ierr);
  }
  SpmvPrograms.compiled++;
  if (folder[0] && binary) {
    SpmvMakeFolders(file);
    PetscCall(ProgramFileWrite(file, key, binary, size));
  }
  PetscCall(PetscFree(binary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvProgramGet - the program of a source under some options, compiled if nobody did before

  Input Parameters:
+ device  - the device
. source  - kernels, without preludes
- options - -D macros, without those that every kernel gets

  Output Parameter:
. program - the API's; not the caller's to release
*/
PetscErrorCode SpmvProgramGet(SpmvDevice *d, const char source[], const char options[], void **program)
{
  char     all[2 * SPMV_DEVICE_OPTIONS], *whole, *key;
  size_t   size;
  Program *p;

  PetscFunctionBegin;
  PetscCall(SpmvProgramOptions(&d->info, options, all, sizeof(all)));
  PetscCall(SpmvProgramSource(d->api, source, &whole));
  size = strlen(whole) + strlen(all) + sizeof(d->info) + 64;
  PetscCall(PetscMalloc1(size, &key));
  PetscCall(
    PetscSNPrintf(key, size, "%s\n%s\n%s\n%s\n%s\n%s", d->api->name, d->info.name, d->info.driver, d->info.compiler, all, whole));
  for (p = Programs; p && strcmp(p->key, key); p = p->next) {}
  if (p) {
    SpmvPrograms.found++;
    PetscCall(PetscFree(key));
  } else {
    PetscErrorCode ierr;

    PetscCall(PetscNew(&p));
    ierr = ProgramMake(d, whole, all, key, &p->program);
    if (ierr) {
      PetscCall(PetscFree(key));
      PetscCall(PetscFree(p));
      PetscCall(PetscFree(whole));
      PetscCall(ierr);
    }
    p->key   = key;
    p->next  = Programs;
    Programs = p;
  }
  PetscCall(PetscFree(whole));
  *program = p->program;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Releases all programs; the device is still open */
PetscErrorCode SpmvProgramsReset(SpmvDevice *d)
{
  PetscFunctionBegin;
  while (Programs) {
    Program *p = Programs;

    Programs = p->next;
    PetscCall(d->api->release(d->handle, &p->program));
    PetscCall(PetscFree(p->key));
    PetscCall(PetscFree(p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
