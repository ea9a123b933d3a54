#!/bin/bash
# A program that is linked with the library, by pkg-config or by conf/petscspmv, has its types without an option, and calls nothing
. tests/tap

cat >"$tmp/app.c" <<'END_C'
#include <petscmat.h>
int main(int argc, char **argv)
{
  Mat       A;
  MatType   type;
  PetscBool again = PETSC_FALSE;

  MPI_Init(&argc, &argv);
  for (int k = 0; k < 1 + again; k++) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-again", &again, NULL));
#if defined(CALL)
    extern PetscErrorCode SpmvInitializePackage(void);
    PetscCall(SpmvInitializePackage());
#endif
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, 2, 2, PETSC_DECIDE, PETSC_DECIDE));
    PetscCall(MatSetFromOptions(A));
    PetscCall(MatGetType(A, &type));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "type %s\n", type));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return 0;
}
END_C

# The library, as it is installed: below a prefix of its own
mkdir -p "$tmp/prefix/lib/pkgconfig" "$tmp/prefix/include"
cp "$LIBRARY" "$tmp/prefix/lib/libpetscspmv.so"
cp include/petscspmv.h "$tmp/prefix/include/"
sed -e "s|@PREFIX@|$tmp/prefix|" -e "s|@LIBDIR@|$tmp/prefix/lib|" -e "s|@INCLUDEDIR@|$tmp/prefix/include|" -e 's|@VERSION@|0|' conf/petscspmv.pc.in >"$tmp/prefix/lib/pkgconfig/petscspmv.pc"
if command -v pkg-config >/dev/null; then pkg=$(PKG_CONFIG_PATH="$tmp/prefix/lib/pkgconfig" pkg-config --cflags --libs petscspmv); fi
printf 'include %s\nall:\n\t@echo $(PETSCSPMV_INCLUDE) $(PETSCSPMV_LINK)\n' conf/petscspmv >"$tmp/makefile"
conf=$(make -s -f "$tmp/makefile" PETSCSPMV_DIR="$tmp/prefix")

build() { # name, flags...: a linker that drops what no symbol is taken from, as Debian's does
  local name=$1
  shift
  $COMPILE -fvisibility=default "$tmp/app.c" -Wl,--as-needed "$@" $PETSC_LINK -o "$tmp/$name"
}

check build build plain
check without fails 'Unknown Mat type given: spmv' env -u PETSC_OPTIONS "$tmp/plain" -mat_type spmv # what the others are compared with
if [ -n "$pkg" ]; then
  check build_pkgconfig build pkgconfig $pkg
  check pkgconfig says 'type seqaijspmv' "$tmp/pkgconfig" -mat_type spmv
else echo "ok linked_pkgconfig # SKIP pkg-config is not installed"; fi
check build_conf build conf $conf
check conf says 'type seqaijspmv' "$tmp/conf" -mat_type spmv
check ranks says 'type mpiaijspmv' ${MPIEXEC:-mpiexec} -n 2 "$tmp/conf" -mat_type spmv
check unused says 'no unused options' "$tmp/conf" -mat_type spmv -options_left
check appended_too says 'type seqaijspmv' "$tmp/conf" -mat_type spmv -dll_append "$tmp/prefix/lib/libpetscspmv.so"
check malloc says '!PETSC ERROR\|\[ 0\]' "$tmp/conf" -mat_type spmv -malloc_debug -malloc_dump
# What -dll_append loads names nothing to be loaded
check appended says '!dll_prepend' "$tmp/plain" -dll_append "$tmp/prefix/lib/libpetscspmv.so" -mat_type spmv -options_view
# The documented call: for a second PetscInitialize(), whose options are new, and where -dll_prepend is the user's
check build_calls build calls -DCALL $conf
check twice says 'type seqaijspmv' bash -c "'$tmp/calls' -mat_type spmv -again | sed -n 2p"
check prepended says 'type seqaijspmv' "$tmp/calls" -mat_type spmv -dll_prepend "$tmp/prefix/lib/libpetscspmv.so"
