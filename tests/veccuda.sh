#!/bin/bash
# Vectors whose memory is CUDA's, as VECCUDA's is in a PETSc with CUDA: kernels get that memory as it is, on PETSc's stream, and
# nothing moves. With the driver that runs nothing (tests/fake/cuda.c); tests/emulate.sh has the results.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
build=$(dirname "$LIBRARY")

compile() {
  ${CC:-cc} -O1 -g -shared -fPIC -Wno-unused-parameter tests/fake/cuda.c -o "$tmp/libcuda.so.1" &&
    cp "$tmp/libcuda.so.1" "$tmp/libnvrtc.so" &&
    $COMPILE tests/fake/veccuda.c "$build/libpetscspmv.a" -o "$tmp/veccuda" $PETSC_LINK -lm -ldl -lpthread
}
compile >"$tmp/log" 2>&1 || { echo 'not ok veccuda_compile'; sed 's/^/# /' "$tmp/log"; exit 0; }
options='-spmv_device cuda -spmv_device_cache none -mat_spmv_backend device -mat_spmv_build_after 0'
left='^left 0 graphs, 0 to launch, 0 buffers, 0 modules, 0 contexts, 0 current'
right() { # no fact is wrong, no call of the driver is, all went to PETSc's stream, and each rank left nothing behind
  grep -q '^0 facts wrong' "$tmp/out" && ! cat "$tmp"/calls* | grep -q '^bad' && grep -q '^stream 0x20' "$tmp/calls" &&
    [ "$(cat "$tmp"/calls* | grep -c "$left")" -eq $ranks ]
}
for type in $DEVICE_FORMATS; do
  for ranks in 1 2; do
    rm -f "$tmp"/calls*
    LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH FAKE_CUDA_LOG=$tmp/calls timeout 60 $MPIEXEC -n $ranks "$tmp/veccuda" $options \
      -type $type >"$tmp/out" 2>&1 </dev/null
    status=$?
    if [ $status -eq 0 ] && right; then echo "ok veccuda_${type}_$ranks"
    else
      echo "not ok veccuda_${type}_$ranks # exit status $status"
      { cat "$tmp"/calls* | grep '^bad'; head -n 20 "$tmp/out"; tail -n 1 "$tmp/calls"; } | cut -c1-200 | sed 's/^/# /'
    fi
  done
done
