static const char help[] =
  "Files of the user's: which folders and whose files count, and that folders are made; hashes of what differs.\n\n";

#include "sys/hash.h"
#include "sys/paths.h"
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

/* Files of others, those that others may write to, and what is no file do not count */
static PetscErrorCode TestDistrust(void)
{
  static const struct {
    uid_t       owner;
    mode_t      mode;
    const char *words; /* "": it counts */
  } files[] = {
    {1000, S_IFREG | 0644, ""},
    {1000, S_IFREG | 0600, ""},
    {0, S_IFREG | 0644, ""},
    {1001, S_IFREG | 0644, "another user owns"},
    {1000, S_IFREG | 0664, "other users may"},
    {1000, S_IFREG | 0646, "other users may"},
    {0, S_IFREG | 0666, "other users may"},
    {1000, S_IFDIR | 0700, "no plain file"},
    {1000, S_IFIFO | 0600, "no plain file"},
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(files); k++) {
    const struct stat is  = {.st_uid = files[k].owner, .st_mode = files[k].mode};
    const char       *why = SpmvDistrust(&is, 1000);

    PetscCheck(files[k].words[0] ? strstr(why, files[k].words) != NULL : !why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "owner %d, mode %o: '%s'", (int)files[k].owner, (unsigned)files[k].mode, why);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Opens(const char file[], const char words[])
{
  const char *why;
  FILE       *f = SpmvOpenTrusted(file, &why);

  PetscFunctionBegin;
  PetscCheck(words ? !f && (words[0] ? strstr(why, words) != NULL : !why[0]) : f && !why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: %s, '%s'", file, f ? "opened" : "not opened", why);
  if (f) (void)fclose(f);
  PetscFunctionReturn(0);
}

/* A file is written beside and renamed, through no link that waits there; links are not read through, nor is a file of another
   user */
static PetscErrorCode TestReplace(void)
{
  char  folder[] = "/tmp/petscspmv-trust-XXXXXX", file[PETSC_MAX_PATH_LEN], beside[PETSC_MAX_PATH_LEN], link[PETSC_MAX_PATH_LEN];
  FILE *f;

  PetscFunctionBegin;
  PetscCheck(mkdtemp(folder), PETSC_COMM_SELF, PETSC_ERR_SYS, "mkdtemp");
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s/file", folder));
  PetscCall(PetscSNPrintf(link, sizeof(link), "%s/link", folder));
  PetscCall(Opens(file, ""));
  PetscCall(PetscSNPrintf(beside, sizeof(beside), "%s.%ld.0", file, (long)getpid()));
  PetscCheck(!symlink(link, beside), PETSC_COMM_SELF, PETSC_ERR_SYS, "symlink");
  f = SpmvReplaceBegin(file, beside, sizeof(beside));
  PetscCheck(f && fputs("text", f) > 0 && !SpmvReplaceEnd(f, PETSC_TRUE, beside, file), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s",
             file);
  PetscCheck(access(link, F_OK), PETSC_COMM_SELF, PETSC_ERR_PLIB, "it was written through a link");
  PetscCall(Opens(file, NULL));
  f = SpmvReplaceBegin(file, beside, sizeof(beside));
  PetscCheck(f && SpmvReplaceEnd(f, PETSC_FALSE, beside, file) && access(beside, F_OK), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "what is not good is kept");
  PetscCall(Opens(file, NULL));
  PetscCheck(!symlink(file, link), PETSC_COMM_SELF, PETSC_ERR_SYS, "symlink");
  PetscCall(Opens(link, "a link"));
  PetscCheck(!chmod(file, 0666), PETSC_COMM_SELF, PETSC_ERR_SYS, "chmod");
  PetscCall(Opens(file, "other users may"));
  PetscCheck(!chmod(file, 0644), PETSC_COMM_SELF, PETSC_ERR_SYS, "chmod");
  if (!geteuid() && !chown(file, 12345, 12345)) PetscCall(Opens(file, "another user owns"));
  PetscCall(Opens(folder, "no plain file"));
  PetscCall(PetscSNPrintf(beside, sizeof(beside), "%s.%ld.0", file, (long)getpid()));
  PetscCheck(!unlink(file) && !unlink(link) && !unlink(beside) && !rmdir(folder), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s is not empty", folder);
  PetscCheck(!SpmvReplaceBegin("/proc/no/such", beside, sizeof(beside)) && !SpmvReplaceBegin(file, beside, 8), PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "opened where nothing can be");
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

/* A folder is held by one at a time, others wait as long as they are told to; what is no folder cannot be held */
static PetscErrorCode TestHold(void)
{
  char folder[] = "/tmp/petscspmv-paths-XXXXXX", file[PETSC_MAX_PATH_LEN];
  int  held[2];

  PetscFunctionBegin;
  PetscCheck(mkdtemp(folder), PETSC_COMM_SELF, PETSC_ERR_SYS, "mkdtemp");
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s/file", folder));
  for (int k = 0; k < 2; k++) {
    held[0] = SpmvFolderHold(file, 0);
    held[1] = SpmvFolderHold(file, k ? 0.05 : 0);
    PetscCheck(held[0] >= 0 && held[1] < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "held: %d, and at the same time %d", held[0],
               held[1]);
    SpmvFolderRelease(&held[1]);
    SpmvFolderRelease(&held[0]);
    PetscCheck(held[0] == -1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d is still held", held[0]);
  }
  for (const char *const *none = (const char *const[]){"/no/such/folder", "file", "", NULL}; *none; none++)
    PetscCheck(SpmvFolderHold(*none, 1) == -1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "'%s' is held", *none);
  PetscCheck(!rmdir(folder), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is not empty", folder);
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
  PetscCall(TestDistrust());
  PetscCall(TestReplace());
  PetscCall(TestHold());
  PetscCall(TestHash());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "paths and hashes hold\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
