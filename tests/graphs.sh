#!/bin/bash
# Products recorded as CUDA graphs, with a driver that runs nothing and writes down everything (tests/fake/cuda.c): the
# kernels of a graph and what they are given must be those of single launches. No results: those need a GPU. The programs
# compare results nevertheless and end with an error, which is no matter here.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
build=$(dirname "$LIBRARY")

cc=${CC:-cc}
{ $cc -O1 -g -shared -fPIC -Wno-unused-parameter tests/fake/cuda.c -o "$tmp/libcuda.so.1" && cp "$tmp/libcuda.so.1" "$tmp/libnvrtc.so" &&
  $COMPILE tests/format_device.c "$build/libpetscspmv.a" -o "$tmp/format_device" $PETSC_LINK -lm -ldl -lpthread; } >"$tmp/log" 2>&1 || { echo 'not ok graphs_compile'; sed 's/^/# /' "$tmp/log"; exit 0; }

record() { # log, options...
  local log=$tmp/$1
  shift
  LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH FAKE_CUDA_LOG=$log timeout 120 "$tmp/format_device" -spmv_device cuda -spmv_device_cache none "$@" >"$log.out" 2>&1 </dev/null
  grep '^run' "$log" >"$log.run"
}
check() { # name, command...
  local name=$1
  shift
  if "$@" >"$tmp/why" 2>&1; then echo "ok graphs_$name"; else echo "not ok graphs_$name"; head -n 20 "$tmp/why" | sed 's/^/# /'; fi
}

record with
record without -spmv_device_graph 0
record logging -log_view
check ended grep -q 'plans wrong' "$tmp/with.out"
check used grep -q '^graph [2-9]' "$tmp/with"
check one_kernel bash -c "! grep '^graph [01]$' '$tmp/with'"
check alongside grep -q '^wait csradaptive_vector$' "$tmp/with"
check combine grep -q '^wait csradaptive_combine csradaptive_stream csradaptive_vector csradaptive_vectorl$' "$tmp/with"
check carry grep -q '^wait bccoo_carry bccoo_product$' "$tmp/with"
check pieces grep -q '^wait pmf_longs pmf_pieces pmf_slices$' "$tmp/with"
check off bash -c "! grep '^graph' '$tmp/without'"
check logging bash -c "! grep '^graph' '$tmp/logging'" # each kernel has its event
check same cmp "$tmp/with.run" "$tmp/without.run"
check same_logging cmp "$tmp/with.run" "$tmp/logging.run"
check some test "$(wc -l <"$tmp/with.run")" -gt 500
for log in with without logging; do
  check "calls_$log" bash -c "! grep '^bad' '$tmp/$log'"
  check "left_$log" grep -q '^left 0 graphs, 0 to launch, 0 buffers, 0 modules, 0 contexts, 0 current' "$tmp/$log"
done
