#!/bin/bash
# Devices from the outside: kernels under a simulator that finds races and accesses out of bounds, the program cache on
# disk, what is said where there is no device, and events.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

run() { env -u PETSC_OPTIONS timeout 300 "$@" >"$tmp/out" 2>&1 </dev/null; }
check() { # name, expected exit (0 or 1), words, words that must not be there (or ""), command...
  local name=$1 status=$2 words=$3 no=$4
  shift 4
  run "$@"
  local got=$?
  if [ $((got != 0)) = "$status" ] && grep -q -e "$words" "$tmp/out" && { [ -z "$no" ] || ! grep -q -e "$no" "$tmp/out"; }; then echo "ok device_$name"; else echo "not ok device_$name # exit status $got"; grep -v 'Configure options' "$tmp/out" | head -30 | sed 's/^/# /'; fi
}
device="-dll_append $LIBRARY -mat_spmv_backend device -mat_spmv_build_after 0 -mat_bccoo_block_height 3 -mat_bccoo_block_width 3 -spmv_device_view -host -spmv_device_cache"

# Without a device: silence and the host, unless one was asked for by name
check absent 0 'first: host' 'PETSC ERROR' env OCL_ICD_VENDORS="$tmp/none" "$PROGRAMS/mat_device" $device none -spmv_device none
check absent_by_name 1 'this machine has none; install' '' env OCL_ICD_VENDORS="$tmp/none" "$PROGRAMS/format_device" -spmv_device opencl
check unknown 1 'is no API of devices; set it to cuda, opencl or none' '' "$PROGRAMS/mat_device" $device none -spmv_device nonsense

run "$PROGRAMS/mat_device" $device none
if ! grep -q 'device 0' "$tmp/out"; then
  for name in index no_graphs vec_workgroup vec_events refused cache events events_phases shares unused unused_info unused_none unused_joint races races_vectors; do echo "ok device_$name # SKIP there is no device; install pocl-opencl-icd"; done
  exit 0
fi
device="-spmv_device opencl $device"
check index 1 'set -spmv_device_index from 0 to' '' "$PROGRAMS/mat_device" $device none -spmv_device_index 99
check no_graphs 1 'opencl records no kernels; leave the option out' '' "$PROGRAMS/mat_device" $device none -spmv_device_graph
for n in 3 0 1048576; do check "vec_workgroup_$n" 1 'set -spmv_vec_workgroup to a power of two' '' "$PROGRAMS/vec_accel" -dll_append "$LIBRARY" -spmv_device opencl -spmv_device_cache none -spmv_vec_workgroup $n; done
check vec_events 0 '^VecFromDevice' 'PETSC ERROR' "$PROGRAMS/vec_accel" -dll_append "$LIBRARY" -spmv_device opencl -spmv_device_cache none -quick -n 65 -log_view
for event in VecToDevice vec_add2 vec_sums_end; do grep -q "^$event" "$tmp/out" && echo "ok device_vec_event_$event" || echo "not ok device_vec_event_$event"; done
# The cache: empty, then used, then with a file cut short and one whose end is another, then in a folder that nobody can make
check cache_empty 0 'programs: 1 compiled, 0 from disk' 'PETSC ERROR' "$PROGRAMS/mat_device" $device "$tmp/cache/deep"
check cache_used 0 'programs: 0 compiled, 1 from disk' 'PETSC ERROR' "$PROGRAMS/mat_device" $device "$tmp/cache/deep"
for file in "$tmp"/cache/deep/*.bin; do truncate -s -100 "$file"; done
check cache_short 0 'programs: 1 compiled, 0 from disk' 'PETSC ERROR' "$PROGRAMS/mat_device" $device "$tmp/cache/deep"
for file in "$tmp"/cache/deep/*.bin; do printf 'something else' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 64)) conv=notrunc 2>/dev/null; done
check cache_other 0 'programs: 1 compiled, 0 from disk' 'PETSC ERROR' "$PROGRAMS/mat_device" $device "$tmp/cache/deep"
# What others may write to, what another user owns and what is behind a link is not taken, and the file is ours and plain again
for way in writable linked foreign; do
  for file in "$tmp"/cache/deep/*.bin; do
    case $way in
      writable) chmod go+w "$file" ;;
      linked) mv "$file" "$tmp/elsewhere" && ln -s "$tmp/elsewhere" "$file" && cp "$tmp/elsewhere" "$tmp/kept" ;;
      foreign) chown 12345 "$file" 2>/dev/null || rm "$file" ;; # root alone can give a file away
    esac
  done
  check cache_$way 0 'programs: 1 compiled, 0 from disk' 'PETSC ERROR' "$PROGRAMS/mat_device" $device "$tmp/cache/deep"
  [ -n "$(find "$tmp/cache/deep" -name '*.bin' -type f -user "$(id -u)" ! -perm /022)" ] && echo "ok device_cache_${way}_anew" || echo "not ok device_cache_${way}_anew"
done
cmp -s "$tmp/elsewhere" "$tmp/kept" && echo 'ok device_cache_behind_the_link' || echo 'not ok device_cache_behind_the_link'
# Processes that start at once with one folder: one of them compiles, each is right, one file is left, and that one is whole
rm -r "$tmp/cache"
for k in $(seq $([ "$ALL" ] && echo 8 || echo 3)); do
  env -u PETSC_OPTIONS timeout 300 "$PROGRAMS/mat_device" $device "$tmp/cache/deep" >"$tmp/at_once.$k" 2>&1 </dev/null || echo PETSC ERROR >>"$tmp/at_once.$k" &
done
wait
! grep -q 'PETSC ERROR' "$tmp"/at_once.* && [ "$(ls "$tmp/cache/deep" | wc -l)" = 1 ] && [ "$(cat "$tmp"/at_once.* | grep -c 'programs: 1 compiled')" = 1 ] && echo 'ok device_cache_at_once' || echo 'not ok device_cache_at_once'
check cache_at_once_whole 0 'programs: 0 compiled, 1 from disk' 'PETSC ERROR' "$PROGRAMS/mat_device" $device "$tmp/cache/deep"
check cache_nowhere 0 'programs: 1 compiled, 0 from disk' 'PETSC ERROR' "$PROGRAMS/mat_device" $device /proc/nowhere
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache} # that of PoCL stays where it is
check cache_home 0 'programs: 1 compiled, 0 from disk' 'PETSC ERROR' env XDG_CACHE_HOME="$tmp/xdg" "$PROGRAMS/mat_device" ${device% *}
[ -n "$(ls "$tmp/xdg/petscspmv/kernels" 2>/dev/null)" ] && echo 'ok device_cache_xdg' || echo 'not ok device_cache_xdg'
check cache_relative 0 'programs: 1 compiled, 0 from disk' 'PETSC ERROR' env -C "$tmp" XDG_CACHE_HOME=relative HOME="$tmp/home" "$PROGRAMS/mat_device" ${device% *}
[ -n "$(ls "$tmp/home/.cache/petscspmv/kernels" 2>/dev/null)" ] && [ ! -e "$tmp/relative/petscspmv" ] && echo 'ok device_cache_relative_home' || echo 'not ok device_cache_relative_home'
check held 0 ' 0 now' 'PETSC ERROR' "$PROGRAMS/mat_device" $device none
check held_vectors 0 ' 0 now' 'PETSC ERROR' "$PROGRAMS/mat_device" ${device/ -host / } none

check events 0 'bccoo_carry' '' "$PROGRAMS/mat_device" $device none -log_view
for event in SpmvToDevice SpmvFromDevice bccoo_product; do grep -q "^$event" "$tmp/out" && echo "ok device_event_$event" || echo "not ok device_event_$event"; done

for kernel in cmrs_product csradaptive_stream csradaptive_combine; do
  check "event_$kernel" 0 "^$kernel" 'PETSC ERROR' "$PROGRAMS/mat_device" $device none -log_view -type "${kernel%_*}" -mat_csradaptive_device_nnz_per_wg 64
done
check events_phases 0 '^tpspmv_first' '' "$PROGRAMS/mat_device" $device none -log_view -type tpspmv -mat_tpspmv_tile 16
grep -q '^tpspmv_second' "$tmp/out" && echo 'ok device_events_second' || echo 'not ok device_events_second'

# Parts on the device and on the host: powers that were measured, and the shares, are printed
check shares 0 'powers=[0-9]*,1000,1000 ' 'PETSC ERROR' "$PROGRAMS/mat_device" $device none -type pmf -mat_pmf_device_parts 1 -mat_spmv_threads 3 -mat_spmv_view
grep -q 'on the device: 1 of 3 parts, share [0-9.]* %, has [0-9.]* % of the nonzeros' "$tmp/out" && echo 'ok device_shares_printed' || echo 'not ok device_shares_printed'

# What was asked for and is the host's alone: said in a view and under -info. The host's rows of a joint product have their knobs
unused="-type pmf -mat_pmf_pieces none -mat_spmv_transpose shared -mat_spmv_order levels"
check unused 0 'the device makes no use of -mat_pmf_pieces -mat_spmv_transpose shared -mat_spmv_order levels$' 'PETSC ERROR' "$PROGRAMS/mat_device" $device none $unused -mat_spmv_view
check unused_info 0 'The device makes no use of -mat_pmf_pieces -mat_spmv_transpose shared -mat_spmv_order levels; set' 'PETSC ERROR' "$PROGRAMS/mat_device" $device none $unused -info
check unused_none 0 'bytes per nonzero' 'makes no use\|PETSC ERROR' "$PROGRAMS/mat_device" $device none -type pmf -mat_pmf_device_slice 16 -mat_spmv_transpose copy -mat_spmv_view
check unused_joint 0 'of 3 parts' 'no use of -mat_pmf\|PETSC ERROR' "$PROGRAMS/mat_device" $device none -type pmf -mat_pmf_pieces none -mat_pmf_device_parts 1 -mat_spmv_threads 3 -mat_spmv_view

# What a compiler refuses: the line, the options, the log
check refused 1 'Line [1-9][0-9]*:   x\[0\] = nobody_knows_this' '' "$PROGRAMS/format_device" -spmv_device opencl -spmv_device_cache none -refuse
grep -q 'Options: .*-DHEIGHT=1' "$tmp/out" && grep -q 'undeclared' "$tmp/out" && echo 'ok device_refused_log' || echo 'not ok device_refused_log'

command -v oclgrind >/dev/null || { echo 'ok device_races # SKIP there is no oclgrind; install the package oclgrind'; exit 0; }
# A simulated kernel takes a thousand times as long: the plans that users get who ask for nothing, of formats whose work items share
# most; a vector of more entries than a work group has
some=-default n=37 formats='bccoo csradaptive'
[ -z "$ALL" ] || some='' n=0,1,37,300 formats=$DEVICE_FORMATS
for format in $formats; do
  check "races_$format" 0 '^0 plans wrong' 'Invalid\|race\|OCLGRIND' oclgrind --data-races "$PROGRAMS/format_device" -quick $some -format "$format" -spmv_device opencl -spmv_device_cache none
done
check races_products 0 '^0 wrong' 'Invalid\|race\|OCLGRIND' oclgrind --data-races "$PROGRAMS/format_vectors" -quick -spmv_device opencl -spmv_device_cache none
# A storage with fill that the device makes
[ -z "$ALL" ] || check races_convert 0 '^another: device' 'Invalid\|race\|OCLGRIND' oclgrind --data-races "$PROGRAMS/mat_device" $device none -mat_bccoo_device_convert device
# Memory that is read before it is written. Without optimisation, whose code Oclgrind 21 does not follow there
[ -n "$ALL" ] && for format in $DEVICE_FORMATS; do
  check "uninitialized_$format" 0 '^0 plans wrong' '[Uu]ninit\|Invalid\|OCLGRIND' oclgrind --uninitialized --build-options -cl-opt-disable "$PROGRAMS/format_device" -quick -default -format "$format" -spmv_device opencl -spmv_device_cache none
done
[ -z "$ALL" ] || check races_atomic 0 'parts atomic: 0 entries wrong' 'Invalid\|race\|OCLGRIND' oclgrind --data-races "$PROGRAMS/format_device_knobs" -spmv_device opencl -spmv_device_cache none

# Operations on vectors, two minutes of one core each; the last: more work groups than the first step of a sum has
[ -n "$ALL" ] || exit 0
vectors="-dll_append $LIBRARY -spmv_device opencl -spmv_device_cache none -quick"
check races_vectors 0 '^0 operations wrong' 'Invalid\|race\|OCLGRIND' oclgrind --data-races "$PROGRAMS/vec_accel" $vectors -n 0,37 -spmv_vec_workgroup 16
check races_vectors_steps 0 '^0 operations wrong' 'Invalid\|race\|OCLGRIND' oclgrind --data-races "$PROGRAMS/vec_accel" $vectors -n 2100 -spmv_vec_workgroup 2
