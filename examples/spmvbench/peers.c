/*
  peers.c - which libraries this spmvbench knows
*/
#include "peers.h"
#include <string.h>

static const BenchPeer Peers[] = {
#if defined(BENCH_MKL)
  {"mkl", PETSC_TRUE, BenchPeerCreateMKL},
#endif
#if defined(BENCH_RSB)
  {"rsb", PETSC_FALSE, BenchPeerCreateRSB},
#endif
  {"cusparse", PETSC_FALSE, BenchPeerCreateCusparse},
  {"cusparse_alg2", PETSC_FALSE, BenchPeerCreateCusparseAlg2},
  {"cusparse_sell", PETSC_FALSE, BenchPeerCreateCusparseSell},
  {"cusparse_bsr", PETSC_TRUE, BenchPeerCreateCusparseBsr},
  {NULL, PETSC_FALSE, NULL}};

/* The peer of a type's name; NULL if it is none */
PetscErrorCode BenchPeerFind(const char type[], const BenchPeer **peer)
{
  PetscFunctionBegin;
  for (*peer = Peers; (*peer)->type; (*peer)++) {
    if (!strcmp((*peer)->type, type)) PetscFunctionReturn(PETSC_SUCCESS);
  }
  *peer = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
