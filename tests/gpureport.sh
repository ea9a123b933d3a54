#!/bin/bash
# conf/gpu-report: what it proposes, from numbers that are known; make gpu-bundle: are all tests of devices in it?
. tests/tap
head='run,matrix,rows,cols,nnz,type,backend,plan,threads,ranks,bytes,build_s,min_s,median_s,gflops,gbs,gbs_csr,read_bw_fraction,ratio_to_aij,ratio_to_best_petsc,error,eta_minus,eta_plus'
line() { echo "$1,$2,9,9,9,$3,${6:-cuda},${7:-p},1,1,9,0,0,$4,1,1,$5,1,1,1,0,1,1"; } # run, matrix, type, seconds, GB/s, backend, plan
pmf=pmf:mat_spmv_backend=device
{
  echo "$head"
  for matrix in a b; do
    line kernels_cuda $matrix aij 9e-3 1
    line kernels_cuda $matrix $pmf 2e-5 500
    line kernels_cuda $matrix cusparse $([ $matrix = a ] && echo 3e-5 || echo 1e-5) 300
    line kernels_cuda $matrix cusparse_alg2 4e-5 200
    line kernels_cuda $matrix spmv:mat_spmv_backend=device 2.5e-5 400 cuda format=bccoo
    line auto_cuda $matrix aij 4e-5 1 host
    line auto_cuda $matrix spmv:mat_spmv_backend=auto 8e-5 1 host format=aij
  done
} >"$tmp/bench.csv"
default() { line sweep_cuda $1 $pmf $2 1; }
value() { line sweep_cuda $1 $pmf:$2 $3 1; }
{ # a run for each knob, each with a time by the default of its own
  echo "$head"
  for matrix in a b c d e; do
    default $matrix 2e-5
    value $matrix device_workgroup=64 1.9e-5
    value $matrix device_workgroup=256 1.6e-5 # 1.25 on all
  done
  for matrix in a b c d e; do
    default $matrix 4e-5 # the clock was lower meanwhile
    value $matrix device_slice=8 $([ $matrix = a ] && echo 2e-5 || echo 8e-5) # 2 and 0.5
    value $matrix device_long=32 3.98e-5                                      # not worth it
    value $matrix device_long=64 nan                                          # refused
  done
  for matrix in a b c d; do # the time was over then
    default $matrix 2e-5
    value $matrix device_lanes=4 1e-5
  done
  default e nan
  value e device_lanes=4 1e-5
} >"$tmp/sweep.csv"
printf 'cg,matrix type,vector type,unknowns,iterations,seconds,norm\ncg_cuda_pmf,seqpmf,seqaccel,1000,20,1e-5,1\n' >"$tmp/cg.csv"
{ # two launches of a kernel: the larger one counts
  echo 'matrix,"ID","Kernel Name","launch__grid_size","launch__registers_per_thread","sm__warps_active.avg.pct_of_peak_sustained_active","gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_sectors_srcunit_tex_op_read.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"'
  echo 'a,"0","pmf_slices","27","32","2","3000","0","0","0","0"'
  echo 'a,"1","pmf_slices","1,536","32","90.4","10,000","20,000,000","4,000,000","1,000,000","2,000,000"'
} >"$tmp/profile.csv"
check runs "${PYTHON:-python3}" conf/gpu-report "$tmp"
printf 'run\tformat\tknob\tdefault\tgain\tmatrices\nsweep_cuda\tpmf\tdevice_workgroup\t256\t1.250\t5\n' >"$tmp/wanted"
check defaults cmp "$tmp/wanted" "$tmp/defaults.tsv"
check race grep -q '^| a | 9 | 20.0 | 30.0 | 40.0 | 25.0 | 1.50 |$' "$tmp/report.md"
check mean grep -q '^| pmf | 2 | 0.87 | 0.50 | b |$' "$tmp/report.md"
check chosen grep -q '^| kernels_cuda | a | spmv | cuda | format=bccoo | 0.80 |$' "$tmp/report.md"
check chosen_auto grep -q '^| auto_cuda | b | spmv:mat_spmv_backend=auto | host | format=aij | 0.50 |$' "$tmp/report.md"
check new grep -q 'device_workgroup=256 .*| new default |$' "$tmp/report.md"
check too_few grep -q 'device_lanes=4 | 4 | 2.000 .*| too few matrices |$' "$tmp/report.md"
check left_open grep -q 'device_slice=8 .*| by the matrix |$' "$tmp/report.md"
check nothing grep -q 'device_long=32 .*|  |$' "$tmp/report.md"
check cg grep -q '^| cg_cuda_pmf | seqpmf | seqaccel | 1000 | 10.0 |$' "$tmp/report.md"
check profile grep -q '^| a | pmf_slices | 1536 | 32 | 90 % | 10.0 | 20.00 | 4.00 | 2400 | 32.00 | 64.00 |$' "$tmp/report.md"
rm "$tmp"/*.csv
check empty "${PYTHON:-python3}" conf/gpu-report "$tmp"

# Patterns: what is packed is unpacked, also rows without entries, and copies of it
mkdir "$tmp/patterns"
"${PYTHON:-python3}" - "$tmp/patterns/a.petsc" <<'EOF'
import struct, sys
open(sys.argv[1], 'wb').write(struct.pack('>4i 3i 3i 3d', 1211216, 3, 4, 3, 2, 0, 1, 0, 3, 1, 1., 2., 3.))
open(sys.argv[1] + '.info', 'w').write('-matload_block_size 1\n')
EOF
check pack "${PYTHON:-python3}" conf/gpu-patterns pack "$tmp/packed" "$tmp/patterns/a.petsc"
check unpack "${PYTHON:-python3}" conf/gpu-patterns unpack "$tmp/packed" "$tmp/unpacked"
check pattern cmp -n 40 "$tmp/patterns/a.petsc" "$tmp/unpacked/a.petsc" # all but the values
check unpack_copies "${PYTHON:-python3}" conf/gpu-patterns unpack "$tmp/packed" "$tmp/copies" 6
copies() { [ "$(od -A n -t d4 --endian=big -N 64 "$tmp/copies/a.petsc" | tr -s ' \n' ' ')" = ' 1211216 6 8 6 2 0 1 2 0 1 0 3 1 4 7 5 ' ]; }
check copies copies

for test in tests/format_device*.c tests/unit_device*.c tests/vec_accel.c tests/mat_device.c; do basename "$test" .c; done >"$tmp/tests"
bundled() { # all of a list are words of conf/gpu
  while read -r test; do grep -qw "$test" conf/gpu || { echo "$test is not in the bundle"; return 1; }; done <"$1"
}
check bundle bundled "$tmp/tests"
