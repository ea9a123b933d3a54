static const char help[] = "Bytes of half of a matrix as the tuner estimates them, against those of what is built.\n\n";

#include "spmvtest.h"
#include "mat/impls/sbccoo/host/sbccoo_pairs.h"

#define NODES     6000
#define TOLERANCE 0.1 /* of the bytes of what is built: some hundred pairs stand for all; 8 for a row of the rest are left out */

/*
  Of a hundred pairs of nodes so many have values that are near each other, are far apart; of a hundred rows so many are fixed.
  Near ones are 1 to 60 times so many units in the last place apart
*/
typedef struct {
  const char *name;
  PetscInt    near, far, fixed, apart;
} Kind;

static const Kind Kinds[] = {
  {"equal", 0, 0, 0, 0},
  {"near", 60, 0, 0, 1},
  {"far", 0, 40, 0, 0},
  {"near and far", 50, 30, 0, 1},
  {"equal, fixed rows", 0, 0, 8, 0},
  {"near, fixed rows", 60, 0, 8, 1},
  {"less near", 60, 0, 0, 200},
  {"less near, and far", 50, 30, 0, 200},
};

/* From 0 to 99, by two nodes in any order */
static PetscInt Percent(PetscInt i, PetscInt j, uint64_t salt)
{
  uint64_t z = ((uint64_t)PetscMin(i, j) << 32 | (uint64_t)PetscMax(i, j)) * UINT64_C(0x9e3779b97f4a7c15) + salt;

  z = (z ^ z >> 31) * UINT64_C(0x94d049bb133111eb);
  return (PetscInt)((z ^ z >> 29) % 100);
}

static PetscScalar Entry(const Kind *kind, PetscInt b, PetscInt i, PetscInt j)
{
  const PetscInt  draw = Percent(i / b, j / b, 1);
  const PetscReal v    = 1 + (PetscReal)(Percent(i, j, 2) + 1) / 200;

  if (i <= j || draw >= kind->near + kind->far) return v;
  return draw < kind->near ? v + (PetscReal)(kind->apart * (1 + (i + j) % 60)) * PETSC_MACHINE_EPSILON : -v;
}

/* Nodes of b unknowns and their neighbours; a fixed row has its diagonal only */
static PetscErrorCode Matrix(const Kind *kind, PetscInt b, SpmvTestCSR *t)
{
  const PetscInt away[] = {-1001, -52, -51, -50, -3, -1, 0, 1, 3, 50, 51, 52, 1001};
  PetscInt       nz     = 0;

  PetscFunctionBegin;
  t->m = t->n = NODES * b;
  PetscCall(PetscMalloc3(t->m + 1, &t->i, t->m * b * 13, &t->j, t->m * b * 13, &t->a));
  for (PetscInt i = 0; i < t->m; i++) {
    t->i[i] = nz;
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(away); k++) {
      const PetscInt node = i / b + away[k];

      if (node < 0 || node >= NODES || (away[k] && Percent(i / b, i / b, 3) < kind->fixed)) continue;
      for (PetscInt c = 0; c < b; c++) {
        t->j[nz]   = node * b + c;
        t->a[nz++] = Entry(kind, b, i, node * b + c);
      }
    }
  }
  t->i[t->m] = nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const Kind *kind, PetscInt b, PetscInt exact, SpmvDeclared declared)
{
  const SpmvSide *side   = &SpmvFormat_sbccoo.host->side;
  SpmvOption      option = {.number = SPMV_NUMBER_sbccoo, .plan = SpmvTestPlan(&SpmvFormat_sbccoo, SPMV_BACKEND_HOST)};
  SpmvTestCSR     t;
  SpmvCSR         csr;
  SpmvSample      sample;
  PetscLogDouble  bytes = 0;
  void           *storage;

  PetscFunctionBegin;
  PetscCall(Matrix(kind, b, &t));
  csr                             = SpmvTestCSRView(&t);
  csr.declared                    = declared;
  option.plan.value[SBCCOO_BLOCK] = b;
  option.plan.value[SBCCOO_EXACT] = exact;
  PetscCall(side->resolve(&csr, NULL, &option.plan));
  PetscCall(SpmvSampleCreate(&csr, SPMV_SAMPLE_FORMATS, &sample));
  PetscCall(SpmvEstimate(&sample, SPMV_ISA_COUNT, option.number, 1, &option.plan, &option));
  PetscCall(SpmvBuild(side, &csr, NULL, &option.plan, &storage));
  PetscCall(SpmvTestBytes(side, storage, &bytes));
  PetscCheck(PetscAbsReal((PetscReal)(option.bytes / bytes - 1)) < TOLERANCE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s, blocks of %d, exact %s, %s: %.2f bytes an entry are estimated, there are %.2f", kind->name, (int)b,
             exact == SBCCOO_ALWAYS ? "yes" : "no", declared ? "declared" : "not declared", option.bytes / t.i[t.m],
             bytes / t.i[t.m]);
  PetscCall(SpmvStorageDestroy(side, &storage));
  PetscCall(SpmvSampleDestroy(&sample));
  PetscCall(PetscFree3(t.i, t.j, t.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (PetscInt b = 1; b <= 4; b++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Kinds); k++) {
      if (b > 1 && Kinds[k].apart > 1) continue; /* codes of one byte tell some of these, how many depends on the sample */
      PetscCall(Compare(&Kinds[k], b, SBCCOO_ALWAYS, SPMV_DECLARED_NOTHING));
      PetscCall(Compare(&Kinds[k], b, SBCCOO_ALWAYS, SPMV_DECLARED_SYMMETRIC));
      PetscCall(Compare(&Kinds[k], b, SBCCOO_DECLARED, SPMV_DECLARED_NOTHING));
      if (!Kinds[k].far) PetscCall(Compare(&Kinds[k], b, SBCCOO_DECLARED, SPMV_DECLARED_SYMMETRIC)); /* else it is refused */
    }
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
