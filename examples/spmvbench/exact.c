/*
  exact.c - what a product should be, and how far from it one is

  Error: |y - yref| / (eps (|A| |x|)_i), the largest over the entries; yref and |A| |x| are sums in long double. It passes
  if it is at most 4 max(8, sqrt(entries of the row)) in each entry, and y exactly 0 where |A| |x| is. y is full of NaN
  before.
*/
#include "spmvbench.h"
#include <math.h>

/* x of either sign, from 1e-4 to 1e3 in size, fixed seed */
PetscErrorCode BenchFillMixed(Vec x)
{
  PetscScalar *a;
  PetscInt     n;
  uint64_t     state = 20240607;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = 0; k < n; k++) {
    a[k] = (PetscReal)(BenchSigned(&state) * pow(10, 6 * BenchUniform(&state) - 3));
#if defined(PETSC_USE_COMPLEX)
    a[k] = PetscCMPLX(PetscRealPart(a[k]), (PetscReal)(BenchSigned(&state) * pow(10, 6 * BenchUniform(&state) - 3)));
#endif
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product that leaves an entry unwritten is found */
PetscErrorCode BenchFillNaN(Vec y)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArray(y, &a));
  for (PetscInt k = 0; k < n; k++) a[k] = (PetscScalar)NAN;
  PetscCall(VecRestoreArray(y, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the product should be: exact[m] */
PetscErrorCode BenchExactCompute(const BenchMatrix *M, Vec x, BenchExact exact[])
{
  const PetscScalar *b;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &b));
  for (PetscInt r = 0; r < M->m; r++) {
    BenchExact e = {0, 0, 0};

    for (PetscInt k = M->i[r]; k < M->i[r + 1]; k++) {
      const long double are = PetscRealPart(M->a[k]), aim = PetscImaginaryPart(M->a[k]);
      const long double bre = PetscRealPart(b[M->j[k]]), bim = PetscImaginaryPart(b[M->j[k]]);

      e.re += are * bre - aim * bim;
      e.im += are * bim + aim * bre;
      e.size += PetscDefined(USE_COMPLEX) ? sqrtl((are * are + aim * aim) * (bre * bre + bim * bim)) : fabsl(are * bre);
    }
    exact[r] = e;
  }
  PetscCall(VecRestoreArrayRead(x, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks at y and keeps the worst in t->error and t->pass */
PetscErrorCode BenchErrorAdd(const BenchMatrix *M, const BenchExact exact[], Vec y, BenchType *t)
{
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt r = 0; r < M->m; r++) {
    const long double re = PetscRealPart(a[r]) - exact[r].re, im = PetscImaginaryPart(a[r]) - exact[r].im;
    const double      bound = 4 * PetscMax(8, sqrt((double)(M->i[r + 1] - M->i[r])));
    long double       error = PetscDefined(USE_COMPLEX) ? sqrtl(re * re + im * im) : fabsl(re);

    if (error != 0 || isnan(error))
      error = exact[r].size > 0 && !isnan(error) ? error / (PETSC_MACHINE_EPSILON * exact[r].size) : INFINITY;
    t->error = PetscMax(t->error, (double)error);
    if (!(error <= bound)) t->pass = PETSC_FALSE;
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
