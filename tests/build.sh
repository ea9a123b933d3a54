#!/bin/bash
# The build itself: which PETSc is found and what is said when none is, instruction sets the compiler does not know,
# and the scripts around the tests.
. tests/tap

# make with nothing inherited from the make that runs the tests, and a pkg-config that knows what is in $tmp/pc only
plain_make() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u PETSC_DIR -u PETSC_ARCH PKG_CONFIG_LIBDIR="$tmp/pc" make --no-print-directory "$@"; }
# make fails with one line, which has the given words
sentence() {
  local words=$1
  shift
  plain_make "$@" >"$tmp/make" 2>&1 && { echo 'it succeeded'; return 1; }
  cat "$tmp/make"
  [ "$(wc -l <"$tmp/make")" = 1 ] && grep -q "$words" "$tmp/make"
}
found() { # which PETSc: expected folder, make's arguments
  local expected=$1
  shift
  plain_make -pn help "$@" | sed -n 's/^PETSC_DIR := //p' | tee /dev/stderr | grep -qx "$expected"
}

fake=$tmp/petsc
mkdir -p "$fake/include"
version() { printf '#define PETSC_VERSION_MAJOR %s\n#define PETSC_VERSION_MINOR %s\n#define PETSC_VERSION_SUBMINOR 2\n' "$@" >"$fake/include/petscversion.h"; }

check no_petsc sentence 'PETSc was not found: install' debian_petsc=
check wrong_petsc_dir sentence "PETSC_DIR is $tmp, where" PETSC_DIR="$tmp"
version 3 17
check old_petsc sentence 'PETSc 3.17.2 in .* is too old: petscspmv needs 3.18' PETSC_DIR="$fake"
version 3 18
check unbuilt_petsc sentence 'no shared libpetsc' PETSC_DIR="$fake"
mkdir -p "$fake/arch-a/lib/petsc/conf" && : >"$fake/arch-a/lib/petsc/conf/petscvariables"
check wrong_petsc_arch sentence 'set PETSC_ARCH to one of these' PETSC_DIR="$fake" PETSC_ARCH=arch-b
version 4 0
check newer_major sentence 'no shared libpetsc' PETSC_DIR="$fake" PETSC_ARCH=arch-a
check help_without_petsc plain_make help PETSC_DIR="$tmp"

check debian found "$fake" debian_petsc="$fake"
mkdir "$tmp/pc"
printf 'prefix=%s/arch-a\nName: PETSc\nDescription: x\nVersion: 3.18\n' "$fake" >"$tmp/pc/PETSc.pc"
if command -v pkg-config >/dev/null; then check pkg_config found "$fake" debian_petsc=/elsewhere
else echo 'ok build_pkg_config # SKIP pkg-config is not installed'; fi

# src/isas.h is all it takes; flags of another architecture leave an object that says so
cp -r makefile conf include src "$tmp"
mkdir "$tmp/tests"
echo 'SPMV_ISA(OTHER, other, "-mno-such-machine", 0)' >>"$tmp/src/isas.h"
isas=${LIBRARY#"$PWD"/}
isas=${isas%/*}/isas.mk
check isa_absent bash -c "make -s -C '$tmp' $isas && grep -x 'isa_flags_other := -DSPMV_ISA_SELF=OTHER -DSPMV_ISA_SUFFIX=other -DSPMV_ISA_ABSENT' '$tmp/$isas'"

# conf/tune builds it when it is asked for only
check calibrate $COMPILE -Werror -fsyntax-only examples/calibrate/calibrate.c

# What spmvbench needs beside PETSc
check spmvbench_says_why fails 'install the packages libsuitesparse-dev and zlib1g-dev' env -u MAKEFLAGS make spmvbench cholmod_cflags=-I/nowhere

# Packages: silent when nothing is missing; a system without apt-get is told in one sentence
check packages_silent bash -c 'said=$(conf/packages test 2>&1) && [ -z "$said" ] || { echo "$said"; exit 1; }'
mkdir "$tmp/bin"
for tool in sh sed id mkdir cat; do ln -s "$(command -v $tool)" "$tmp/bin/"; done
check packages_elsewhere bash -c "said=\$(env -i PATH='$tmp/bin' conf/packages test 2>&1) && exit 1; echo \"\$said\"; [ \$(echo \"\$said\" | wc -l) = 1 ] && echo \"\$said\" | grep 'install these first.* gcc .*petsc-dev'"

check quickstart_says_why bash -c "said=\$($PYTHON examples/quickstart --folder '$tmp/quickstart' --library '$LIBRARY' --type nosuchtype 2>&1) && exit 1; echo \"\$said\"; echo \"\$said\" | grep 'it failed, exit status'"

# ... and what it prints of runs that an mpiexec makes up: no more processes than cores, and at the end what to type
cat >"$tmp/mpiexec" <<'EOF'
#!/bin/sh
echo "$2" >>"$RANKS"
for word; do case $word in :*:ascii_xml) log=${word#:} log=${log%:ascii_xml} ;; aij | spmv) kind=$word ;; esac; done
echo "Linear solve converged due to CONVERGED_RTOL iterations 7 rows=100, KSP final norm of residual 1e-06"
[ "$kind" = aij ] && share=60 || share=20
cat >"$log" <<XML
<root><petscroot><globalperformance><time><max>2.0</max></time></globalperformance>
<timertree><event><name>KSPSolve</name><time><value>$share</value></time><ncalls><value>1</value></ncalls></event></timertree>
<selftimertable></selftimertable></petscroot></root>
XML
EOF
chmod +x "$tmp/mpiexec"
quickstart_prints() { # how many cores there are; what restricts it to them
  local cores=$1
  shift
  rm -f "$tmp/ranks"
  RANKS=$tmp/ranks MPIEXEC=$tmp/mpiexec "$@" $PYTHON examples/quickstart --folder "$tmp/quickstart" --library "$LIBRARY" >"$tmp/said" 2>&1
  cat "$tmp/said"
  [ "$(sort -n "$tmp/ranks" | tail -n 1)" -le "$cores" ] || return 1
  grep -q '^ex2 .* 7, 7 .*1.0e-06, 1.0e-06 *1.200 *0.400 *3.00$' "$tmp/said" && grep -Fqx "  ./app -dll_append $LIBRARY -mat_type spmv -spmv_advise" "$tmp/said"
}
check quickstart quickstart_prints "$(env -u OMP_NUM_THREADS nproc)" # which heeds it
core=$($PYTHON -c 'import os; print(min(os.sched_getaffinity(0)))')
if command -v taskset >/dev/null; then check quickstart_one_core quickstart_prints 1 taskset -c "$core"
else echo 'ok build_quickstart_one_core # SKIP taskset is not installed'; fi

# .ci/run with a make that only prints: what is skipped must be allowed, and the counts come last
ci=$tmp/ci
mkdir -p "$ci/.ci" "$ci/tests" "$ci/bin"
cp .ci/run "$ci/.ci/"
printf '# comment\ngpu_*   # no GPU\n' >"$ci/tests/allowed-skips"
printf '#!/bin/sh\ncat "%s/said"\nexit $(cat "%s/status")\n' "$ci" "$ci" >"$ci/bin/make"
chmod +x "$ci/bin/make"
ci_run() { # expected exit status and last line; make's exit status and output
  printf "$4" >"$ci/said"
  echo "$3" >"$ci/status"
  PATH="$ci/bin:$PATH" bash "$ci/.ci/run" >"$tmp/ci.out" 2>&1
  local status=$?
  cat "$tmp/ci.out"
  [ "$status" = "$1" ] && [ "$(tail -n 1 "$tmp/ci.out")" = "$2" ]
}
check ci_passes ci_run 0 '3 passed, 0 failed, 1 skipped' 0 '  skipped  gpu_1: none\n3 passed, 0 failed, 1 skipped\n'
check ci_skips_too_much ci_run 1 '3 passed, 0 failed, 1 skipped' 0 '  skipped  cpu: why\n3 passed, 0 failed, 1 skipped\n'
check ci_fails ci_run 2 '3 passed, 1 failed, 0 skipped' 2 '3 passed, 1 failed, 0 skipped\nmake: Error 1\n'
check ci_does_not_build ci_run 2 '0 passed, 1 failed, 0 skipped' 2 'error: no\n'
