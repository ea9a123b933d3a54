/*
  peers.h - libraries that spmvbench races against, each a type: mkl, mkl:block_size=3, rsb, cusparse, cusparse_alg2,
  cusparse_sell, cusparse_bsr:block_size=3

  A peer's matrix is a MATSHELL whose MatMult() is the library's product. Those of the host are there if spmvbench was
  compiled with them: make bench-mkl defines BENCH_MKL and BENCH_RSB. cuSPARSE is looked for at run time.
*/
#pragma once
#include "spmvbench.h"

/* BenchPeer: how a library's matrix is made; bs > 1 asks for exact blocks, where `blocks` says that the library has them */
typedef struct {
  const char *type;
  PetscBool   blocks;
  PetscErrorCode (*create)(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes);
} BenchPeer;

extern PetscErrorCode BenchPeerFind(const char type[], const BenchPeer **peer);

extern PetscErrorCode BenchPeerCreateCusparse(const BenchMatrix *, PetscInt, PetscInt, Mat *, PetscLogDouble *);
extern PetscErrorCode BenchPeerCreateCusparseAlg2(const BenchMatrix *, PetscInt, PetscInt, Mat *, PetscLogDouble *);
extern PetscErrorCode BenchPeerCreateCusparseSell(const BenchMatrix *, PetscInt, PetscInt, Mat *, PetscLogDouble *);
extern PetscErrorCode BenchPeerCreateCusparseBsr(const BenchMatrix *, PetscInt, PetscInt, Mat *, PetscLogDouble *);
#if defined(BENCH_MKL)
extern PetscErrorCode BenchPeerCreateMKL(const BenchMatrix *, PetscInt, PetscInt, Mat *, PetscLogDouble *);
#endif
#if defined(BENCH_RSB)
extern PetscErrorCode BenchPeerCreateRSB(const BenchMatrix *, PetscInt, PetscInt, Mat *, PetscLogDouble *);
#endif
