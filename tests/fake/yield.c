/*
  yield.c - processes that wait for a message sleep, and those that end too soon fail

  Open MPI's processes ask for messages in a loop. On fewer processors than processes that takes the time of those who have
  something to do: a test on three processes takes ten times as long beside another one. With mpi_yield_when_idle the loop calls
  sched_yield(), which this one, preloaded while tests run, answers with a short sleep.

  A process that ends well, but without MPI_Finalize(), has failed. Open MPI 4.1 would say so, but on a busy machine of others as
  well, so that it is told not to (conf/test), and the process itself looks.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int sched_yield(void)
{
  const struct timespec moment = {0, 10000};

  (void)nanosleep(&moment, NULL);
  return 0;
}

static pid_t process; /* not one that it forks, which has no MPI of its own */

static void Ended(int status, void *unused)
{
  int (*initialized)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "MPI_Initialized");
  int (*finalized)(int *)   = (int (*)(int *))dlsym(RTLD_DEFAULT, "MPI_Finalized");
  int begun = 0, done = 0;

  (void)unused;
  if (status || getpid() != process || !getenv("OMPI_COMM_WORLD_RANK") || !initialized || !finalized) return;
  (void)initialized(&begun);
  (void)finalized(&done);
  if (!begun || done) return;
  (void)fprintf(stderr, "a process called exit(0) before MPI_Finalize()\n");
  _exit(1);
}

__attribute__((constructor)) static void Begin(void)
{
  process = getpid();
  (void)on_exit(Ended, NULL);
}

/* In a build that counts lines: what an error stops is stopped by exit(), which writes down what was counted; mpiexec stops the
   others */
#if defined(COUNT_LINES)
int MPI_Abort(void *comm, int code)
{
  (void)comm;
  exit(code ? code : 1);
}
#endif
