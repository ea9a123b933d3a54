#!/bin/bash
# The CUDA path from end to end without a GPU: products and vectors by kernels that tests/fake/emulate.c runs on this
# processor, compared with the host's by the programs that test devices. Those that come to every kernel run with the work
# items of a group in one order and in the other.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
build=$(dirname "$LIBRARY")

${CXX:-c++} --version >/dev/null 2>&1 || { echo 'ok emulate # SKIP there is no C++ compiler: install g++'; exit 0; }
driver="${CC:-cc} -O1 -g -shared -fPIC -Wno-unused-parameter -DEMULATE_H=\"$PWD/tests/fake/emulate.h\" tests/fake/cuda.c tests/fake/emulate.c -ldl"
{ $driver -o "$tmp/libcuda.so.1" && cp "$tmp/libcuda.so.1" "$tmp/libnvrtc.so" &&
  for program in veccuda auto; do $COMPILE tests/fake/$program.c "$build/libpetscspmv.a" -o "$tmp/$program" $PETSC_LINK -lm -ldl -lpthread || exit; done; } >"$tmp/log" 2>&1 ||
  { echo 'not ok emulate_compile'; sed 's/^/# /' "$tmp/log"; exit 0; }

left='^left 0 graphs, 0 to launch, 0 buffers, 0 modules, 0 contexts, 0 current'
export FAKE_CUDA_FOLDER=$tmp
emulate() { # name, ranks, file of what must be printed, program, options...; $orders
  local name=emulate_$1 ranks=$2 wanted=$3 program=$PROGRAMS/$4 order status
  [ -x "$program" ] || program=$tmp/$4
  shift 4
  for order in $orders; do
    rm -f "$tmp"/calls*
    LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH FAKE_CUDA_ORDER=$order FAKE_CUDA_LOG=$tmp/calls timeout 300 $MPIEXEC -n "$ranks" "$program" -spmv_device cuda -spmv_device_cache none "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
    if [ $status -eq 0 ] && cmp -s "$wanted" "$tmp/out" && ! grep -q 'Warning' "$tmp/err" && grep -q '^run' "$tmp/calls" && ! cat "$tmp"/calls* | grep -q '^bad' && [ "$(cat "$tmp"/calls* | grep -c "$left")" -eq $ranks ]; then echo "ok ${name}_$order"
    else
      echo "not ok ${name}_$order # exit status $status"
      { cat "$tmp"/calls* | grep '^bad'; diff "$wanted" "$tmp/out" | head -n 20; head -n 20 "$tmp/err"; tail -n 1 "$tmp/calls"; } | cut -c1-200 | sed 's/^/# /'
    fi
  done
}

append="-dll_append $LIBRARY"
types=$DEVICE_FORMATS sample= both='up down' quick=
[ -n "$ALL" ] || types='bccoo pmf' sample='-sample 24' both=up quick=-quick
# What PoCL runs in the same way, and what another line shows as well
all() { [ -z "$ALL" ] || emulate "$@"; }
product='-mat_spmv_backend device -mat_spmv_build_after 0'
orders=$both
emulate formats 1 tests/output/format_device.out format_device $sample
emulate vectors 1 tests/output/format_vectors.out format_vectors
emulate operations 1 tests/output/vec_accel.out vec_accel $append $quick
# Kernels that do not wait for the one before, though they should: seen where both write to y, or by the results in another order
unordered() { # name, kernel, order, what must be seen
  rm -f "$tmp"/calls*
  LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH FAKE_CUDA_UNORDERED=$2 FAKE_CUDA_ORDER=$3 FAKE_CUDA_LOG=$tmp/calls timeout 300 "$PROGRAMS/format_device" -spmv_device cuda -spmv_device_cache none -quick -default -format "${2%_*}" >"$tmp/out" 2>"$tmp/err" </dev/null
  if cat "$tmp/calls" "$tmp/out" | grep -q "$4"; then echo "ok emulate_unordered_$1"; else echo "not ok emulate_unordered_$1"; fi
}
unordered written bccoo_product up '^bad spmv_clear and bccoo_product, which may run at once, write the same words$'
unordered reversed bccoo_carry down '^[1-9][0-9]* plans wrong'
orders=up
echo '0 facts wrong' >"$tmp/facts"
emulate convert 1 tests/output/format_device_convert.out format_device_convert $sample
emulate local 1 /dev/null unit_device
all carries 1 tests/output/format_device_carry.out format_device_carry
all columns 1 tests/output/format_device_columns.out format_device_columns
emulate knobs 1 tests/output/format_device_knobs.out format_device_knobs
for type in $([ "$ALL" ] && echo $types || echo pmf); do emulate faults_$type 1 /dev/null unit_device_faults $product -type $type -fallback; done
# Transfers in small pieces, and by the driver alone
emulate pieces 1 tests/output/format_vectors.out format_vectors -spmv_device_staging 500
all unstaged 1 tests/output/format_vectors.out format_vectors -spmv_device_staging 0
all tables 1 tests/output/format_device_tables.out format_device_tables $sample
all groups 1 tests/output/vec_accel.out vec_accel $append -spmv_vec_workgroup 4 -n 40001 -quick
emulate parallel 2 tests/output/vec_accel.out vec_accel $append -n 65 -quick
for type in $types; do
  emulate mat_$type 1 tests/output/mat_device_1_nsize-1.out mat_device $append $product -type $type
  all mat_2_$type 2 tests/output/mat_vecs_1_nsize-2.out mat_vecs $append $product -type $type
  all veccuda_$type 1 "$tmp/facts" veccuda $product -type $type -results
  emulate veccuda_2_$type 2 "$tmp/facts" veccuda $product -type $type -results
done
all auto 1 "$tmp/facts" auto
emulate auto_2 2 "$tmp/facts" auto
emulate ksp 1 tests/output/ksp_accel_1_nsize-1.out ksp_accel $append $product
# work groups that wait for each other, which complex numbers have no means for
printf '#include <petscconf.h>\n#ifdef PETSC_USE_COMPLEX\nCOMPLEX\n#endif\n' | $COMPILE -E -x c - | grep -q '^COMPLEX' && exit
orders=$both
emulate carry 1 tests/output/mat_device_1_nsize-1.out mat_device $append $product -mat_bccoo_device_carry adjacent -mat_bccoo_tile 8 -mat_bccoo_device_workgroup 32
