static const char help[] =
  "Choices by measuring, by clocks of this test's own: what a machine that is slow for a while, or noisy, makes of them.\n\n";

#include "unit_tune.h"
#include "mat/impls/sbccoo/host/sbccoo_host.h"
#include <unistd.h>

/* A clock for which products by AIJ's kernel take three times as long as all else, and all of it longer from some time on */
static PetscInt       clockreads, clockbusy;
static PetscInt      *clockaij; /* products by AIJ's kernel */
static PetscErrorCode BusyClock(PetscLogDouble *seconds)
{
  static PetscLogDouble now;
  static PetscInt       before;

  PetscFunctionBegin;
  now += (*clockaij != before ? 6e-5 : 2e-5) * (++clockreads > clockbusy ? 10 : 1);
  before   = *clockaij;
  *seconds = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A machine that is slower once AIJ's kernel was measured, and one that always is: the same is chosen */
static PetscErrorCode TestBusy(void)
{
  SpmvTestCSR t;
  SpmvChoice *choice;
  PetscInt    aij, chosen[2];

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  PetscCall(Band(3000, 9, 3, &t));
  clockaij = &aij;
  SpmvMeasureBy(BusyClock);
  for (int busy = 0; busy < 2; busy++) {
    clockbusy  = busy ? 13 : 0; /* the start, and six products between two readings each */
    clockreads = 0;
    PetscCall(Tune(SPMV_TUNE_MEASURE, 0, 1000, &t, &aij, choice));
    PetscCheck(choice->best.number != SPMV_NUMBER_AIJ && choice->measured > 1, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "of %d options AIJ's kernel was chosen, which is the slowest, busy %d", (int)choice->measured, busy);
    chosen[busy] = choice->best.number;
  }
  PetscCheck(chosen[0] == chosen[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s was chosen, and where it was busy %s",
             SpmvCandidate[chosen[0]]->name, SpmvCandidate[chosen[1]]->name);
  SpmvMeasureBy(NULL);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A clock for which whatever runs takes as long */
static PetscLogDouble evenstep;
static PetscErrorCode EvenClock(PetscLogDouble *seconds)
{
  static PetscLogDouble now;

  PetscFunctionBegin;
  now += evenstep;
  *seconds = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AIJ's kernel is measured unless it is estimated to take much longer than what was measured */
static PetscErrorCode TestSafe(void)
{
  SpmvTestCSR    t;
  SpmvChoice    *choice;
  PetscInt       aij;
  PetscLogDouble predicted;

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  PetscCall(Band(3000, 9, 3, &t));
  PetscCall(Tune(SPMV_TUNE_ESTIMATE, 0, 1000, &t, &aij, choice));
  predicted = choice->predicted[SPMV_BACKEND_HOST][SPMV_NUMBER_AIJ];
  SpmvMeasureBy(EvenClock);
  for (int safe = 0; safe < 2; safe++) {
    evenstep = predicted / (safe ? 1.9 : 2.1);
    PetscCall(Tune(SPMV_TUNE_MEASURE, 0, 1000, &t, &aij, choice));
    PetscCheck(choice->best.measured > 0 && (aij > 0) == safe, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%d products by AIJ's kernel, estimated %g s, as others took %g s", (int)aij, (double)predicted, (double)evenstep);
  }
  SpmvMeasureBy(NULL);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A clock for which whatever runs takes from 20 to 30 microseconds */
static PetscErrorCode NoisyClock(PetscLogDouble *seconds)
{
  static PetscLogDouble now;
  static uint32_t       random = 1;

  PetscFunctionBegin;
  random = random * 1664525u + 1013904223u;
  now += 2e-5 * (1 + 0.5 * random / UINT32_MAX);
  *seconds = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define NOISY 400

/* Of two that take as long, whichever is measured later is chosen as often: the least of more products is less */
static PetscErrorCode TestNoisy(void)
{
  SpmvTestCSR t;
  SpmvChoice *choice;
  PetscInt    aij, later = 0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&choice));
  PetscCall(Band(300, 9, 3, &t));
  SpmvMeasureBy(NoisyClock);
  for (PetscInt k = 0; k < NOISY; k++) {
    PetscCall(Tune(SPMV_TUNE_MEASURE, (1 << SPMV_NUMBER_pmf) | (1 << SPMV_NUMBER_AIJ), 1000, &t, &aij, choice));
    PetscCheck(choice->measured == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d options were measured", (int)choice->measured);
    later += choice->best.number == SPMV_NUMBER_pmf;
  }
  SpmvMeasureBy(NULL);
  PetscCheck(later > 0.4 * NOISY && later < 0.6 * NOISY, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "the later one was chosen %d times of %d", (int)later, NOISY);
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscCall(PetscFree(choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan that wisdom has for a pattern is that of the values at hand: what differs by rounding is measured anew, though equal
   values of the same pattern were, and then both are known */
static PetscErrorCode TestWisdomOfOtherValues(void)
{
  enum { N = 60 };
  const char    file[] = "unit_measure.wisdom";
  const SpmvKey key    = {N, N, 3 * N - 2, 17};
  PetscScalar   dense[N * N];
  PetscInt      aij = 0;

  PetscFunctionBegin;
  (void)unlink(file);
  for (int turn = 0; turn < 4; turn++) {
    SPMV_DESTROY_BY(SpmvKeptDestroy) SpmvKept kept = {0};
    const int                                 near = turn % 2;
    const SpmvSide                           *side = &SpmvFormat_sbccoo.host->side;
    SpmvTestCSR                               t;
    SpmvCSR                                   csr;
    SpmvRequest                               q;
    SpmvChoice                               *choice;
    SpmvPlan                                  plan;
    void                                     *storage;

    for (PetscInt k = 0; k < N * N; k++) dense[k] = PetscAbs(k / N - k % N) < 2 ? 1 : 0;
    for (PetscInt r = 1; r < N; r++) dense[r * N + r - 1] += (PetscReal)(near * (200 * r + r % 7)) * PETSC_MACHINE_EPSILON;
    PetscCall(SpmvTestCSRFromDense(N, N, dense, &t));
    csr = SpmvTestCSRView(&t);
    PetscCall(PetscNew(&choice));
    PetscCall(SpmvRequestDefault(&SpmvFormat_spmv, &q));
    q.kind    = SPMV_TUNE_MEASURE;
    q.seconds = 1000;
    q.allowed = 1 << SPMV_NUMBER_sbccoo;
    PetscCall(PetscStrncpy(q.wisdom, file, sizeof(q.wisdom)));
    PetscCall(SpmvTune(&q, &csr, &key, SPMV_BACKEND_HOST, PETSC_FALSE, NULL, Baseline, &aij, choice, &kept));
    PetscCheck(choice->best.number == SPMV_NUMBER_sbccoo && choice->from == (turn > 1 ? SPMV_FROM_WISDOM : SPMV_FROM_MEASURE),
               PETSC_COMM_SELF, PETSC_ERR_PLIB, "turn %d: number %d was chosen, from %d", turn, (int)choice->best.number,
               (int)choice->from);
    plan = choice->best.plan;
    PetscCall(SpmvBuild(side, &csr, NULL, &plan, &storage));
    PetscCheck(plan.value[SBCCOO_PAIRS] == (near ? SBCCOO_NEAR16 : SBCCOO_EQUAL), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "turn %d: pairs are stored as %d", turn, (int)plan.value[SBCCOO_PAIRS]);
    PetscCall(SpmvStorageDestroy(side, &storage));
    PetscCall(PetscFree(choice));
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  (void)unlink(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestNoUserFile());
  PetscCall(TestBusy());
  PetscCall(TestSafe());
  PetscCall(TestNoisy());
  PetscCall(TestWisdomOfOtherValues());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
