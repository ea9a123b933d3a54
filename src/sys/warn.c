#include "warn.h"
#include <stdarg.h>

/* One line to stderr, by the first process */
PetscErrorCode SpmvWarn(const char format[], ...)
{
  char    text[2048];
  va_list arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (!PetscGlobalRank) PetscCall(PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "petscspmv warning: %s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}
