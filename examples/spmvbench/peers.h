/*
  peers.h - libraries that spmvbench races against, each a type: mkl, mkl:block_size=3, rsb

  A peer's matrix is a MATSHELL whose MatMult() is the library's product. Which peers there are is decided when spmvbench is
  compiled: make bench-mkl defines BENCH_MKL and BENCH_RSB.
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

#if defined(BENCH_MKL)
extern PetscErrorCode BenchPeerCreateMKL(const BenchMatrix *, PetscInt, PetscInt, Mat *, PetscLogDouble *);
#endif
#if defined(BENCH_RSB)
extern PetscErrorCode BenchPeerCreateRSB(const BenchMatrix *, PetscInt, PetscInt, Mat *, PetscLogDouble *);
#endif
