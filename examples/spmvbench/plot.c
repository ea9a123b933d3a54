/*
  plot.c - -plot FILE: the script beside this file draws what the CSV has

  SVG needs Python alone; PNG, PDF and what else Matplotlib writes need Matplotlib, which is asked for before anything is
  measured.
*/
#include "spmvbench.h"
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef BENCH_FOLDER
  #define BENCH_FOLDER "examples/spmvbench"
#endif

extern char **environ;

/* Runs the script, which says what is wrong; ok <- it ended well */
static PetscErrorCode PlotRun(const char a[], const char b[], const char c[], PetscBool *ok)
{
  const char *python      = getenv("PYTHON");
  const char *arguments[] = {python && python[0] ? python : "python3", BENCH_FOLDER "/plot", a, b, c, NULL};
  int         status      = 0, problem;
  pid_t       child;

  PetscFunctionBegin;
  problem = posix_spawnp(&child, arguments[0], NULL, NULL, (char **)arguments, environ);
  if (problem)
    fprintf(stderr, "spmvbench: -plot: %s: %s: install python3, or set PYTHON to it\n", arguments[0], strerror(problem));
  *ok = (PetscBool)(!problem && waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can the file be drawn? If so and there is no CSV, the name of one that BenchPlot() removes */
PetscErrorCode BenchPlotOpen(const char plot[], char csv[], PetscBool *own, PetscBool *ok)
{
  PetscFunctionBegin;
  *own = PETSC_FALSE;
  *ok  = PETSC_TRUE;
  if (!plot[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlotRun("--out", plot, "--check", ok));
  if (*ok && !csv[0]) {
    char      name[] = "/tmp/spmvbench-XXXXXX";
    const int file   = mkstemp(name);

    PetscCheck(file >= 0 && !close(file), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s: %s; set -csv to a file that can be written",
               name, strerror(errno));
    PetscCall(PetscStrncpy(csv, name, PETSC_MAX_PATH_LEN));
    *own = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws what the CSV has, which is removed if it is our own */
PetscErrorCode BenchPlot(const char plot[], const char csv[], PetscBool own, PetscBool *ok)
{
  PetscFunctionBegin;
  *ok = PETSC_TRUE;
  if (plot[0]) PetscCall(PlotRun("--out", plot, csv, ok));
  if (plot[0] && *ok) printf("drawn: %s\n", plot);
  if (own) (void)unlink(csv);
  PetscFunctionReturn(PETSC_SUCCESS);
}
