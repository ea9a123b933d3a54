/*
  isas.h - every instruction set of the host, one line each, slowest first:
  SPMV_ISA(NAME, name, compiler flags, what the processor must have)

  Each *_simd.c is compiled once per line, with these flags (conf/rules reads this file). A machine runs the last line
  that it supports unless -mat_spmv_isa says otherwise; SCALAR is what the compiler does without being asked.

  AVX512_GATHER is AVX512 with the processor's own instruction to load eight entries of x from eight places. Where x is in the
  first cache that takes 0.180 ns an entry on Granite Rapids, and eight loads take 0.231. Not so on Zen 4 (x86.h), nor on those of
  Intel's whose microcode guards the instruction (Downfall, CVE-2022-40982): of the others those with AVX-512 have AVX512-FP16,
  too.

  SPMV_FEW_LOOPS: large blocks, short runs and the like share a loop where others have one each; no bit depends on that. Vectors
  that are loops over their lanes take the compiler longest, and next to nobody runs them.
*/
SPMV_ISA(SCALAR, scalar, "-DSPMV_FEW_LOOPS", 1)
SPMV_ISA(AVX2, avx2, "-mavx2 -mfma", SPMV_CPU("avx2") && SPMV_CPU("fma"))
SPMV_ISA(AVX512, avx512, "-mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma",
         SPMV_CPU("avx512f") && SPMV_CPU("avx512dq") && SPMV_CPU("avx512bw") && SPMV_CPU("avx512vl"))
SPMV_ISA(AVX512_GATHER, avx512_gather, "-mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma",
         SPMV_CPU("avx512f") && SPMV_FAST_GATHER)
