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

/* A device or a pipe is not read, and not replaced */
static PetscBool WisdomIsFile(const char file[])
{
  struct stat is;

  return (PetscBool)(!stat(file, &is) && S_ISREG(is.st_mode));
}

/* Goes through the good lines of a file: the first value of a key, "" if it has none; the other lines go to `out`, if given */
static int WisdomRead(const char file[], const char key[], char value[], size_t size, FILE *out)
{
  FILE *f = WisdomIsFile(file) ? fopen(file, "r") : NULL;
  char  line[SPMV_WISDOM_LINE], *v;
  int   good = 1;

  value[0] = 0;
  while (f && fgets(line, sizeof(line), f)) {
    if (!WisdomSplit(line, &v)) continue;
    if (strcmp(line, key)) good = good && (!out || fprintf(out, "%s | %s\n", line, v) > 0);
    else if (!value[0] && strlen(v) < size) strcpy(value, v);
  }
  if (f) fclose(f);
  return good;
}

/* The value kept for a key in the user's file ("" for none) or the system's; "" if neither has a good line for it */
void SpmvWisdomFind(const char file[], const char key[], char value[], size_t size)
{
  (void)WisdomRead(file, key, value, size, NULL);
  if (!value[0]) (void)WisdomRead(SPMV_WISDOM_SYSTEM, key, value, size, NULL);
}

/* 0, or errno of what failed; the old file is whole in either case */
static int WisdomReplace(const char file[], const char key[], const char value[])
{
  char  temporary[PETSC_MAX_PATH_LEN + 32], old[SPMV_WISDOM_LINE];
  FILE *out;
  int   good, reason;

  snprintf(temporary, sizeof(temporary), "%s.%ld", file, (long)getpid());
  out = fopen(temporary, "w");
  if (!out) return errno;
  errno  = 0;
  good   = WisdomRead(file, key, old, sizeof(old), out) && fprintf(out, "%s | %s\n", key, value) > 0;
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
  char lock[PETSC_MAX_PATH_LEN + 8];
  int  fd, reason;

  PetscFunctionBegin;
  if (!file[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(strlen(key) + strlen(value) + 5 <= SPMV_WISDOM_LINE && !strpbrk(key, "|\n") && !strpbrk(value, "|\n"),
             PETSC_COMM_SELF, PETSC_ERR_PLIB, "A line of wisdom is too long or has '|' in it: %s", key);
  if (!access(file, F_OK) && !WisdomIsFile(file)) {
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
