/*
  matdense.c - products with a dense matrix: C = A B and C = A^T B, sequential and parallel

  PETSc's parallel product with a dense matrix calls AIJ's kernel whatever type the blocks have, so there is one of our own.
  Columns of B are taken 16, 8 or 4 at a time and laid side by side; kernels read AIJ's rows (host/dense/dense.h), so that
  nothing is built for them. Rows of B that other processes own come as ghosts.c has it.
*/
#include "spmvmat.h"
#include "../../host/dense/dense.h"
#include "../../host/machine.h"

#define SPMV_SIDE_BY_SIDE 8  /* entries for each row of B from which on columns are laid side by side: that costs as much */
#define SPMV_SHIFTED      16 /* the same where rows have the columns of the one before plus one */

/* The most columns that fit those that remain, or the least that hold them */
static PetscInt WidthOf(PetscInt remaining)
{
  return remaining > 8 ? 16 : remaining > 4 ? 8 : 4;
}

/* The rows of a sequential matrix, and the kernels that its settings ask for */
static PetscErrorCode DenseProductBegin(Mat A, SpmvRows *rows, SpmvDenseProduct *d)
{
  SpmvShadow        *shadow;
  const SpmvKernels *kernels;
  SpmvIsa            isa;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  if (!shadow->settings.known) PetscCall(MatSpmvSettingsNeed(A));
  PetscCall(SpmvKernelsGet(shadow->type, shadow->settings.request.isa, &kernels, &isa));
  PetscCall(SpmvRowsGet(A, rows));
  SpmvDenseProductSet(&rows->csr, isa, shadow->settings.request.threads, d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseProductEnd(Mat A, SpmvRows *rows, PetscInt columns)
{
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &shadow));
  PetscCall(PetscLogFlops(2.0 * columns * (PetscLogDouble)rows->csr.i[rows->csr.m]));
  PetscCall(SpmvRowsRestore(A, rows));
  shadow->seq.counts.columns += columns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What both kinds of product work with: A's blocks, the local columns of B and C */
typedef struct {
  Mat                blocks[2]; /* the second is NULL for a sequential matrix */
  SpmvRows           rows[2];
  SpmvDenseProduct   d[2];
  SpmvGhosts        *ghosts; /* NULL for a sequential matrix */
  const PetscScalar *b;
  PetscScalar       *c;
  PetscInt           ldb, ldc, ncolumns;
} DenseWork;

static PetscErrorCode DenseWorkBegin(Mat A, Mat B, Mat C, DenseWork *w)
{
  PetscBool   parallel;
  SpmvShadow *shadow;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  PetscCall(MatSpmvGetShadow(A, &shadow));
  if (!shadow->settings.known) PetscCall(MatSpmvSettingsNeed(A));
  PetscCall(MatSpmvGetBlocks(A, w->blocks, &parallel));
  for (int k = 0; k < 2; k++) {
    if (w->blocks[k]) PetscCall(DenseProductBegin(w->blocks[k], &w->rows[k], &w->d[k]));
  }
  if (parallel) PetscCall(MatSpmvGetGhosts(A, shadow, &w->ghosts));
  PetscCall(MatDenseGetArrayRead(B, &w->b));
  PetscCall(MatDenseGetLDA(B, &w->ldb));
  PetscCall(MatDenseGetArrayWrite(C, &w->c));
  PetscCall(MatDenseGetLDA(C, &w->ldc));
  w->ncolumns = B->cmap->N;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors, `width` wide, for A's two blocks and for what is packed for other processes */
static PetscErrorCode DenseWorkVectors(Mat A, const DenseWork *w, PetscInt width, PetscScalar *v[3])
{
  const PetscInt n[3]  = {w->d[0].csr.n, w->d[1].csr.n, w->ghosts ? w->ghosts->npack : 0};
  size_t         at[4] = {0};
  PetscScalar   *room;
  SpmvShadow    *s;

  PetscFunctionBegin;
  PetscCall(MatSpmvGetShadow(A, &s));
  for (int k = 0; k < 3; k++) at[k + 1] = at[k] + ((size_t)n[k] * (size_t)width + 7) / 8 * 8; /* each begins on a cache line */
  PetscCall(SpmvShadowRoom(s, at[3], &room));
  for (int k = 0; k < 3; k++) v[k] = room + at[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseWorkEnd(Mat A, Mat B, Mat C, DenseWork *w)
{
  PetscFunctionBegin;
  PetscCall(MatDenseRestoreArrayRead(B, &w->b));
  PetscCall(MatDenseRestoreArrayWrite(C, &w->c));
  for (int k = 0; k < 2; k++) {
    if (w->blocks[k]) PetscCall(DenseProductEnd(w->blocks[k], &w->rows[k], w->ncolumns));
  }
  PetscCall(MatAssemblyBegin(C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(C, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The MPI type of `width` scalars side by side */
static PetscErrorCode RowTypeCreate(PetscInt width, MPI_Datatype *row)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)width, MPIU_SCALAR, row));
  PetscCallMPI(MPI_Type_commit(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  True if laying columns side by side costs more than it saves. Columns a multiple of a page apart would share cache lines' places.
  shifted: the rows are those that read x in runs as it is. They gain where other columns are taken as they are, and, where memory and
  the last cache are what counts, if that cache is far: laplace7:150 takes 0.65 of the time on Cascade Lake; where it is not, a first try took 1.1
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

/* C = A B for some columns, by windows where they do not fit the cache side by side. What is left to do begins at from[] */
static PetscErrorCode DenseApplyWindows(Mat A, const DenseWork *w, PetscInt width, PetscInt count, const PetscScalar *b,
                                        PetscScalar *c, PetscInt from[], PetscBool *done)
{
  const SpmvDenseProduct *d    = &w->d[0];
  const size_t            room = (size_t)SpmvMachineGet()->last / sizeof(PetscScalar);
  PetscScalar            *window;
  SpmvShadow             *s;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PetscArraycpy(from, d->first, d->ntasks));
  if (w->ghosts || (size_t)d->csr.n * (size_t)width <= room) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSpmvGetShadow(A, &s));
  PetscCall(SpmvShadowRoom(s, room, &window));
  *done =
    SpmvDenseApplyWindows(d, width, count, b, w->ldb, window, (PetscInt)(room / (size_t)(width * d->ntasks)), c, w->ldc, from);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = A B */
static PetscErrorCode MatMatMultNumeric_Spmv_Dense(Mat A, Mat B, Mat C)
{
  DenseWork    w;
  PetscBool    shifted;
  PetscScalar *v[3]; /* B side by side, its ghosts, what others want */

  PetscFunctionBegin;
  PetscCall(DenseWorkBegin(A, B, C, &w));
  if (!w.ghosts && DenseIsDirect(&w, &shifted)) {
    SpmvDenseApplyColumns(&w.d[0], shifted, w.ncolumns, w.b, w.ldb, w.c, w.ldc);
    PetscCall(DenseWorkEnd(A, B, C, &w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt c = 0; c < w.ncolumns; c += SPMV_WIDTH_MAX) {
    const PetscInt     count = PetscMin(SPMV_WIDTH_MAX, w.ncolumns - c), width = WidthOf(count);
    const PetscScalar *b = w.b + (size_t)c * (size_t)w.ldb;
    PetscScalar       *y = w.c + (size_t)c * (size_t)w.ldc;
    PetscInt           from[SPMV_THREADS_MAX];
    PetscBool          done;
    MPI_Datatype       row;

    PetscCall(DenseApplyWindows(A, &w, width, count, b, y, from, &done));
    if (done) continue;
    PetscCall(DenseWorkVectors(A, &w, width, v));
    SpmvDenseSideBySide(&w.d[0], width, count, b, w.ldb, v[0]);
    if (w.ghosts) {
      PetscCall(RowTypeCreate(width, &row));
      SpmvGhostsPackRows(w.ghosts, width, v[0], v[2]);
      PetscCall(PetscSFBcastBegin(w.ghosts->sf, row, v[2], v[1], MPI_REPLACE));
    }
    SpmvDenseApply(&w.d[0], from, width, count, v[0], y, w.ldc, PETSC_FALSE);
    if (w.ghosts) {
      PetscCall(PetscSFBcastEnd(w.ghosts->sf, row, v[2], v[1], MPI_REPLACE));
      PetscCallMPI(MPI_Type_free(&row));
      SpmvDenseApply(&w.d[1], NULL, width, count, v[1], y, w.ldc, PETSC_TRUE);
    }
  }
  PetscCall(DenseWorkEnd(A, B, C, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What one task of a transposed product has: some columns of B and C, all rows */
typedef struct {
  const SpmvDenseProduct *d[2]; /* blocks of A; the second may be NULL */
  const PetscScalar      *b;
  PetscInt                ldb, ncolumns, share;
  PetscScalar *y[3]; /* for each task [block's columns][share]; what goes to other processes' rows of C, for one task */
} DenseTransposed;

/* Task t: columns [t share, (t + 1) share) of those at hand; side by side they are `share` wide */
static void DenseTransposeTask(void *context, PetscInt t)
{
  const DenseTransposed *w = (const DenseTransposed *)context;
  const PetscInt         m = w->d[0]->csr.m, count = PetscMin(w->share, w->ncolumns - t * w->share);
  PetscScalar            panel[SPMV_PANEL * SPMV_WIDTH_MAX];

  for (int k = 0; k < 2; k++) {
    if (w->d[k])
      memset(w->y[k] + (size_t)(t * w->share) * (size_t)w->d[k]->csr.n, 0,
             sizeof(PetscScalar) * (size_t)w->share * (size_t)w->d[k]->csr.n);
  }
  if (count <= 0) return;
  for (PetscInt r = 0; r < m; r += SPMV_PANEL) {
    const PetscInt last = PetscMin(r + SPMV_PANEL, m);

    w->d[0]->kernels->interleave(w->b + (size_t)(t * w->share) * (size_t)w->ldb + (size_t)r, (size_t)w->ldb, count, w->share,
                                 last - r, panel);
    for (int k = 0; k < 2; k++) {
      if (w->d[k])
        w->d[k]->kernels->apply_transpose[SpmvDenseWidthIndex(w->share)](
          &w->d[k]->csr, r, last, panel, w->y[k] + (size_t)(t * w->share) * (size_t)w->d[k]->csr.n);
    }
  }
}

/* C = A^T B: the tasks share the columns, so that none waits for another to add to a row of C */
static PetscErrorCode MatTransposeMatMultNumeric_Spmv_Dense(Mat A, Mat B, Mat C)
{
  DenseWork       w;
  DenseTransposed t;
  PetscInt        ntasks, n, width;

  PetscFunctionBegin;
  PetscCall(DenseWorkBegin(A, B, C, &w));
  ntasks = w.d[0].ntasks;
  n      = w.d[0].csr.n;
  width  = WidthOf((w.ncolumns + ntasks - 1) / ntasks);
  t      = (DenseTransposed){.d = {&w.d[0], w.ghosts ? &w.d[1] : NULL}, .ldb = w.ldb, .share = width};
  PetscCall(DenseWorkVectors(A, &w, width * ntasks, t.y));
  for (PetscInt c = 0; c < w.ncolumns; c += width * ntasks) {
    t.b        = w.b + (size_t)c * (size_t)w.ldb;
    t.ncolumns = w.ncolumns - c;
    SpmvRun(ntasks, DenseTransposeTask, &t);
    for (PetscInt k = 0; k < ntasks; k++) {
      const PetscInt count = PetscMin(width, t.ncolumns - k * width);
      PetscScalar   *y     = t.y[0] + (size_t)(k * width) * (size_t)n;

      if (w.ghosts) {
        const PetscScalar *ghosts = t.y[1] + (size_t)(k * width) * (size_t)w.d[1].csr.n;
        MPI_Datatype       row;

        PetscCall(RowTypeCreate(width, &row));
        PetscCall(PetscArrayzero(t.y[2], (size_t)w.ghosts->npack * (size_t)width));
        PetscCall(PetscSFReduceBegin(w.ghosts->sf, row, ghosts, t.y[2], MPIU_SUM));
        PetscCall(PetscSFReduceEnd(w.ghosts->sf, row, ghosts, t.y[2], MPIU_SUM));
        PetscCallMPI(MPI_Type_free(&row));
        SpmvGhostsAddRows(w.ghosts, width, t.y[2], y);
      }
      if (count > 0)
        w.d[0].kernels->separate(y, count, width, n, SPMV_DENSE_SET, w.c + (size_t)(c + k * width) * (size_t)w.ldc,
                                 (size_t)w.ldc);
    }
  }
  PetscCall(DenseWorkEnd(A, B, C, &w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_Spmv_Dense_AB(Mat C)
{
  PetscFunctionBegin;
  PetscCall(MatMatMultNumeric_Spmv_Dense(C->product->A, C->product->B, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_Spmv_Dense_AtB(Mat C)
{
  PetscFunctionBegin;
  PetscCall(MatTransposeMatMultNumeric_Spmv_Dense(C->product->A, C->product->B, C));
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
  C->ops->productnumeric = transposed ? MatProductNumeric_Spmv_Dense_AtB : MatProductNumeric_Spmv_Dense_AB;
  /* PETSc 3.18's triple products call these instead */
  if (transposed) C->ops->transposematmultnumeric = MatTransposeMatMultNumeric_Spmv_Dense;
  else C->ops->matmultnumeric = MatMatMultNumeric_Spmv_Dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  MatProductSetFromOptions_Spmv_Dense - takes over a product of ours with a dense matrix

  Output Parameter:
. taken - PETSC_FALSE if C is not A B or A^T B with an A of ours and a dense B of PETSc's host types
*/
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
