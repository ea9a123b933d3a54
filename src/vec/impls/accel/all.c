/*
  all.c - sums, norms and maxima over all processes: what each has by itself, added up as PETSc does
*/
#include "accel.h"

static PetscErrorCode VecAddUp(Vec x, PetscInt n, PetscScalar z[])
{
  PetscMPIInt count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(n, &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, z, count, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecDot_Accel(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall(VecDotLocal_Accel(x, y, z));
  PetscCall(VecAddUp(x, 1, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecTDot_Accel(Vec x, Vec y, PetscScalar *z)
{
  PetscFunctionBegin;
  PetscCall(VecTDotLocal_Accel(x, y, z));
  PetscCall(VecAddUp(x, 1, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMDot_Accel(Vec x, PetscInt nv, const Vec y[], PetscScalar z[])
{
  PetscFunctionBegin;
  PetscCall(VecMDotLocal_Accel(x, nv, y, z));
  PetscCall(VecAddUp(x, nv, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMTDot_Accel(Vec x, PetscInt nv, const Vec y[], PetscScalar z[])
{
  PetscFunctionBegin;
  PetscCall(VecMTDotLocal_Accel(x, nv, y, z));
  PetscCall(VecAddUp(x, nv, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The second result is real, in a scalar */
static PetscErrorCode VecDotNorm2_Accel(Vec s, Vec t, PetscScalar *dot, PetscScalar *norm2)
{
  PetscScalar sums[2];

  PetscFunctionBegin;
  PetscCall(VecDotNorm2Local_Accel(s, t, sums));
  PetscCall(VecAddUp(s, 2, sums));
  *dot   = sums[0];
  *norm2 = sums[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecNorm_Accel(Vec x, NormType type, PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(VecNormParts_Accel(x, type, norm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, norm, type == NORM_1_AND_2 ? 2 : 1, MPIU_REAL,
                             type == NORM_INFINITY ? MPIU_MAX : MPIU_SUM, PetscObjectComm((PetscObject)x)));
  VecNormWhole_Accel(type, norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of those that have the value, the first in the order of all entries; -1 if there are none */
static PetscErrorCode VecFirst(Vec x, PetscInt sign, PetscInt *place, PetscReal *value)
{
  PetscReal local;
  PetscInt  mine;

  PetscFunctionBegin;
  PetscCall(VecFirstLocal_Accel(x, sign, &mine, &local));
  PetscCallMPI(MPI_Allreduce(&local, value, 1, MPIU_REAL, sign > 0 ? MPIU_MAX : MPIU_MIN, PetscObjectComm((PetscObject)x)));
  if (!place) PetscFunctionReturn(PETSC_SUCCESS);
  mine = mine >= 0 && local == *value ? mine + x->map->rstart : x->map->N;
  PetscCallMPI(MPI_Allreduce(&mine, place, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)x)));
  if (*place == x->map->N) *place = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMax_Accel(Vec x, PetscInt *place, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(VecFirst(x, 1, place, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VecMin_Accel(Vec x, PetscInt *place, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(VecFirst(x, -1, place, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecSetOps_All(Vec v)
{
  PetscFunctionBegin;
  v->ops->dot      = VecDot_Accel;
  v->ops->tdot     = VecTDot_Accel;
  v->ops->mdot     = VecMDot_Accel;
  v->ops->mtdot    = VecMTDot_Accel;
  v->ops->dotnorm2 = VecDotNorm2_Accel;
  v->ops->norm     = VecNorm_Accel;
  v->ops->max      = VecMax_Accel;
  v->ops->min      = VecMin_Accel;
  PetscFunctionReturn(PETSC_SUCCESS);
}
