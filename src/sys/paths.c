/*
  paths.c - files that we keep for a user: where they are, the folders that they lie in, whose files count, how one is replaced

  They may lie in a folder that others can write to, and what is in a kernel's file is run. So none counts that another user can
  have written, and neither reading nor writing goes through a link, which another user can have put there.
*/
#include "paths.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define PATHS_STEP  10000 /* microseconds between two looks at who holds a folder */
#define PATHS_TRIES 100   /* names of temporary files: each run that was killed while it wrote leaves one */

/*
  SpmvUserPath - petscspmv/<name> in the folder that `variable` names, XDG_CACHE_HOME or XDG_CONFIG_HOME, else in `folder` below
  $HOME, .cache or .config; "" if there is neither. Relative paths do not count (XDG Base Directory Specification)
*/
PetscErrorCode SpmvUserPath(const char variable[], const char folder[], const char name[], char path[], size_t size)
{
  const char *xdg = getenv(variable), *home = getenv("HOME");

  PetscFunctionBegin;
  path[0] = 0;
  if (xdg && xdg[0] == '/') PetscCall(PetscSNPrintf(path, size, "%s/petscspmv/%s", xdg, name));
  else if (home && home[0] == '/') PetscCall(PetscSNPrintf(path, size, "%s/%s/petscspmv/%s", home, folder, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the folders that a file lies in; what cannot be made shows when the file is opened */
void SpmvMakeFolders(const char file[])
{
  char path[PETSC_MAX_PATH_LEN];

  if (!file[0] || strlen(file) >= sizeof(path)) return;
  strcpy(path, file);
  for (char *p = path + 1; (p = strchr(p, '/')); p++) {
    *p = 0;
    (void)mkdir(path, 0700); /* as the XDG specification has it */
    *p = '/';
  }
}

/* Why a file does not count for a user; "" if it does */
const char *SpmvDistrust(const struct stat *is, uid_t user)
{
  if (!S_ISREG(is->st_mode)) return "it is no plain file";
  if (is->st_uid != user && is->st_uid != 0) return "another user owns it";
  return is->st_mode & (S_IWGRP | S_IWOTH) ? "other users may write to it (chmod go-w)" : "";
}

/* Opens a file for reading if it is there and counts; else NULL, and why not: "" if it is not there */
FILE *SpmvOpenTrusted(const char file[], const char **why)
{
  const int   fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* a pipe does not keep us waiting */
  FILE       *f  = NULL;
  struct stat is;

  *why = "";
  if (fd < 0) *why = errno == ELOOP ? "it is a link" : errno == ENOENT || errno == ENOTDIR ? "" : strerror(errno);
  else if (fstat(fd, &is)) *why = strerror(errno);
  else *why = SpmvDistrust(&is, geteuid());
  if (fd >= 0 && !**why) f = fdopen(fd, "rb");
  if (fd >= 0 && !f) (void)close(fd);
  return f;
}

/* Opens a new file beside another one that it is to replace, by SpmvReplaceEnd(); NULL, and errno, if there can be none */
FILE *SpmvReplaceBegin(const char file[], char beside[], size_t size)
{
  int   fd = -1;
  FILE *f;

  errno = ENAMETOOLONG;
  for (int k = 0; fd < 0 && k < PATHS_TRIES; k++) {
    if (snprintf(beside, size, "%s.%ld.%d", file, (long)getpid(), k) >= (int)size) return NULL;
    fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644); /* O_EXCL: nor through a link */
    if (fd < 0 && errno != EEXIST) return NULL;
  }
  f = fd < 0 ? NULL : fdopen(fd, "wb");
  if (fd >= 0 && !f) (void)close(fd);
  return f;
}

/* Closes the new file and, if all went well, gives it the other one's name: who reads finds the old one or the new one. 0, or
   errno */
int SpmvReplaceEnd(FILE *f, PetscBool good, const char beside[], const char file[])
{
  int reason;

  errno = 0;
  if (fclose(f)) good = PETSC_FALSE;
  if (good && !rename(beside, file)) return 0;
  reason = errno ? errno : EIO;
  (void)unlink(beside);
  return reason;
}

/*
  Holds the folder that a file lies in, which others that call this wait for, some seconds at most; SpmvFolderRelease() lets it
  go. -1: it is held for longer, or cannot be
*/
int SpmvFolderHold(const char file[], double seconds)
{
  const char *slash = strrchr(file, '/');
  char        folder[PETSC_MAX_PATH_LEN];
  int         fd;

  if (!slash || snprintf(folder, sizeof(folder), "%.*s/", (int)(slash - file), file) >= (int)sizeof(folder)) return -1;
  fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
    if (errno == EWOULDBLOCK && seconds > 0) {
      (void)usleep(PATHS_STEP);
      seconds -= 1e-6 * PATHS_STEP;
    } else SpmvFolderRelease(&fd);
  }
  return fd;
}

/* Lets a folder go that is held, if one is */
void SpmvFolderRelease(int *held)
{
  if (*held >= 0) (void)close(*held);
  *held = -1;
}
