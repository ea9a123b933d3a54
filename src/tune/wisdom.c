/*
  wisdom.c - files of plans that were found by measuring, kept from one run to the next

  A file has lines "key | value", both text without '|' or line ends. The key says for what the value was found (remember.c);
  another key is a miss, so files may be copied and shared. The user's own file is read first, then the system's, which is never
  written.

  Nothing that happens to a file is an error: what cannot be read is a miss, what cannot be written is told by -info. Writers take
  turns by a lock beside the file, read it again, replace or add their line, write a file of another name, and rename it:
  readers see the old one or the new one.
*/
#include "tune.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPMV_WISDOM_SYSTEM "/etc/petscspmv/wisdom"

/* Splits "key | value\n" in place; 0 if the line is not of that form */
static int WisdomSplit(char line[], char **value)
{
  char *bar = strstr(line, " | ");
  char *end = strchr(line, '\n');

  if (!bar || !end || line[0] == '#') return 0;
  *bar   = 0;
  *end   = 0;
  *value = bar + 3;
  return **value && !strchr(*value, '|');
}

/* A file that is one: a device or a pipe is not read, and not replaced */
static FILE *WisdomOpen(const char file[])
{
  struct stat is;

  return !stat(file, &is) && S_ISREG(is.st_mode) ? fopen(file, "r") : NULL;
}

static PetscBool WisdomLook(const char file[], const char key[], char value[], size_t size)
{
  FILE     *f = WisdomOpen(file);
  char      line[SPMV_WISDOM_LINE], *v;
  PetscBool found = PETSC_FALSE;

  if (!f) return PETSC_FALSE;
  while (!found && fgets(line, sizeof(line), f)) {
    if (!WisdomSplit(line, &v) || strcmp(line, key) || strlen(v) >= size) continue;
    strcpy(value, v);
    found = PETSC_TRUE;
  }
  fclose(f);
  return found;
}

/*
  SpmvWisdomFind - the value kept for a key, in the user's file or the system's

  Input Parameters:
+ file - the user's, "" for none
. key  - exactly as it was added
- size - length of value

  Output Parameters:
+ value - text
- found - PETSC_FALSE if neither file has the key, cannot be read, or has a broken line for it
*/
PetscErrorCode SpmvWisdomFind(const char file[], const char key[], char value[], size_t size, PetscBool *found)
{
  PetscFunctionBegin;
  *found = (PetscBool)((file[0] && WisdomLook(file, key, value, size)) || WisdomLook(SPMV_WISDOM_SYSTEM, key, value, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lines of the old file that are of the form and have another key */
static int WisdomCopy(const char file[], const char key[], FILE *out)
{
  FILE *f = WisdomOpen(file);
  char  line[SPMV_WISDOM_LINE], *v;
  int   good = 1;

  if (!f) return 1;
  while (fgets(line, sizeof(line), f)) {
    if (WisdomSplit(line, &v) && strcmp(line, key)) good = good && fprintf(out, "%s | %s\n", line, v) > 0;
  }
  fclose(f);
  return good;
}

/* 0, or errno of what failed; the old file is whole in either case */
static int WisdomReplace(const char file[], const char key[], const char value[])
{
  char  temporary[PETSC_MAX_PATH_LEN + 32];
  FILE *out;
  int   good, reason;

  snprintf(temporary, sizeof(temporary), "%s.%ld", file, (long)getpid());
  out = fopen(temporary, "w");
  if (!out) return errno;
  errno  = 0;
  good   = WisdomCopy(file, key, out) && fprintf(out, "%s | %s\n", key, value) > 0;
  good   = !fclose(out) && good;
  good   = good && !rename(temporary, file);
  reason = errno ? errno : EIO;
  if (good) return 0;
  (void)unlink(temporary);
  return reason;
}

/* Keeps a value for a key in a file, "" for none; replaces the one that the file has for it */
PetscErrorCode SpmvWisdomAdd(const char file[], const char key[], const char value[])
{
  char        lock[PETSC_MAX_PATH_LEN + 8];
  struct stat is;
  int         fd, reason;

  PetscFunctionBegin;
  if (!file[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(strlen(key) + strlen(value) + 5 <= SPMV_WISDOM_LINE && !strpbrk(key, "|\n") && !strpbrk(value, "|\n"),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "A line of wisdom is too long or has '|' in it: %s", key);
  if (!stat(file, &is) && !S_ISREG(is.st_mode)) {
    PetscCall(PetscInfo(NULL, "wisdom was not written to %s: it is no file\n", file));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SpmvMakeFolders(file);
  snprintf(lock, sizeof(lock), "%s.lock", file);
  fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd >= 0)
    (void)flock(fd, LOCK_EX); /* without locks, as on some network disks, lines written at once may be lost, files not */
  reason = WisdomReplace(file, key, value);
  if (fd >= 0) close(fd);
  if (reason) PetscCall(PetscInfo(NULL, "wisdom was not written to %s: %s\n", file, strerror(reason)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
