#!/bin/bash
# A format is a folder and a line: tests/newformat/coo is added to a copy of the sources, with a line in src/formats.h and
# nothing else changed. It must then be a type with options, checked as the others are, and one that spmv may choose.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
folder=${LIBRARY#"$PWD"/}
folder=${folder%/*}

# With times as they are, so that only what the line and the folder change is compiled
mkdir -p "$tmp/$folder"
cp -a makefile conf include src "$tmp" && cp -a "$folder/src" "$folder/flags" "$folder/isas.mk" "$tmp/$folder" && cp -r tests/newformat/coo "$tmp/src/mat/impls/" && mkdir "$tmp/tests" && cp -a tests/*.[ch] "$tmp/tests"
echo 'SPMV_FORMAT(coo)' >>"$tmp/src/formats.h"

if ! env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$tmp" lib "$folder/libpetscspmv.a" WERROR=1 >"$tmp/log" 2>&1; then
  echo 'not ok newformat_build'
  sed 's/^/# /' "$tmp/log"
  exit 0
fi
echo 'ok newformat_build'

check() { # name, words that must be printed, processes, program, options...
  local name=newformat_$1 words=$2 ranks=$3 program=$4
  shift 4
  timeout 300 $MPIEXEC -n "$ranks" "$tmp/$program" "$@" >"$tmp/out" 2>&1 </dev/null
  local status=$?
  if [ $status = 0 ] && grep -q -e "$words" "$tmp/out"; then echo "ok $name"; else
    echo "not ok $name # exit status $status"
    grep -v 'Configure options' "$tmp/out" | head -30 | sed 's/^/# /'
  fi
}

cd "$tmp" || exit
for program in format_all mat_contract mat_unsorted ksp_contract; do
  archive=$([ $program = format_all ] && echo "$folder/libpetscspmv.a")
  $COMPILE tests/$program.c $archive -o $program $PETSC_LINK -lm -ldl -lpthread >"$tmp/log" 2>&1 || { echo "not ok newformat_compile_$program"; sed 's/^/# /' "$tmp/log"; exit 0; }
done
append="-dll_append $tmp/$folder/libpetscspmv.so"
check formats '^0 plans wrong' 1 format_all -format coo
check operations 'operations agree with aij' 1 mat_contract $append -type coo
check parallel 'operations agree with aij' 2 mat_contract $append -type coo
check unsorted '^0 failures' 1 mat_unsorted $append -type coo
check solvers 'option sets agree with aij' 1 ksp_contract $append -type coo
options="-mat_spmv_build_after 0 -mat_spmv_view"
check knob 'order=columns' 1 mat_unsorted $append -type coo $options -mat_coo_order columns
check chosen 'spmv storage: format=coo order=rows' 1 mat_unsorted $append -type spmv $options -mat_spmv_tune_formats coo
