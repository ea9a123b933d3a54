/*
  matdense.c - products with a dense matrix: C = A B and C = A^T B, sequential and parallel

  PETSc's parallel product with a dense matrix calls AIJ's kernel whatever type the blocks have, so there is one of our own.
  Columns of B are taken 16, 8 or 4 at a time and laid side by side; kernels read AIJ's rows (host/dense/dense.h), so that
  nothing is built for them. Rows of B that other processes own come as ghosts.c has it.
*/
#include "spmvmat.h"
#include "../../host/dense/dense.h"
#include "../../host/machine.h"

#define SPMV_SIDE_BY_SIDE 8  /* entries for each row of B that laying columns side by side costs as much as */
#define SPMV_SHIFTED      16 /* the same where rows have the columns of the one before plus one */

/* The most columns that fit those that remain, or the least that hold them */
static PetscInt WidthOf(PetscInt remaining)
{
  return remaining > 8 ? 16 : remaining > 4 ? 8 : 4;
}

/* What both kinds of product work with: A's blocks, the local columns of B and C */
typedef struct {
  SpmvBlocks         blocks;
  SpmvDenseProduct   d[2];   /* the second is of no rows for a sequential matrix */
  SpmvGhosts        *ghosts; /* NULL for a sequential matrix */
  SpmvShadow        *shadow; /* of A */
  const PetscScalar *b;
  PetscScalar       *c;
  PetscInt           ldb, ldc, ncolumns;

  /* Of a transposed product: task t has columns [t width, (t + 1) width) of those from `first` on, and all rows */
  PetscInt     first, width;
  PetscScalar *y[2]; /* for each task [block's columns][width] */
} DenseWork;

static PetscErrorCode DenseWorkBegin(Mat A, Mat B, Mat C, DenseWork *w)
{
  SpmvIsa isa;
  SpmvCSR csr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  PetscCall(MatSpmvEnsureSettings(A));
  PetscCall(MatSpmvGetShadow(A, &w->shadow));
  PetscCall(MatSpmvGetBlocks(A, &w->blocks));
  PetscCall(SpmvIsaGet(w->shadow->settings.request.isa, &isa));
  for (int k = 0; k < w->blocks.n; k++) {
    PetscCall(MatSpmvGetRows(w->blocks.mat[k], &csr));
    SpmvDenseProductSet(&csr, isa, w->shadow->settings.request.threads, &w->d[k]);
  }
  if (w->blocks.n == 2) PetscCall(MatSpmvGetGhosts(A, w->shadow, &w->ghosts));
  PetscCall(MatDenseGetArrayRead(B, &w->b));
  PetscCall(MatDenseGetLDA(B, &w->ldb));
  PetscCall(MatDenseGetArrayWrite(C, &w->c));
  PetscCall(MatDenseGetLDA(C, &w->ldc));
  w->ncolumns = B->cmap->N;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors, `width` wide, for A's two blocks */
static PetscErrorCode DenseWorkVectors(const DenseWork *w, PetscInt width, PetscScalar *v[2])
{
  const size_t first = ((size_t)w->d[0].csr.n * (size_t)width + 7) / 8 * 8; /* the second begins on a cache line */

  PetscFunctionBegin;
  PetscCall(SpmvShadowGetWork(w->shadow, first + (size_t)w->d[1].csr.n * (size_t)width, &v[0]));
  v[1] = v[0] + first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseWorkEnd(Mat B, Mat C, DenseWork *w)
{
  PetscFunctionBegin;
  PetscCall(MatDenseRestoreArrayRead(B, &w->b));
  PetscCall(MatDenseRestoreArrayWrite(C, &w->c));
  for (int k = 0; k < w->blocks.n; k++) {
    const SpmvCSR *csr = &w->d[k].csr;

    PetscCall(PetscLogFlops(2.0 * w->ncolumns * (PetscLogDouble)csr->i[csr->m]));
    w->blocks.shadow[k]->seq.counts.columns += w->ncolumns;
  }
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  True if laying columns side by side costs more than it saves. Columns a multiple of a page apart would compete for the same
  lines of a cache.
  shifted: by the kernel for rows that read x in runs as it is. It gains where other columns are taken as they are, and, where
  memory and the last cache count, if that cache is far: laplace7:150 takes 0.65 of the time on Cascade Lake, else 1.1
*/
static PetscBool DenseIsDirect(const DenseWork *w, PetscBool *shifted)
{
  const SpmvMachine *machine = SpmvMachineGet();
  const SpmvCSR     *csr     = &w->d[0].csr;
  const PetscInt     nnz     = csr->i[csr->m];
  const PetscBool    aliased = (PetscBool) !(sizeof(PetscScalar) * (size_t)w->ldb % 4096);
  const PetscBool    direct  = (PetscBool)(!aliased && csr->n < machine->column && nnz < SPMV_SIDE_BY_SIDE * csr->n);
  const PetscBool    large   = (PetscBool)(nnz >= machine->cached);
  const PetscBool    likely  = (PetscBool)(machine->far > 0 && nnz / SPMV_SHIFTED < csr->n && (large || !aliased));

  *shifted = (PetscBool)((direct || likely) && SpmvDenseIsShifted(&w->d[0]));
  return (PetscBool)(direct || *shifted);
}

#define DENSE_ROOM 25165824 /* bytes of windows, at most: three quarters of the last cache of a Zen 4, where they were measured */

/* C = A B for some columns, by windows where they do not fit the cache side by side. What is left to do begins at from[] */
static PetscErrorCode DenseApplyWindows(const DenseWork *w, PetscInt width, PetscInt count, const PetscScalar *b, PetscScalar *c,
                                        PetscInt from[], PetscBool *done)
{
  const SpmvDenseProduct *d        = &w->d[0];
  const size_t            room     = (size_t)PetscMin(DENSE_ROOM, SpmvMachineHeld()) / sizeof(PetscScalar);
  const PetscInt          capacity = (PetscInt)(room / (size_t)(width * d->ntasks));
  PetscScalar            *window;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PetscArraycpy(from, d->first, d->ntasks));
  if (w->ghosts || (size_t)d->csr.n * (size_t)width <= room) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvShadowGetWork(w->shadow, room, &window));
  *done = SpmvDenseApplyWindows(d, width, count, b, w->ldb, window, capacity, c, w->ldc, from);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = A B for some columns, `width` at most */
static PetscErrorCode DenseApply(const DenseWork *w, PetscInt width, PetscInt count, const PetscScalar *b, PetscScalar *c)
{
  PetscInt     from[SPMV_THREADS_MAX];
  PetscBool    done;
  PetscScalar *v[2]; /* B side by side, and its ghosts */
  MPI_Datatype row;

  PetscFunctionBegin;
  PetscCall(DenseApplyWindows(w, width, count, b, c, from, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DenseWorkVectors(w, width, v));
  SpmvDenseSideBySide(&w->d[0], width, count, b, w->ldb, v[0]);
  if (w->ghosts) {
    PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)width, MPIU_SCALAR, &row));
    PetscCallMPI(MPI_Type_commit(&row));
    PetscCall(PetscSFBcastBegin(w->ghosts->sf, row, v[0], v[1], MPI_REPLACE));
  }
  SpmvDenseApply(&w->d[0], from, width, count, v[0], c, w->ldc, PETSC_FALSE);
  if (w->ghosts) {
    PetscCall(PetscSFBcastEnd(w->ghosts->sf, row, v[0], v[1], MPI_REPLACE));
    PetscCallMPI(MPI_Type_free(&row));
    SpmvDenseApply(&w->d[1], NULL, width, count, v[1], c, w->ldc, PETSC_TRUE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatMultNumeric_Spmv_Dense(Mat A, Mat B, Mat C)
{
  DenseWork w;
  PetscBool shifted;

  PetscFunctionBegin;
  PetscCall(DenseWorkBegin(A, B, C, &w));
  if (!w.ghosts && DenseIsDirect(&w, &shifted)) {
    SpmvDenseApplyColumns(&w.d[0], shifted, w.ncolumns, w.b, w.ldb, w.c, w.ldc);
  } else {
    for (PetscInt c = 0; c < w.ncolumns; c += SPMV_WIDTH_MAX) {
      const PetscInt count = PetscMin(SPMV_WIDTH_MAX, w.ncolumns - c);

      PetscCall(DenseApply(&w, WidthOf(count), count, w.b + (size_t)c * (size_t)w.ldb, w.c + (size_t)c * (size_t)w.ldc));
    }
  }
  PetscCall(DenseWorkEnd(B, C, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void DenseTransposeTask(void *context, PetscInt t)
{
  const DenseWork        *w     = (const DenseWork *)context;
  const SpmvDenseProduct *d     = w->d;
  const PetscInt          first = w->first + t * w->width, count = PetscMin(w->width, w->ncolumns - first), m = d[0].csr.m;
  PetscScalar             panel[SPMV_PANEL * SPMV_WIDTH_MAX], *y[2];

  for (int k = 0; k < w->blocks.n; k++) {
    y[k] = w->y[k] + (size_t)(t * w->width) * (size_t)d[k].csr.n;
    memset(y[k], 0, sizeof(PetscScalar) * (size_t)w->width * (size_t)d[k].csr.n);
  }
  for (PetscInt r = 0; r < m && count > 0; r += SPMV_PANEL) {
    const PetscInt     last = PetscMin(r + SPMV_PANEL, m);
    const PetscScalar *b    = w->b + (size_t)first * (size_t)w->ldb + (size_t)r;

    d[0].kernels->interleave(b, (size_t)w->ldb, count, w->width, last - r, panel);
    for (int k = 0; k < w->blocks.n; k++)
      d[k].kernels->apply_transpose[SpmvDenseWidthIndex(w->width)](&d[k].csr, r, last, panel, y[k]);
  }
}

/* C = A^T B: the tasks have columns each, so that none waits for another to add to a row of C */
static PetscErrorCode MatTransposeMatMultNumeric_Spmv_Dense(Mat A, Mat B, Mat C)
{
  DenseWork    w;
  MPI_Datatype row;
  PetscInt     ntasks, n;

  PetscFunctionBegin;
  PetscCall(DenseWorkBegin(A, B, C, &w));
  ntasks  = w.d[0].ntasks;
  n       = w.d[0].csr.n;
  w.width = WidthOf((w.ncolumns + ntasks - 1) / ntasks);
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)w.width, MPIU_SCALAR, &row));
  PetscCallMPI(MPI_Type_commit(&row));
  PetscCall(DenseWorkVectors(&w, w.width * ntasks, w.y));
  for (; w.first < w.ncolumns; w.first += w.width * ntasks) {
    SpmvRun(ntasks, DenseTransposeTask, &w);
    for (PetscInt k = 0; k < w.width * ntasks; k += w.width) {
      const PetscInt count = PetscMin(w.width, w.ncolumns - w.first - k);
      PetscScalar   *y     = w.y[0] + (size_t)k * (size_t)n;

      if (w.ghosts) {
        const PetscScalar *ghosts = w.y[1] + (size_t)k * (size_t)w.d[1].csr.n;

        PetscCall(PetscSFReduceBegin(w.ghosts->sf, row, ghosts, y, MPIU_SUM));
        PetscCall(PetscSFReduceEnd(w.ghosts->sf, row, ghosts, y, MPIU_SUM));
      }
      if (count > 0) {
        PetscScalar *c = w.c + (size_t)(w.first + k) * (size_t)w.ldc;

        w.d[0].kernels->separate(y, count, w.width, n, SPMV_DENSE_SET, c, (size_t)w.ldc);
      }
    }
  }
  PetscCallMPI(MPI_Type_free(&row));
  PetscCall(DenseWorkEnd(B, C, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_Spmv_Dense(Mat C)
{
  const Mat_Product *p = C->product;

  PetscFunctionBegin;
  PetscCall((p->type == MATPRODUCT_AB ? C->ops->matmultnumeric : C->ops->transposematmultnumeric)(p->A, p->B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes and type of C; block sizes where PETSc's own products set them */
static PetscErrorCode MatProductSymbolic_Spmv_Dense(Mat C)
{
  Mat             A = C->product->A, B = C->product->B;
  const PetscBool transposed = (PetscBool)(C->product->type == MATPRODUCT_AtB);
  PetscBool       dense, parallel;

  PetscFunctionBegin;
  PetscCall(MatSetSizes(C, transposed ? A->cmap->n : A->rmap->n, B->cmap->n, transposed ? A->cmap->N : A->rmap->N, B->cmap->N));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIDENSE, &parallel));
  if (parallel && !transposed) PetscCall(MatSetBlockSizesFromMats(C, A, B));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)C, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!dense) PetscCall(MatSetType(C, ((PetscObject)B)->type_name));
  PetscCall(MatSetUp(C));
  C->ops->productnumeric = MatProductNumeric_Spmv_Dense;
  if (transposed) C->ops->transposematmultnumeric = MatTransposeMatMultNumeric_Spmv_Dense;
  else C->ops->matmultnumeric = MatMatMultNumeric_Spmv_Dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes over C = A B or A^T B if A is ours and B a dense matrix of PETSc's host types */
PetscErrorCode MatProductSetFromOptions_Spmv_Dense(Mat C, PetscBool *taken)
{
  Mat               A = C->product->A, B = C->product->B;
  const PetscBool   transposed = (PetscBool)(C->product->type == MATPRODUCT_AtB);
  const SpmvFormat *format;
  PetscBool         dense;

  PetscFunctionBegin;
  *taken = PETSC_FALSE;
  if (C->product->type != MATPRODUCT_AB && !transposed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvFormatFind(((PetscObject)A)->type_name, &format));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!format || !dense) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck((transposed ? A->rmap->n : A->cmap->n) == B->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A of %" PetscInt_FMT " x %" PetscInt_FMT " local rows and columns and B of %" PetscInt_FMT
             " local rows do not fit; give B the layout of MatCreateVecs()",
             A->rmap->n, A->cmap->n, B->rmap->n);
  C->ops->productsymbolic = MatProductSymbolic_Spmv_Dense;
  *taken                  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
