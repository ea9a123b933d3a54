#!/bin/bash
# conda-build runs it in the source folder. Its CFLAGS are for any processor: kernels bring their own
set -eu
make install PREFIX="$PREFIX" PETSC_DIR="${PETSC_DIR:-$PREFIX}" PETSC_ARCH="${PETSC_ARCH:-}" STRIP="${STRIP:-strip}"
