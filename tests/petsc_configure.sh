#!/bin/bash
# PETSc's own way to build packages on it: its configure takes conf/petsc/petscspmv.py, and with --download-petscspmv
# its makefile builds and installs us. It takes a PETSc from PyPI, or from conf/build-petsc's cache, and many minutes.
. tests/tap
unset PETSC_OPTIONS PETSC_DIR PETSC_ARCH MAKEFLAGS MFLAGS MAKELEVEL PETSC_CC_INCLUDES PETSC_LINK CC
is_checkout || skip 'this is no checkout of git'
sources=$(conf/build-petsc sources 2>"$tmp/log") || skip "no sources of PETSc: $(tail -n 1 "$tmp/log")"

petsc=$tmp/petsc
mkdir "$petsc"
for file in "${sources#PETSC_DIR=}"/*; do [[ $file == */arch-* ]] || cp -rl "$file" "$petsc/"; done
cp conf/petsc/petscspmv.py "$petsc/config/BuildSystem/config/packages/"
there() { (cd "$petsc" && "$@"); }
check help eval 'there ./configure --help | grep -A1 -e --download-petscspmv'

options=(--with-mpi=0 --with-cc=gcc --with-cxx=0 --with-fc=0 --with-cudac=0 --with-hipc=0 --with-x=0 --with-debugging=0
  COPTFLAGS=-O0 "--with-blaslapack-lib=[-llapack,-lblas]" PETSC_DIR="$petsc" PETSC_ARCH=arch-test)
configure() { there ./configure "${options[@]}" "$@"; }
check dist make --no-print-directory dist
archive=$PWD/build/petscspmv-$(sed -n 's/^VERSION *:= *//p' conf/variables).tar.xz
check configures configure --download-petscspmv="$archive"
makes() { # of ours PETSc tells no more than where its log is
  there make PETSC_DIR="$petsc" PETSC_ARCH=arch-test all && return
  tail -n 40 "$petsc/arch-test/lib/petsc/conf/petscspmv.build.log"
  return 1
}
check makes makes
check installed [ -e "$petsc/arch-test/lib/libpetscspmv.so" ]
solve() { # PETSc's tutorial; the type of its matrix is in what -ksp_view prints
  local lib=$petsc/arch-test/lib
  gcc -w -I"$petsc/include" -I"$petsc/include/petsc/mpiuni" -I"$petsc/arch-test/include" \
    "$petsc/src/ksp/ksp/tutorials/ex2.c" -o "$tmp/ex2" -L"$lib" -Wl,-rpath,"$lib" -lpetsc -lm || return
  "$tmp/ex2" -dll_append '${PETSC_LIB_DIR}/libpetscspmv.so' -mat_type spmv -ksp_view >"$tmp/ex2.out" 2>&1
  cat "$tmp/ex2.out" && grep -q 'type: seqaijspmv' "$tmp/ex2.out"
}
check solves solve
