/*
  peer_mkl.c - Intel MKL's inspector-executor: compressed rows, or exact blocks; told of 1000 products and optimized
*/
#if defined(BENCH_MKL)
  #include "peers.h"
  #include <mkl.h>
  #include <mkl_spblas.h>

typedef struct {
  sparse_matrix_t     A;
  struct matrix_descr descr;
  MKL_INT            *i, *j; /* of the blocks; NULL: the matrix's own rows */
  double             *a;
} PeerMKL;

  #define MKLCall(call) \
    do { \
      const sparse_status_t status_ = (call); \
\
      PetscCheck(status_ == SPARSE_STATUS_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "MKL: status %d", (int)status_); \
    } while (0)

static PetscErrorCode PeerMKLMult(Mat A, Vec x, Vec y)
{
  PeerMKL           *p;
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &p));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  MKLCall(mkl_sparse_d_mv(SPARSE_OPERATION_NON_TRANSPOSE, 1, p->A, p->descr, xa, 0, ya));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerMKLDestroy(Mat A)
{
  PeerMKL *p;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &p));
  MKLCall(mkl_sparse_destroy(p->A));
  PetscCall(PetscFree3(p->i, p->j, p->a));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact blocks by rows: those of a MATSEQBAIJ hold their entries by columns, so they are made here */
static PetscErrorCode PeerMKLBlocks(const BenchMatrix *M, PetscInt bs, PeerMKL *p, PetscInt *nblocks)
{
  PetscInt *place; /* of the block of each block column in the row at work */

  PetscFunctionBegin;
  PetscCall(BenchBlocksCount(M, bs, nblocks, NULL));
  PetscCheck(*nblocks * bs * bs == M->i[M->m], PETSC_COMM_SELF, PETSC_ERR_SUP, "blocks of %" PetscInt_FMT " have fill", bs);
  PetscCall(PetscMalloc3(M->m / bs + 1, &p->i, *nblocks, &p->j, *nblocks * bs * bs, &p->a));
  PetscCall(PetscMalloc1(M->n / bs + 1, &place));
  p->i[0] = 0;
  for (PetscInt r = 0, n = 0; r < M->m / bs; r++) {
    for (PetscInt k = M->i[r * bs]; k < M->i[r * bs + 1]; k += bs) { /* exact: the first row names all blocks */
      place[M->j[k] / bs] = n;
      p->j[n++]           = M->j[k] / bs;
    }
    p->i[r + 1] = n;
    for (PetscInt d = 0; d < bs; d++) {
      for (PetscInt k = M->i[r * bs + d]; k < M->i[r * bs + d + 1]; k++)
        p->a[(place[M->j[k] / bs] * bs + d) * bs + M->j[k] % bs] = M->a[k];
    }
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchPeerCreateMKL(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes)
{
  PeerMKL *p;
  PetscInt nblocks;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  p->descr.type = SPARSE_MATRIX_TYPE_GENERAL;
  mkl_set_num_threads((int)threads);
  if (bs > 1) {
    PetscCall(PeerMKLBlocks(M, bs, p, &nblocks));
    MKLCall(mkl_sparse_d_create_bsr(&p->A, SPARSE_INDEX_BASE_ZERO, SPARSE_LAYOUT_ROW_MAJOR, M->m / bs, M->n / bs, bs, p->i,
                                    p->i + 1, p->j, p->a));
    *bytes = (double)nblocks * ((double)(bs * bs) * sizeof(double) + sizeof(MKL_INT)) + (double)(M->m / bs) * sizeof(MKL_INT);
  } else {
    MKLCall(mkl_sparse_d_create_csr(&p->A, SPARSE_INDEX_BASE_ZERO, M->m, M->n, M->i, M->i + 1, M->j, M->a));
    *bytes = (double)M->i[M->m] * (sizeof(double) + sizeof(MKL_INT)) + (double)M->m * sizeof(MKL_INT);
  }
  MKLCall(mkl_sparse_set_mv_hint(p->A, SPARSE_OPERATION_NON_TRANSPOSE, p->descr, 1000));
  MKLCall(mkl_sparse_optimize(p->A));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, M->m, M->n, M->m, M->n, p, A));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))PeerMKLMult));
  PetscCall(MatShellSetOperation(*A, MATOP_DESTROY, (void (*)(void))PeerMKLDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
typedef int BenchNoMKL; /* ISO C wants something in a file */
#endif
