/*
  programs.c - kernels compiled once: a cache in memory for the process, and one on disk for the next

  Key:     source, options, compiler, device and driver. A file is named after the key's hash and begins with a hash of key and
           binary: what does not match is a miss, never an error.
  Folder:  -spmv_device_cache DIR ("none" for no files), else petscspmv/kernels in $XDG_CACHE_HOME or $HOME/.cache. A
           folder that cannot be written is tolerated, a file that another user can have written is a miss. Files are written
           beside and then renamed, so that processes that start at once do not read each other's halves. One of them
           compiles while the others wait for what it puts there: PoCL 3.1 fails where several compile the same at once.
*/
#include "device.h"
#include "../sys/hash.h"
#include "../sys/paths.h"
#include <inttypes.h>
#include <petsctime.h>

static const char Prelude[] =
#include "prelude.cl.h"
  ;

typedef struct _n_Program {
  char              *key;
  void              *program;
  struct _n_Program *next;
} Program;

static Program *Programs;
PetscLogDouble  SpmvPrograms[SPMV_PROGRAMS];
PetscLogDouble  SpmvProgramSeconds;

/* The API's prelude, ours, the kernels */
PetscErrorCode SpmvProgramSource(const SpmvDeviceApi *api, const char source[], char **whole)
{
  const size_t size = strlen(api->prelude) + strlen(Prelude) + strlen(source) + 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(size, whole));
  PetscCall(PetscSNPrintf(*whole, size, "%s%s%s", api->prelude, Prelude, source));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What every kernel is told besides its plan */
PetscErrorCode SpmvProgramOptions(const SpmvDeviceInfo *info, const char options[], char whole[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(whole, size, "-DREAL_BITS=%d -DCOMPLEX=%d -DINDEX_BITS=%d -DATOMIC_64=%d -DUNIFORM_BRANCHES=%d %s",
                          (int)(8 * sizeof(PetscReal)), (int)PetscDefined(USE_COMPLEX), (int)(8 * sizeof(PetscInt)),
                          (int)info->atomic64, (int)info->gpu, options));
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

/* The error of a compiler that refuses a kernel: what it says, the line it means, the options */
static PetscErrorCode ProgramRefuse(const char api[], const char source[], const char options[], const char log[])
{
  const long  line = ProgramErrorLine(log);
  const char *text = source;

  PetscFunctionBegin;
  for (long k = 1; k < line && text; k++) {
    text = strchr(text, '\n');
    if (text) text++;
  }
  if (!line || !text) text = "";
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB,
          "The %s compiler refuses a kernel; set -mat_spmv_backend host to do without.\n"
          "Line %ld: %.*s\nOptions: %.600s\nLog: %.900s",
          api, line, (int)PetscMin(strcspn(text, "\n"), 200), text, options, log);
}

/* The file of a key; "" for none */
static PetscErrorCode ProgramFile(const char key[], char file[], size_t size)
{
  char      folder[PETSC_MAX_PATH_LEN];
  PetscBool set;

  PetscFunctionBegin;
  file[0] = 0;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-spmv_device_cache", folder, sizeof(folder), &set));
  if (!set) PetscCall(SpmvUserPath("XDG_CACHE_HOME", ".cache", "kernels", folder, sizeof(folder)));
  if (!folder[0] || !strcmp(folder, "none")) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(file, size, "%s/%016" PRIx64 ".bin", folder, SpmvHash(0, key, strlen(key))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The hash of a key and its binary */
static uint64_t ProgramHash(const char key[], const char *binary, size_t size)
{
  return SpmvHash(SpmvHash(0, key, strlen(key)), binary, size);
}

/* The binary that a file holds under a key; NULL if there is none, or another, or half of one */
static PetscErrorCode ProgramFileRead(const char file[], const char key[], char **binary, size_t *size)
{
  const char *why;
  FILE       *f = SpmvOpenTrusted(file, &why);
  uint64_t    head[2]; /* bytes of the binary, hash */

  PetscFunctionBegin;
  if (*why) PetscCall(PetscInfo(NULL, "%s is not used: %s\n", file, why));
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  if (fread(head, sizeof(head), 1, f) == 1 && head[0] > 0 && head[0] < UINT64_C(1) << 30) {
    *size = (size_t)head[0];
    PetscCall(PetscMalloc1(*size, binary));
    if (fread(*binary, 1, *size, f) != *size || ProgramHash(key, *binary, *size) != head[1]) PetscCall(PetscFree(*binary));
  }
  fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fails silently: the next process compiles again */
static PetscErrorCode ProgramFileWrite(const char file[], const char key[], const char *binary, size_t size)
{
  const uint64_t head[2] = {size, ProgramHash(key, binary, size)};
  char           beside[PETSC_MAX_PATH_LEN];
  PetscBool      good;
  FILE          *f;

  PetscFunctionBegin;
  f = SpmvReplaceBegin(file, beside, sizeof(beside));
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  good = (PetscBool)(fwrite(head, sizeof(head), 1, f) == 1 && fwrite(binary, 1, size, f) == size);
  (void)SpmvReplaceEnd(f, good, beside, file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a file holds under a key; NULL if that is nothing the device takes */
static PetscErrorCode ProgramLoad(SpmvDevice *d, const char file[], const char key[], void **program)
{
  SPMV_TEMPORARY char *read = NULL;
  size_t               size = 0;

  PetscFunctionBegin;
  PetscCall(ProgramFileRead(file, key, &read, &size));
  if (read) SpmvCallDevice(d, NULL, load, read, size, program);
  SpmvPrograms[SPMV_LOADED] += *program != NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PROGRAM_WAIT 30. /* seconds that another process may take to compile before this one does so as well */

/* From disk, or compiled and then put there */
static PetscErrorCode ProgramMake(SpmvDevice *d, const char source[], const char options[], const char key[], void **program)
{
  char                                   file[PETSC_MAX_PATH_LEN];
  SPMV_TEMPORARY char                   *binary = NULL, *log = NULL;
  SPMV_DESTROY_BY(SpmvFolderRelease) int held = -1;
  size_t                                 size = 0;

  PetscFunctionBegin;
  *program = NULL;
  PetscCall(ProgramFile(key, file, sizeof(file)));
  PetscCall(ProgramLoad(d, file, key, program));
  if (!*program && file[0]) {
    SpmvMakeFolders(file);
    held = SpmvFolderHold(file, PROGRAM_WAIT);
    if (held >= 0) PetscCall(ProgramLoad(d, file, key, program)); /* another process may have put it there meanwhile */
  }
  if (*program) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(NULL, "Kernels are compiled with %s\n", options));
  PetscCall(d->api->compile(d->handle, source, options, program, &binary, &size, &log));
  if (log) PetscCall(ProgramRefuse(d->api->name, source, options, log));
  if (!*program) SpmvCallDevice(d, NULL, load, binary, size, program);
  PetscCheck(*program || d->failed, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "The %s driver does not take what its compiler made: it may be older than the compiler; update the driver, or set "
             "-mat_spmv_backend host",
             d->api->name);
  if (!*program) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvPrograms[SPMV_COMPILED]++;
  if (file[0] && binary) PetscCall(ProgramFileWrite(file, key, binary, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  The program of kernels without preludes, under -D options without those that every kernel gets; not the caller's to release.
  NULL if the device fails and is tolerant
*/
PetscErrorCode SpmvProgramGet(SpmvDevice *d, const char source[], const char options[], void **program)
{
  const SpmvDeviceInfo *info  = &d->info;
  SPMV_TEMPORARY char  *whole = NULL, *key = NULL;
  char                  all[2 * SPMV_DEVICE_OPTIONS];
  Program              *p;
  size_t                size;
  void                 *made;

  PetscFunctionBegin;
  *program = NULL;
  PetscCall(SpmvProgramOptions(info, options, all, sizeof(all)));
  PetscCall(SpmvProgramSource(d->api, source, &whole));
  size = strlen(whole) + strlen(all) + sizeof(*info) + 64;
  PetscCall(PetscMalloc1(size, &key));
  PetscCall(
    PetscSNPrintf(key, size, "%s\n%s\n%s\n%s\n%s\n%s", d->api->name, info->name, info->driver, info->compiler, all, whole));
  for (p = Programs; p && strcmp(p->key, key); p = p->next) {}
  if (p) SpmvPrograms[SPMV_FOUND]++;
  else {
    PetscLogDouble start, end;

    PetscCall(PetscTime(&start));
    PetscCall(ProgramMake(d, whole, all, key, &made));
    PetscCall(PetscTime(&end));
    SpmvProgramSeconds += end - start;
    if (!made) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscNew(&p));
    *p       = (Program){.key = key, .program = made, .next = Programs};
    Programs = p;
    key      = NULL;
  }
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
    SpmvReleaseDevice(d, release, p->program);
    PetscCall(PetscFree(p->key));
    PetscCall(PetscFree(p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
