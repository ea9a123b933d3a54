/*
  paths.c - files that we keep for a user: where they are, and the folders that they lie in
*/
#include "../spmvimpl.h"
#include <sys/stat.h>

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
    (void)mkdir(path, 0777);
    *p = '/';
  }
}
