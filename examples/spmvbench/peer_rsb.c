/*
  peer_rsb.c - librsb: recursive sparse blocks, autotuned for the product
*/
#if defined(BENCH_RSB)
  #include "peers.h"
  #include <rsb.h>

  #define RSBCall(call) \
    do { \
      const rsb_err_t err_ = (call); \
\
      PetscCheck(err_ == RSB_ERR_NO_ERROR, PETSC_COMM_SELF, PETSC_ERR_LIB, "librsb: error 0x%x", (unsigned)err_); \
    } while (0)

  #define RSB_SECONDS 2.0 /* of autotuning, at most */

static PetscErrorCode PeerRSBMult(Mat A, Vec x, Vec y)
{
  struct rsb_mtx_t  *p;
  const double       one = 1, zero = 0;
  const PetscScalar *xa;
  PetscScalar       *ya;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &p));
  PetscCall(VecGetArrayRead(x, &xa));
  PetscCall(VecGetArrayWrite(y, &ya));
  RSBCall(rsb_spmv(RSB_TRANSPOSITION_N, &one, p, xa, 1, &zero, ya, 1));
  PetscCall(VecRestoreArrayRead(x, &xa));
  PetscCall(VecRestoreArrayWrite(y, &ya));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PeerRSBDestroy(Mat A)
{
  struct rsb_mtx_t *p;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(A, &p));
  (void)rsb_mtx_free(p);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchPeerCreateRSB(const BenchMatrix *M, PetscInt bs, PetscInt threads, Mat *A, PetscLogDouble *bytes)
{
  static PetscBool  started = PETSC_FALSE;
  struct rsb_mtx_t *p;
  rsb_err_t         err;
  rsb_int_t         wanted = (rsb_int_t)threads, tuned = (rsb_int_t)threads;
  size_t            size = 0;
  const double      one = 1, zero = 0;

  PetscFunctionBegin;
  if (!started) RSBCall(rsb_lib_init(RSB_NULL_INIT_OPTIONS));
  started = PETSC_TRUE;
  RSBCall(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &wanted));
  p = rsb_mtx_alloc_from_csr_const(M->a, M->i, M->j, M->i[M->m], RSB_NUMERICAL_TYPE_DOUBLE, M->m, M->n, RSB_DEFAULT_ROW_BLOCKING,
                                   RSB_DEFAULT_COL_BLOCKING, RSB_FLAG_NOFLAGS, &err);
  RSBCall(err);
  RSBCall(rsb_tune_spmm(&p, NULL, &tuned, 0, RSB_SECONDS, RSB_TRANSPOSITION_N, &one, NULL, 1, RSB_FLAG_WANT_COLUMN_MAJOR_ORDER,
                        NULL, 0, &zero, NULL, 0));
  RSBCall(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &wanted));
  RSBCall(rsb_mtx_get_info(p, RSB_MIF_INDEX_STORAGE_IN_BYTES__TO__SIZE_T, &size));
  *bytes = (double)size + (double)M->i[M->m] * sizeof(double);
  PetscCall(MatCreateShell(PETSC_COMM_SELF, M->m, M->n, M->m, M->n, p, A));
  PetscCall(MatShellSetOperation(*A, MATOP_MULT, (void (*)(void))PeerRSBMult));
  PetscCall(MatShellSetOperation(*A, MATOP_DESTROY, (void (*)(void))PeerRSBDestroy));
  (void)bs;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
typedef int BenchNoRSB; /* ISO C wants something in a file */
#endif
