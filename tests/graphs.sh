#!/bin/bash
# Products recorded as CUDA graphs, with a driver that runs nothing and writes down everything (tests/fake/cuda.c): the
# kernels of a graph and what they are given must be those of single launches. No results: those need a GPU. The programs
# compare results nevertheless and end with an error, which is no matter here.
. tests/tap
build=$(dirname "$LIBRARY")

cc=${CC:-cc}
{ $cc -O1 -g -shared -fPIC -Wno-unused-parameter tests/fake/cuda.c -o "$tmp/libcuda.so.1" && cp "$tmp/libcuda.so.1" "$tmp/libnvrtc.so"; } >"$tmp/log" 2>&1 || { echo 'not ok graphs_compile'; sed 's/^/# /' "$tmp/log"; exit 0; }

record() { # log, program, options...
  local log=$tmp/$1 program=$2
  shift 2
  LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH FAKE_CUDA_LOG=$log timeout 120 "$PROGRAMS/$program" -spmv_device cuda -spmv_device_cache none "$@" >"$log.out" 2>&1 </dev/null
  grep '^run' "$log" >"$log.run"
}

record with format_device
record without format_device -spmv_device_graph 0
record logging format_device -log_view
# vectors on the device: 98 pairs, of which 64 are remembered; then 18, each recorded when it comes for the second time
record many format_vectors
record many_without format_vectors -spmv_device_graph 0
record few format_vectors -vectors 2
record few_without format_vectors -vectors 2 -spmv_device_graph 0
record repeats format_vectors -vectors 2 -spmv_device_graph 0 -repeats 40
check ended grep -q 'plans wrong' "$tmp/with.out"
check used grep -q '^graph [2-9]' "$tmp/with"
check one_kernel bash -c "! grep '^graph [01]$' '$tmp/with'"
check alongside grep -q '^wait csradaptive_vector$' "$tmp/with"
check combine grep -q '^wait csradaptive_combine csradaptive_vectorl$' "$tmp/with"
check carry grep -q '^wait bccoo_carry bccoo_product$' "$tmp/with"
check chunks grep -q '^wait pmf_longs pmf_chunks$' "$tmp/with"
check parts grep -q '^wait cmrs_combine cmrs_parts$' "$tmp/with"
check second grep -q '^wait tpspmv_second tpspmv_first$' "$tmp/with"
# Of the kernels that may run at once those of few work groups come first
check first awk '/^wait csradaptive_vector/ && stream { bad = 1 } /^wait csradaptive_stream/ { stream = 1; n++ } /^graph/ { stream = 0 } END { exit bad || !n }' "$tmp/with"
# spmv_clear has eight scalars a work item
check clear awk '/^run spmv_clear / { n = $6 * $7; if (($3 - 1) * $4 * 8 >= n || $3 * $4 * 8 < n) bad = 1; k++ } END { exit bad || !k }' "$tmp/with"
# A kernel that does not wait for what it reads is seen
FAKE_CUDA_UNORDERED=csradaptive_combine record unordered format_device -quick -format csradaptive
check unordered grep -q '^bad csradaptive_combine does not wait for csradaptive_vectorl$' "$tmp/unordered"
check off bash -c "! grep '^graph' '$tmp/without'"
# While PETSc logs, products are the same; a graph is one event, and where there is none each kernel has its own
record logging_without format_device -log_view -spmv_device_graph 0
check logging grep -q '^graph [2-9]' "$tmp/logging"
check logging_event grep -q '^csradaptive_vectorl*+[1-9] ' "$tmp/logging.out"
check logging_single grep -q '^spmv_clear ' "$tmp/logging_without.out"
check logging_off bash -c "! grep '^graph' '$tmp/logging_without'"
check same_logging_without cmp "$tmp/with.run" "$tmp/logging_without.run"
check same cmp "$tmp/with.run" "$tmp/without.run"
check same_logging cmp "$tmp/with.run" "$tmp/logging.run"
check many cmp "$tmp/many.run" "$tmp/many_without.run"
check few cmp "$tmp/few.run" "$tmp/few_without.run"
check few_used test "$(grep -c '^graph [2-9]' "$tmp/few")" -gt 100
# However many products are measured at once, the context is made current once for all of them
check repeats_more test "$(wc -l <"$tmp/repeats.run")" -gt $(($(wc -l <"$tmp/few_without.run") + 300))
check repeats_pushes test "$(grep -c '^push$' "$tmp/repeats")" -eq "$(grep -c '^push$' "$tmp/few_without")"
check some test "$(wc -l <"$tmp/with.run")" -gt 500
for log in with without logging logging_without many many_without few few_without repeats; do
  check "calls_$log" bash -c "! grep '^bad' '$tmp/$log'"
  check "left_$log" grep -q '^left 0 graphs, 0 to launch, 0 buffers, 0 modules, 0 contexts, 0 current' "$tmp/$log"
done

# Operations on vectors, of which each kernel must be found and get buffers that are there
LD_LIBRARY_PATH=$tmp:$LD_LIBRARY_PATH FAKE_CUDA_LOG=$tmp/vectors timeout 120 "$PROGRAMS/vec_accel" -dll_append "$LIBRARY" -spmv_device cuda -spmv_device_cache none -quick -n 0,1,65,300 >"$tmp/vectors.out" 2>&1 </dev/null
check vectors_ended grep -q 'operations wrong' "$tmp/vectors.out"
check vectors_calls bash -c "! grep '^bad' '$tmp/vectors'"
all=$(grep -E '^(void vec_|(ENTRYWISE|SUMS|FIRST)\()' src/vec/impls/accel/vec.cl | grep -cv '_end(') # with vec_conjugate, which real numbers have no use for; second kernels are not for CUDA
check vectors_kernels test "$(grep -o '^run vec_[a-z0-9_]*' "$tmp/vectors" | sort -u | wc -l)" -ge $((all - 1))
# The context stays current from the kernels of a sum to its result, and from one kernel of an operation to the next
check vectors_sums awk '/^run vec_(dots|dotnorm2|norm[a-z0-9_]*|sum|max|min|max_divide) / { sum = 1; sums++ } /^push$/ && sum { exit bad = 1 } /^receive / { sum = 0 } END { exit bad || !sums }' "$tmp/vectors"
check vectors_several awk '$0 ~ /^run vec_maxpy / && last ~ /^run vec_maxpy / { several = 1 } { last = $0 } END { exit !several }' "$tmp/vectors"
check vectors_left grep -q '^left 0 graphs, 0 to launch, 0 buffers, 0 modules, 0 contexts, 0 current' "$tmp/vectors"
