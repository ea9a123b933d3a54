static const char help[] =
  "The tuner's samples: their windows stand for all rows, and estimates from them for what is built.\n\n";

#include "unit_tune.h"

/* Bytes that a storage has */
static PetscErrorCode BytesBuilt(PetscInt number, const SpmvCSR *csr, SpmvPlan plan, PetscLogDouble *bytes)
{
  const SpmvSide *side = &SpmvCandidate[number]->host->side;
  void           *storage;

  PetscFunctionBegin;
  PetscCall(SpmvBuild(side, csr, NULL, &plan, &storage));
  PetscCall(SpmvTestBytes(side, storage, bytes));
  PetscCall(SpmvStorageDestroy(side, &storage));
  PetscFunctionReturn(0);
}

/* Bytes of each candidate, from a part of the rows, against those built */
static PetscErrorCode TestSample(void)
{
  SpmvTestCSR t;
  SpmvCSR     csr;
  SpmvSample  sample;
  PetscReal   part = 0, stands = 0;

  PetscFunctionBegin;
  PetscCall(Band(100000, 9, 3, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_FORMATS, &sample));
  for (PetscInt w = 0; w < sample.nwindows; w++) {
    part += (PetscReal)sample.window[w].i[sample.window[w].m] / (PetscReal)csr.i[csr.m];
    stands += sample.weight[w] * (PetscReal)sample.window[w].i[sample.window[w].m] / (PetscReal)csr.i[csr.m];
  }
  PetscCheck(part < 0.2 && part > 0.025 && PetscAbsReal(stands - 1) < 1e-5 && sample.nwindows >= 8, PETSC_COMM_SELF,
             PETSC_ERR_PLIB, "%d windows, %g of all entries, stand for %g", (int)sample.nwindows, (double)part, (double)stands);
  for (PetscInt k = 0; k < SPMV_NUMBER_AIJ; k++) {
    const SpmvFormat *f      = SpmvCandidate[k];
    SpmvOption        option = {.number = k, .plan = SpmvTestPlan(f, SPMV_BACKEND_HOST)}, again;
    PetscLogDouble    bytes;
    char              why[512];

    PetscCall(SpmvSuits(k, &csr, &option.plan, why, sizeof(why)));
    if (why[0]) continue; /* unit_half_bytes.c has matrices for it */
    PetscCall(BytesBuilt(k, &csr, option.plan, &bytes));
    if (f->host->side.resolve) PetscCall(f->host->side.resolve(&csr, NULL, &option.plan));
    PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, k, 1, &option.plan, &option));
    PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, k, 1, &option.plan, &again));
    PetscCheck(again.predicted == option.predicted && option.predicted > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g s, then %g",
               f->name, (double)option.predicted, (double)again.predicted);
    PetscCheck(PetscAbsReal((PetscReal)(option.bytes / bytes - 1)) < 0.05, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "%s: %g bytes by a sample, %g in all", f->name, (double)option.bytes, (double)bytes);
  }
  PetscCall(SpmvSampleDestroy(&sample));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(0);
}

/* m rows: `head` of so many entries, `step` apart, then blocks of 1 x 2 */
static PetscErrorCode LongRows(PetscInt m, PetscInt head, PetscInt length, PetscInt step, SpmvTestCSR *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = m};
  PetscCall(SpmvTestCSRAlloc(m, head * length + 2 * m, t));
  for (PetscInt r = 0; r < m; r++) {
    t->i[r] = nz;
    for (PetscInt k = 0; k < (r < head ? length : 2); k++, nz++) {
      t->j[nz] = r < head ? step * k + r : r / 2 * 2 + k;
      t->a[nz] = 1;
    }
  }
  t->i[m] = nz;
  PetscFunctionReturn(0);
}

/* Few rows with nearly half of the entries and no blocks, before many with blocks of 1 x 2: a window at the beginning does not
   stand for the others */
static PetscErrorCode TestUneven(void)
{
  const PetscInt number = 0;
  SpmvTestCSR    t;
  SpmvCSR        csr;
  SpmvSample     sample;
  SpmvOption     option = {.number = number, .plan = SpmvTestPlan(SpmvCandidate[number], SPMV_BACKEND_HOST)};
  PetscLogDouble bytes;
  PetscBool      good;

  PetscFunctionBegin;
  PetscCheck(!strcmp(SpmvCandidate[number]->name, "bccoo"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "candidate %d is %s", (int)number,
             SpmvCandidate[number]->name);
  PetscCall(LongRows(50000, 200, 400, 3, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(
    SpmvPlanRead(&SpmvCandidate[number]->host->side, "block_height=1 block_width=2 bunch=8 tile=64", &option.plan, &good));
  PetscCheck(good, PETSC_COMM_SELF, PETSC_ERR_PLIB, "bccoo has other knobs");
  PetscCall(BytesBuilt(number, &csr, option.plan, &bytes));
  PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_PAIR, &sample));
  PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, number, 1, &option.plan, &option));
  PetscCheck(PetscAbsReal(option.bytes / bytes - 1) < 0.05, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes are estimated to be %g",
             (double)bytes, (double)option.bytes);
  PetscCall(SpmvSampleDestroy(&sample));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(0);
}

/* Where two rows have a third of the entries, as in a saddle point, windows of other rows stand for all of them all the same */
static PetscErrorCode TestDenseRows(void)
{
  enum { M = 100000 };
  SpmvTestCSR t;
  SpmvCSR     csr;
  SpmvSample  sample;
  PetscReal   rows = 0;

  PetscFunctionBegin;
  PetscCall(LongRows(M, 2, M / 2, 2, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_FORMATS, &sample));
  for (PetscInt w = 0; w < sample.nwindows; w++) rows += sample.weight[w] * (PetscReal)sample.window[w].m;
  PetscCheck(rows > 0.6 * M && rows < 1.4 * M, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d windows stand for %g of %d rows",
             (int)sample.nwindows, (double)rows, M);
  PetscCall(SpmvSampleDestroy(&sample));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(0);
}

/* Rows of 20 to 59 entries, in no order: what pmf loses where the length changes, from windows of some rows, is as in all of them */
static PetscErrorCode TestLengths(void)
{
  enum { M = 6000, LEAST = 20, LENGTHS = 40 };
  SpmvTestCSR t = {.m = M, .n = M};
  SpmvCSR     csr;
  SpmvSample  sample;
  SpmvTerms   terms;
  SpmvWork    all = {0};
  SpmvPlan    plan;
  PetscInt    number = 0, nz = 0;

  PetscFunctionBegin;
  while (strcmp(SpmvCandidate[number]->name, "pmf")) number++;
  PetscCall(SpmvTestCSRAlloc(M, M * (LEAST + LENGTHS), &t));
  for (PetscInt r = 0; r < M; r++) {
    const PetscInt length = LEAST + (r * 7919 + r / 40 * 31) % LENGTHS;

    t.i[r] = nz;
    for (PetscInt k = 0; k < length; k++, nz++) {
      t.j[nz] = 97 * k + (r * 61) % 90;
      t.a[nz] = 1 + r % 300;
    }
  }
  t.i[M] = nz;
  csr    = SpmvTestCSRView(&t);
  plan   = SpmvTestPlan(SpmvCandidate[number], SPMV_BACKEND_HOST);
  PetscCall(SpmvCandidate[number]->host->side.resolve(&csr, NULL, &plan));
  PetscCall(SpmvCandidate[number]->host->side.work(&csr, &plan, &all));
  PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_FORMATS, &sample));
  PetscCheck(sample.window[0].m < M / 8, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a window of %d rows", (int)sample.window[0].m);
  PetscCall(SpmvEstimateTerms(&sample, SPMV_ISA_COUNT, number, 1, &plan, &terms));
  PetscCheck(PetscAbsReal(terms.work.bytes / all.bytes - 1) < 0.02, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes, by a sample %g",
             (double)all.bytes, (double)terms.work.bytes);
  PetscCheck(PetscAbsReal(terms.work.misses / all.misses - 1) < 0.25, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%g branches are not foreseen, by a sample %g", (double)all.misses, (double)terms.work.misses);
  PetscCheck(PetscAbsReal(terms.work.cycles / all.cycles - 1) < 0.25, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%g cycles, by a sample %g", (double)all.cycles, (double)terms.work.cycles);
  PetscCall(SpmvSampleDestroy(&sample));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SpmvTestNoUserFile());
  PetscCall(TestSample());
  PetscCall(TestUneven());
  PetscCall(TestDenseRows());
  PetscCall(TestLengths());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
