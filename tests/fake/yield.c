/*
  yield.c - processes that wait for a message sleep

  Open MPI's processes ask for messages in a loop. On fewer processors than processes that takes the time of those who have something
  to do: a test on three processes takes ten times as long beside another one. With mpi_yield_when_idle the loop calls sched_yield(),
  which this one, preloaded while tests run, answers with a short sleep.
*/
#include <stdlib.h>
#include <time.h>

int sched_yield(void)
{
  const struct timespec moment = {0, 10000};

  (void)nanosleep(&moment, NULL);
  return 0;
}

/* In a build that counts lines: what an error stops is stopped by exit(), which writes down what was counted; mpiexec stops the others */
#if defined(COUNT_LINES)
int MPI_Abort(void *comm, int code)
{
  (void)comm;
  exit(code ? code : 1);
}
#endif
