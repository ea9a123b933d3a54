static const char help[] =
  "Files of plans: found again, replaced, broken lines passed over, comments kept, eight processes writing at once.\n\n";

#include "sys/paths.h"
#include "tune/tune.h"
#include <petscsys.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITERS 8
#define ENTRIES 25

static PetscErrorCode Expect(const char what[], const char file[], const char key[], const char wanted[])
{
  char value[SPMV_WISDOM_LINE];

  PetscFunctionBegin;
  SpmvWisdomFind(file, key, value, sizeof(value));
  PetscCheck(!strcmp(value, wanted), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: key '%s' gives '%s', not '%s'", what, key, value,
             wanted);
  PetscFunctionReturn(0);
}

/* Whether a line of the file is the one that is given, which has its end */
static PetscErrorCode ExpectLine(const char what[], const char file[], const char wanted[])
{
  char      line[SPMV_WISDOM_LINE];
  PetscBool found = PETSC_FALSE;
  FILE     *f     = fopen(file, "r");

  PetscFunctionBegin;
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_SYS, "fopen");
  while (!found && fgets(line, sizeof(line), f)) found = (PetscBool)!strcmp(line, wanted);
  fclose(f);
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no line is '%s'", what, wanted);
  PetscFunctionReturn(0);
}

/* No file may grow beyond a few bytes, as on a full disk: the entry is lost, the file is not */
static PetscErrorCode TestFull(const char file[])
{
  struct rlimit before, now;

  PetscFunctionBegin;
  PetscCheck(!getrlimit(RLIMIT_FSIZE, &before), PETSC_COMM_SELF, PETSC_ERR_SYS, "getrlimit");
  now          = before;
  now.rlim_cur = 8;
  (void)signal(SIGXFSZ, SIG_IGN);
  PetscCheck(!setrlimit(RLIMIT_FSIZE, &now), PETSC_COMM_SELF, PETSC_ERR_SYS, "setrlimit");
  PetscCall(SpmvWisdomAdd(file, "too late", "1"));
  PetscCheck(!setrlimit(RLIMIT_FSIZE, &before), PETSC_COMM_SELF, PETSC_ERR_SYS, "setrlimit");
  PetscCall(Expect("disk was full", file, "a", "3"));
  PetscCall(Expect("disk was full", file, "too late", ""));
  PetscFunctionReturn(0);
}

/* What another user may have written is neither read nor replaced, and nothing goes through a link */
static PetscErrorCode TestForeign(const char file[])
{
  char  name[PETSC_MAX_PATH_LEN], target[PETSC_MAX_PATH_LEN];
  FILE *f;

  PetscFunctionBegin;
  PetscCheck(!chmod(file, 0666), PETSC_COMM_SELF, PETSC_ERR_SYS, "chmod");
  PetscCall(SpmvWisdomAdd(file, "a", "5"));
  PetscCall(Expect("all may write to it", file, "a", ""));
  PetscCheck(!chmod(file, 0644), PETSC_COMM_SELF, PETSC_ERR_SYS, "chmod");
  if (!geteuid() && !chown(file, 12345, 12345)) {
    PetscCall(SpmvWisdomAdd(file, "a", "5"));
    PetscCall(Expect("another user's", file, "a", ""));
    PetscCheck(!chown(file, 0, 0), PETSC_COMM_SELF, PETSC_ERR_SYS, "chown");
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s.link", file));
  PetscCheck(!symlink(file, name), PETSC_COMM_SELF, PETSC_ERR_SYS, "symlink");
  PetscCall(Expect("a link", name, "a", ""));
  PetscCall(SpmvWisdomAdd(name, "a", "5"));
  PetscCheck(!unlink(name), PETSC_COMM_SELF, PETSC_ERR_SYS, "unlink");
  PetscCall(Expect("again ours", file, "a", "3"));
  /* a lock that is a link: written without one */
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s.lock", file));
  PetscCall(PetscSNPrintf(target, sizeof(target), "%s.target", file));
  (void)unlink(name);
  PetscCheck(!symlink(target, name), PETSC_COMM_SELF, PETSC_ERR_SYS, "symlink");
  PetscCall(SpmvWisdomAdd(file, "b", "6"));
  PetscCheck(access(target, F_OK) && !unlink(name), PETSC_COMM_SELF, PETSC_ERR_PLIB, "a lock was made through a link");
  PetscCall(Expect("without a lock", file, "b", "6"));
  /* nobody waits for a lock that is another user's */
  f = fopen(name, "w");
  PetscCheck(f && !fchmod(fileno(f), 0666) && !flock(fileno(f), LOCK_EX), PETSC_COMM_SELF, PETSC_ERR_SYS, "flock");
  PetscCall(SpmvWisdomAdd(file, "b", "7"));
  PetscCheck(!fclose(f) && !unlink(name), PETSC_COMM_SELF, PETSC_ERR_SYS, "unlink");
  PetscCall(Expect("beside a foreign lock", file, "b", "7"));
  PetscFunctionReturn(0);
}

/* Each child adds its own keys and one that all share */
static PetscErrorCode TestConcurrent(const char file[])
{
  pid_t pids[WRITERS];
  char  key[64], value[64];

  PetscFunctionBegin;
  for (int w = 0; w < WRITERS; w++) {
    pids[w] = fork();
    if (pids[w]) continue;
    for (int k = 0; k < ENTRIES; k++) {
      snprintf(key, sizeof(key), "writer %d entry %d", w, k);
      snprintf(value, sizeof(value), "value %d", w * ENTRIES + k);
      if (SpmvWisdomAdd(file, key, value) || SpmvWisdomAdd(file, "shared", value)) _exit(1);
    }
    _exit(0);
  }
  for (int w = 0; w < WRITERS; w++) {
    int status = 1;

    PetscCheck(waitpid(pids[w], &status, 0) == pids[w] && !status, PETSC_COMM_SELF, PETSC_ERR_PLIB, "writer %d failed", w);
  }
  for (int w = 0; w < WRITERS; w++) {
    for (int k = 0; k < ENTRIES; k++) {
      snprintf(key, sizeof(key), "writer %d entry %d", w, k);
      snprintf(value, sizeof(value), "value %d", w * ENTRIES + k);
      PetscCall(Expect("written at once", file, key, value));
    }
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char  folder[] = "/tmp/petscspmv-wisdom-XXXXXX", file[PETSC_MAX_PATH_LEN], name[PETSC_MAX_PATH_LEN + 16];
  FILE *f;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCheck(mkdtemp(folder), PETSC_COMM_SELF, PETSC_ERR_SYS, "mkdtemp");
  PetscCall(PetscSNPrintf(file, sizeof(file), "%s/deep/er/wisdom", folder));
  SpmvMakeFolders(file);
  PetscCall(Expect("no file", file, "a", ""));
  PetscCall(SpmvWisdomAdd(file, "a", "1"));
  PetscCall(SpmvWisdomAdd(file, "a b", "2"));
  PetscCall(Expect("first", file, "a", "1"));
  PetscCall(Expect("second", file, "a b", "2"));
  PetscCall(Expect("another key", file, "a ", ""));
  PetscCall(SpmvWisdomAdd(file, "a", "3"));
  PetscCall(Expect("replaced", file, "a", "3"));

  f = fopen(file, "a");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_SYS, "fopen");
  fprintf(f, "no bar\n\nempty | \ntwo | bars | here\n# comment | x\nc | no end of line");
  fclose(f);
  PetscCall(Expect("no value", file, "empty", ""));
  PetscCall(Expect("two bars", file, "two", ""));
  PetscCall(Expect("torn line", file, "c", ""));
  PetscCall(SpmvWisdomAdd(file, "c", "4"));
  PetscCall(Expect("beside broken lines", file, "a", "3"));
  PetscCall(Expect("after a torn line", file, "c", "4"));
  PetscCall(ExpectLine("a comment", file, "# comment | x\n"));
  f = fopen(file, "a");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_SYS, "fopen");
  fprintf(f, "# no end of line");
  fclose(f);
  PetscCall(SpmvWisdomAdd(file, "c", "5"));
  PetscCall(Expect("after a torn comment", file, "c", "5"));
  PetscCall(ExpectLine("a torn comment", file, "# no end of line\n"));

  PetscCall(SpmvWisdomAdd("/proc/no/such/folder", "a", "1")); /* said under -info, no error */
  PetscCall(SpmvWisdomAdd("/dev/null", "a", "1"));
  PetscCall(SpmvWisdomAdd("", "a", "1"));
  PetscCall(TestFull(file));
  PetscCall(TestForeign(file));
  PetscCall(TestConcurrent(file));
  PetscCall(Expect("after eight writers", file, "a b", "2"));

  for (const char *const *suffix = (const char *const[]){"", ".lock", NULL}; *suffix; suffix++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", file, *suffix));
    (void)unlink(name);
  }
  for (const char *const *part = (const char *const[]){"/deep/er", "/deep", "", NULL}; *part; part++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s%s", folder, *part));
    PetscCheck(!rmdir(name), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s is not empty", name);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "wisdom holds\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
