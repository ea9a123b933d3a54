#!/bin/bash
# What the library says when it is loaded into a PETSc that it was not compiled for. A library loaded before libpetsc
# (LD_PRELOAD) plays the other PETSc. Also: help texts, and what -dll_append with a wrong path says.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/app.c" <<'END'
#include <petscmat.h>
int main(int argc, char **argv)
{
  Mat A;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 2, 2, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
END
cat >"$tmp/version.c" <<'END'
#include <petscsys.h>
PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  if (major) *major = 3;
  if (minor) *minor = 17;
  if (subminor) *subminor = 0;
  if (release) *release = 1;
  return 0;
}
END
cat >"$tmp/width.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <petscsys.h>
PetscErrorCode PetscDataTypeGetSize(PetscDataType type, size_t *size)
{
  PetscErrorCode (*next)(PetscDataType, size_t *) = dlsym(RTLD_NEXT, "PetscDataTypeGetSize"), ierr = next(type, size);
  if (type == PETSC_INT) *size += 1;
  return ierr;
}
END
# What tells how a PETSc was configured, as it is here or, with $flip, the other way round. Not linked with the PETSc that it plays
cat >"$tmp/layout.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <petscsys.h>
#if FLIP_MPIUNI != PetscDefined(HAVE_MPIUNI) /* by another name, as PETSc's mpi.h may declare it; and it may be called */
int Memcpy(void *to, const void *from, long long n) __asm__("MPIUNI_Memcpy");
int Memcpy(void *to, const void *from, long long n)
{
  int (*next)(void *, const void *, long long) = dlsym(RTLD_NEXT, "MPIUNI_Memcpy");
  return next ? next(to, from, n) : 0;
}
#endif
#if FLIP_OPENMPI && !defined(OPEN_MPI)
int ompi_mpi_comm_world;
#endif
#if FLIP_DEBUG != PetscDefined(USE_DEBUG)
PetscStack petscstack;
#endif
PetscErrorCode PetscGetVersionNumber(PetscInt *major, PetscInt *minor, PetscInt *subminor, PetscInt *release)
{
  PetscErrorCode (*next)(PetscInt *, PetscInt *, PetscInt *, PetscInt *) = dlsym(RTLD_NEXT, "PetscGetVersionNumber");
  return next(major, minor, subminor, release);
}
PetscErrorCode PetscHasExternalPackage(const char package[], PetscBool *has)
{
  *has = (PetscBool)(strcmp(package, "saws") ? FLIP_DEVICE != PetscDefined(HAVE_DEVICE) : FLIP_SAWS != PetscDefined(HAVE_SAWS));
  return 0;
}
END
# $COMPILE has -fvisibility=hidden for our own objects; what plays PETSc must be seen
for name in app version width; do
  shared=$([ $name = app ] || echo -shared)
  $COMPILE -Wl,--no-as-needed -fvisibility=default $shared "$tmp/$name.c" -o "$tmp/$name" $PETSC_LINK -ldl >"$tmp/log" 2>&1 || { echo "not ok registration_compile_$name"; sed 's/^/# /' "$tmp/log"; exit 0; }
done
for flip in none DEBUG DEVICE SAWS MPIUNI OPENMPI; do
  needed=$([ $flip = OPENMPI ] && echo -Wl,--as-needed || echo -Wl,--no-as-needed) # Open MPI is beside a PETSc that needs it
  $COMPILE $needed -fvisibility=default -shared -DFLIP_MPIUNI=0 -DFLIP_OPENMPI=0 -DFLIP_DEBUG=0 -DFLIP_DEVICE=0 -DFLIP_SAWS=0 -UFLIP_$flip -DFLIP_$flip=1 "$tmp/layout.c" -o "$tmp/$flip" -ldl >"$tmp/log" 2>&1 || { echo "not ok registration_compile_$flip"; sed 's/^/# /' "$tmp/log"; exit 0; }
done

check() { # name, expected exit (0 or 1), words, command...
  local name=$1 status=$2 words=$3
  shift 3
  env -u PETSC_OPTIONS timeout 60 "$@" >"$tmp/out" 2>&1 </dev/null
  local got=$?
  if [ $((got != 0)) = "$status" ] && grep -q -e "$words" "$tmp/out"; then echo "ok registration_$name"; else echo "not ok registration_$name"; grep -v 'Configure options' "$tmp/out" | head -30 | sed 's/^/# /'; fi
}

options="-dll_append $LIBRARY -mat_type bccoo"
check loads 0 'no unused options' "$tmp/app" $options -options_left
check other_version 1 'libpetscspmv was compiled for PETSc 3\.[0-9]* and this program runs 3\.17; build it again' env LD_PRELOAD="$tmp/version" "$tmp/app" $options
check other_width 1 'libpetscspmv was compiled for scalars of .* build it again' env LD_PRELOAD="$tmp/width" "$tmp/app" $options
check same_layouts 0 'no unused options' env LD_PRELOAD="$tmp/none" "$tmp/app" $options -options_left
for macro in USE_DEBUG HAVE_DEVICE HAVE_SAWS; do
  check "other_$macro" 1 "libpetscspmv was compiled for a PETSc with\(out\)* PETSC_$macro and this program runs one with\(out\)* it; build it again" env LD_PRELOAD="$tmp/${macro#*_}" "$tmp/app" $options
done

# Another MPI: an error by its functions would be none that it knows
for mpi in MPIUNI OPENMPI; do
  check "other_$mpi" 1 "^libpetscspmv was compiled for a PETSc with\(out\)* \(MPIUNI\|Open MPI\) and this program runs one with\(out\)* it; build it again" env LD_PRELOAD="$tmp/$mpi" "$tmp/app" $options
done

# A PETSc of the same version by conf/build-petsc, with debugging where ours has none, or the other way round: the real thing
config() { printf '#include <petscversion.h>\n#include <petscconf.h>\n%s\n' "$1" | $COMPILE $2 -E -P -x c - | tail -n 1; }
version=$(config 'PETSC_VERSION_MAJOR.PETSC_VERSION_MINOR.PETSC_VERSION_SUBMINOR' | tr -d ' ')
debug=$(config PETSC_USE_DEBUG)
other=${PETSCSPMV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/petscspmv}/petsc-$version/arch-$([ "$debug" = 1 ] && echo native || echo debug)
words='a PETSc with\(out\)* PETSC_USE_DEBUG and this program runs one with\(out\)* it'
[ "$(config 'PETSC_USE_COMPLEX PETSC_USE_REAL_DOUBLE PETSC_USE_64BIT_INDICES')" = 'PETSC_USE_COMPLEX 1 PETSC_USE_64BIT_INDICES' ] || # the other's are these
  words='scalars of .* bytes (.*) and indices of .*, and this program'
says="libpetscspmv was compiled for $words.*build it again"
[ "$(config PETSC_HAVE_MPIUNI)" != 1 ] || says='undefined symbol: MPIUNI_' # before we are asked
if [ -e "$other/.built" ]; then
  cc=$(sed -n 's/^CC = //p' "$other/lib/petsc/conf/petscvariables")
  $cc -I"$other/include" -I"${other%/*}/include" "$tmp/app.c" -o "$tmp/other" -L"$other/lib" -Wl,-rpath,"$other/lib" -lpetsc >"$tmp/log" 2>&1 || { echo 'not ok registration_compile_other_build'; sed 's/^/# /' "$tmp/log"; exit 0; }
  check other_build 1 "$says" "$tmp/other" $options
elif [ "$ALL" ]; then echo "ok registration_other_build # SKIP $other is not there: conf/build-petsc -v $version ${other##*arch-}"; fi
for option in mat_bccoo_block_height mat_bccoo_block_width mat_spmv_tune mat_spmv_wisdom mat_spmv_isa mat_spmv_build_after mat_spmv_view; do
  check "help_$option" 0 "-$option.*[A-Z]*[a-z]* [a-z]* [a-z]*" "$tmp/app" $options -help
done
check counts_file 1 'Cannot append to /nowhere/counts of -spmv_view_counts' "$tmp/app" $options -spmv_view_counts /nowhere/counts
check unknown_isa 1 'Unknown option "*mmx"* for -mat_spmv_isa. Available options: scalar avx2 avx512 avx512_gather auto' "$tmp/app" $options -mat_spmv_isa mmx

# -mat_spmv_tune_calibrate measures once, whatever the number of processes, and later runs read the file
if [ "$ALL" ]; then
  export XDG_CONFIG_HOME=$tmp/config
  check calibrates 0 "measured this machine in [0-9]* seconds; .*; $tmp/config/petscspmv/machine[a-z-]* has it" $MPIEXEC -n 2 "$tmp/app" $options -mat_spmv_tune_calibrate
  check calibrates_once 0 '/petscspmv/machine[a-z-]* is there: nothing is measured' "$tmp/app" $options -mat_spmv_tune_calibrate -info
fi
