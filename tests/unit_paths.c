static const char help[] = "Files of the user's: which folders count, and that folders are made; hashes of what differs.\n\n";

#include "spmvimpl.h"
#include "sys/hash.h"
#include <sys/stat.h>
#include <unistd.h>

/* NULL: not set */
static PetscErrorCode Set(const char name[], const char value[])
{
  PetscFunctionBegin;
  PetscCheck(!(value ? setenv(name, value, 1) : unsetenv(name)), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s", name);
  PetscFunctionReturn(0);
}

static PetscErrorCode Expect(const char cache[], const char config[], const char home[], const char wanted_cache[],
                             const char wanted_config[])
{
  char path[64];

  PetscFunctionBegin;
  PetscCall(Set("XDG_CACHE_HOME", cache));
  PetscCall(Set("XDG_CONFIG_HOME", config));
  PetscCall(Set("HOME", home));
  PetscCall(SpmvUserPath("XDG_CACHE_HOME", ".cache", "wisdom", path, sizeof(path)));
  PetscCheck(!strcmp(path, wanted_cache), PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s', not '%s'", path, wanted_cache);
  PetscCall(SpmvUserPath("XDG_CONFIG_HOME", ".config", "machine", path, sizeof(path)));
  PetscCheck(!strcmp(path, wanted_config), PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s', not '%s'", path, wanted_config);
  PetscFunctionReturn(0);
}

static PetscErrorCode TestFolders(void)
{
  char        folder[] = "/tmp/petscspmv-paths-XXXXXX", file[PETSC_MAX_PATH_LEN];
  struct stat is;

  PetscFunctionBegin;
  PetscCheck(mkdtemp(folder), PETSC_COMM_SELF, PETSC_ERR_SYS, "mkdtemp");
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s/deep/er/file", folder));
  SpmvMakeFolders(file);
  SpmvMakeFolders(file); /* all there already */
  SpmvMakeFolders("/proc/no/such/folder");
  SpmvMakeFolders("");
  PetscCheck(stat(file, &is), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s was made", file);
  for (const char *const *part = (const char *const[]){"/deep/er", "/deep", "", NULL}; *part; part++) {
    PetscCall(PetscSNPrintf(file, sizeof(file), "%s%s", folder, *part));
    PetscCheck(!rmdir(file), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s was not made", file);
  }
  PetscFunctionReturn(0);
}

/* Texts that differ in one bit, and by length, have different hashes */
static PetscErrorCode TestHash(void)
{
  char     text[32] = "sixteen letters ";
  uint64_t seen[16 * 8 + 33];
  size_t   n = 0;

  PetscFunctionBegin;
  for (size_t length = 1; length <= 32; length++) seen[n++] = SpmvHash(0, text, length);
  for (size_t bit = 0; bit < 16 * 8; bit++) {
    text[bit / 8] ^= (char)(1 << bit % 8);
    seen[n++] = SpmvHash(0, text, 16);
    text[bit / 8] ^= (char)(1 << bit % 8);
  }
  for (size_t a = 0; a < n; a++) {
    for (size_t b = 0; b < a; b++)
      PetscCheck(seen[a] != seen[b], PETSC_COMM_SELF, PETSC_ERR_PLIB, "texts %zu and %zu have the same hash", b, a);
  }
  PetscCheck(SpmvHash(SpmvHash(0, text, 7), text + 7, 9) == SpmvHash(0, text, 16), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "a text in two parts has another hash");
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(Expect("/a", "/b", "/home", "/a/petscspmv/wisdom", "/b/petscspmv/machine"));
  PetscCall(Expect(NULL, "", "/home", "/home/.cache/petscspmv/wisdom", "/home/.config/petscspmv/machine"));
  PetscCall(Expect("relative", "./relative", "/home", "/home/.cache/petscspmv/wisdom", "/home/.config/petscspmv/machine"));
  PetscCall(Expect(NULL, "/b", "relative", "", "/b/petscspmv/machine"));
  PetscCall(Expect("relative", NULL, NULL, "", ""));
  PetscCall(TestFolders());
  PetscCall(TestHash());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "paths and hashes hold\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
