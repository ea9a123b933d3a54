#!/bin/bash
# A program that is linked with the library, by pkg-config or by conf/petscspmv, has its types without an option, and calls nothing
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
root=$(cd "$(dirname "$0")/.." && pwd)

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
cp "$root/include/petscspmv.h" "$tmp/prefix/include/"
sed -e "s|@PREFIX@|$tmp/prefix|" -e "s|@LIBDIR@|$tmp/prefix/lib|" -e "s|@INCLUDEDIR@|$tmp/prefix/include|" -e 's|@VERSION@|0|' "$root/conf/petscspmv.pc.in" >"$tmp/prefix/lib/pkgconfig/petscspmv.pc"
if command -v pkg-config >/dev/null; then pkg=$(PKG_CONFIG_PATH="$tmp/prefix/lib/pkgconfig" pkg-config --cflags --libs petscspmv); fi
printf 'include %s\nall:\n\t@echo $(PETSCSPMV_INCLUDE) $(PETSCSPMV_LINK)\n' "$root/conf/petscspmv" >"$tmp/makefile"
conf=$(make -s -f "$tmp/makefile" PETSCSPMV_DIR="$tmp/prefix")

build() { # name, flags...: a linker that drops what no symbol is taken from, as Debian's does
  local name=$1
  shift
  $COMPILE -fvisibility=default "$tmp/app.c" -Wl,--as-needed "$@" $PETSC_LINK -o "$tmp/$name" >"$tmp/log" 2>&1 || { echo "not ok linked_$name"; sed 's/^/# /' "$tmp/log"; return 1; }
}
check() { # name, words or !words, command...
  local name=$1 words=$2 no=
  shift 2
  [ "${words#!}" = "$words" ] || { no=1; words=${words#!}; }
  env -u PETSC_OPTIONS timeout 60 "$@" >"$tmp/out" 2>&1 </dev/null
  if if grep -q -e "$words" "$tmp/out"; then [ -z "$no" ]; else [ -n "$no" ]; fi; then echo "ok linked_$name"
  else echo "not ok linked_$name"; grep -v 'Configure options' "$tmp/out" | head -20 | sed 's/^/# /'; fi
}

build plain && check without '!type seqaijspmv' "$tmp/plain" -mat_type spmv # what the others are compared with
if [ -n "$pkg" ]; then build pkgconfig $pkg && check pkgconfig 'type seqaijspmv' "$tmp/pkgconfig" -mat_type spmv; else echo "ok linked_pkgconfig # SKIP there is no pkg-config"; fi
build conf $conf || exit 0
check conf 'type seqaijspmv' "$tmp/conf" -mat_type spmv
check ranks 'type mpiaijspmv' ${MPIEXEC:-mpiexec} -n 2 "$tmp/conf" -mat_type spmv
check unused 'no unused options' "$tmp/conf" -mat_type spmv -options_left
check appended_too 'type seqaijspmv' "$tmp/conf" -mat_type spmv -dll_append "$tmp/prefix/lib/libpetscspmv.so"
check malloc '!PETSC ERROR\|\[ 0\]' "$tmp/conf" -mat_type spmv -malloc_debug -malloc_dump
# What -dll_append loads names nothing to be loaded
check appended '!dll_prepend' "$tmp/plain" -dll_append "$tmp/prefix/lib/libpetscspmv.so" -mat_type spmv -options_view
# The documented call: for a second PetscInitialize(), whose options are new, and where -dll_prepend is the user's
build calls -DCALL $conf || exit 0
check twice 'type seqaijspmv' bash -c "'$tmp/calls' -mat_type spmv -again | sed -n 2p"
check prepended 'type seqaijspmv' "$tmp/calls" -mat_type spmv -dll_prepend "$tmp/prefix/lib/libpetscspmv.so"
