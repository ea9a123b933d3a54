/*
  bccoo - blocked compressed common coordinate format

  Storage:   blocks of h x w entries in row order; for each its block column (int32) and one bit, 0 if it is the last
             block of its block row (a "row stop"); values by columns inside a block; a list of the non-empty block
             rows when any is empty
  Good for:  matrices with small dense blocks (several unknowns a node), and any row lengths: no row pointers
  Bad for:   scattered entries, where blocks fill with zeros: then 1x1 blocks are chosen
  Traffic:   (8 h w + 4 + 1/8) blocks (+ 4 non-empty block rows, if any is empty) + 8 (m + n) bytes a product

  A block that is partly filled holds zeros: like PETSc's BAIJ, an Inf or NaN of x that meets such a zero gives NaN in
  rows that have no entry in that column. Columns past the matrix's last are never read. 1x1 blocks have no fill.

  Source: Zhang, Li, Yan, Zhou, A Cross-Platform SpMV Framework on Many-Core Architectures, ACM Trans. Archit. Code
  Optim. 13(4), 2016: sections 2.1 to 2.2 (format), 3.2.2 (values by columns inside a block).
  We differ: section 2.2 writes one flag for each empty block row as well, which belongs to no block and loses leading
  and trailing empty rows; here each block has one flag, and the block rows that are not empty are listed.
*/
#include "bccoo.h"

static const PetscInt BccooBlockSizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

static const SpmvParam BccooParams[] = {
  [BCCOO_BLOCK_HEIGHT] = {"block_height", "rows of a block, 0: the height and width that store the matrix in the fewest bytes", PETSC_STATIC_ARRAY_LENGTH(BccooBlockSizes), BccooBlockSizes},
  [BCCOO_BLOCK_WIDTH]  = {"block_width", "columns of a block, 0: as for the height", PETSC_STATIC_ARRAY_LENGTH(BccooBlockSizes), BccooBlockSizes},
};

/*
  Merges the rows [row, row + h) of a sorted CSR: calls for the next block column until the block row is exhausted.
  cursor[i] walks through row row + i.
*/
typedef struct {
  const SpmvCSR *csr;
  PetscInt       rows;                    /* rows in this block row: h, fewer in the last one */
  PetscInt       cursor[BCCOO_BLOCK_MAX]; /* next entry of each row */
  PetscInt       end[BCCOO_BLOCK_MAX];    /* end of each row */
} BccooMerge;

static inline void BccooMergeStart(BccooMerge *merge, const SpmvCSR *csr, PetscInt row, PetscInt h)
{
  merge->csr  = csr;
  merge->rows = PetscMin(h, csr->m - row);
  for (PetscInt i = 0; i < merge->rows; i++) {
    merge->cursor[i] = csr->i[row + i];
    merge->end[i]    = csr->i[row + i + 1];
  }
}

/* The next block column of this block row, -1 at its end */
static inline PetscInt BccooMergeNext(BccooMerge *merge, PetscInt w)
{
  const PetscInt *j      = merge->csr->j;
  PetscInt        column = PETSC_MAX_INT, limit;

  for (PetscInt i = 0; i < merge->rows; i++) {
    if (merge->cursor[i] < merge->end[i]) column = PetscMin(column, j[merge->cursor[i]]);
  }
  if (column == PETSC_MAX_INT) return -1;
  column /= w;
  limit = column * w + w;
  for (PetscInt i = 0; i < merge->rows; i++) {
    while (merge->cursor[i] < merge->end[i] && j[merge->cursor[i]] < limit) merge->cursor[i]++;
  }
  return column;
}

/* Blocks and non-empty block rows of the rows [row, end) of csr under blocks of h x w; row is a multiple of h */
static void BccooCount(const SpmvCSR *csr, PetscInt h, PetscInt w, PetscInt row, PetscInt end, size_t *nblocks, PetscInt *nrows)
{
  if (h == 1 && w == 1) {
    *nblocks += (size_t)(csr->i[end] - csr->i[row]);
    for (; row < end; row++) *nrows += csr->i[row + 1] > csr->i[row];
  }
  for (; row < end; row += h) {
    BccooMerge merge;
    size_t     before = *nblocks;

    BccooMergeStart(&merge, csr, row, h);
    while (BccooMergeNext(&merge, w) >= 0) (*nblocks)++;
    if (*nblocks > before) (*nrows)++;
  }
}

/* The traffic formula above, for the storage alone */
static double BccooFootprint(size_t nblocks, PetscInt h, PetscInt w, size_t scalar_size)
{
  return (double)nblocks * ((double)(h * w) * scalar_size + sizeof(int32_t) + 1.0 / 8);
}

/*
  The block height and width of least footprint, estimated on chunks of rows spread over the matrix: 1/128 of it, and at
  least 8 chunks. Section 4 of the paper: footprint as the first criterion.
*/
static void BccooChooseBlock(const SpmvCSR *csr, SpmvPlan *plan)
{
  static const PetscInt shapes[][2] = {
    {1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {1, 3}, {3, 3}, {4, 1}, {4, 2}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 1}, {8, 4}, {8, 8}};
  const PetscInt chunk = 64, chunks = PetscMax(1, csr->m / chunk), stride = PetscMax(1, PetscMin(128, chunks / 8));
  PetscInt      *h = &plan->value[BCCOO_BLOCK_HEIGHT], *w = &plan->value[BCCOO_BLOCK_WIDTH], best[2] = {1, 1};
  double         least = PETSC_MAX_REAL;

  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    PetscInt sh = shapes[s][0], sw = shapes[s][1], nrows = 0;
    size_t   nblocks = 0;
    double   footprint;

    if ((*h && *h != sh) || (*w && *w != sw)) continue; /* what the user fixed */
    for (PetscInt c = 0; c < chunks; c += stride) {
      PetscInt row = c * chunk / sh * sh;

      BccooCount(csr, sh, sw, row, PetscMin(csr->m, row + chunk), &nblocks, &nrows);
    }
    footprint = BccooFootprint(nblocks, sh, sw, sizeof(PetscScalar));
    if (footprint < least) {
      least   = footprint;
      best[0] = sh;
      best[1] = sw;
    }
  }
  if (!*h) *h = best[0];
  if (!*w) *w = best[1];
}

static PetscErrorCode BccooDestroy(void **storage)
{
  BccooStorage *b = (BccooStorage *)*storage;

  PetscFunctionBegin;
  if (!b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree(b->row));
  PetscCall(PetscFree(b->flags));
  PetscCall(PetscFree(b->column));
  PetscCall(PetscFree(b->value));
  PetscCall(PetscFree(*storage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the entries of one row into its blocks, which begin at column[0] and value */
static inline __attribute__((always_inline)) void BccooSetRow(const PetscInt *j, const PetscScalar *a, PetscInt length, const int32_t *column, PetscScalar *value, PetscInt h, PetscInt w)
{
  PetscInt left = *column * w; /* first column of the block */

  for (PetscInt k = 0; k < length; k++) {
    while (j[k] >= left + w) {
      left = *++column * w;
      value += h * w;
    }
    value[(j[k] - left) * h] = a[k];
  }
}

/* Block row by block row; one without fill is transposed block by block, with no look at columns. h, w: constants when inlined */
static inline __attribute__((always_inline)) void BccooSetRows(BccooStorage *b, const SpmvCSR *csr, PetscInt h, PetscInt w)
{
  size_t q = 0, end;

  for (PetscInt k = 0; k < b->nrows; k++, q = end) {
    const PetscInt first = (b->row ? b->row[k] : k) * h, rows = PetscMin(h, csr->m - first);
    const PetscInt start = csr->i[first], length = (csr->i[first + rows] - start) / rows;
    PetscScalar   *value = b->value + q * h * w;

    end = BccooRowStop(b->flags, q);
    if (rows == h && (size_t)(csr->i[first + h] - start) == (end - q) * w * h) {
      for (const PetscScalar *a = csr->a + start, *stop = a + length; a < stop; a += w, value += h * w) {
        for (PetscInt i = 0; i < h; i++) {
          for (PetscInt j = 0; j < w; j++) value[j * h + i] = a[i * length + j];
        }
      }
    } else {
      for (PetscInt i = 0; i < rows; i++) BccooSetRow(csr->j + csr->i[first + i], csr->a + csr->i[first + i], csr->i[first + i + 1] - csr->i[first + i], b->column + q, value + i, h, w);
    }
  }
}

#define BCCOO_SET_SQUARE(H) \
  if (b->h == H && b->w == H) { \
    BccooSetRows(b, csr, H, H); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/* Zeros of the fill were written by the build and stay */
static PetscErrorCode BccooSetValues(const SpmvCSR *csr, void *storage)
{
  BccooStorage *b = (BccooStorage *)storage;

  PetscFunctionBegin;
  if (b->h == 1 && b->w == 1) {
    PetscCall(PetscArraycpy(b->value, csr->a, b->nblocks));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  BCCOO_SET_SQUARE(2)
  BCCOO_SET_SQUARE(3)
  BCCOO_SET_SQUARE(4)
  BccooSetRows(b, csr, b->h, b->w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Flags, columns and the list of non-empty block rows; the arrays are there */
static void BccooSetPattern(BccooStorage *b, const SpmvCSR *csr)
{
  size_t   q = 0;
  PetscInt k = 0;

  for (size_t word = 0; word < b->nwords; word++) b->flags[word] = ~(BccooFlags)0;
  for (PetscInt row = 0; row < csr->m; row += b->h) {
    BccooMerge merge;
    PetscInt   column;
    size_t     first = q;

    BccooMergeStart(&merge, csr, row, b->h);
    if (b->h == 1 && b->w == 1) {
      while (q < (size_t)csr->i[row + 1]) b->column[q] = (int32_t)csr->j[q], q++;
    } else {
      while ((column = BccooMergeNext(&merge, b->w)) >= 0) b->column[q++] = (int32_t)column;
    }
    if (q == first) continue;
    b->flags[(q - 1) / BCCOO_TAG_BITS] &= ~((BccooFlags)1 << ((q - 1) % BCCOO_TAG_BITS));
    if (b->row) b->row[k] = (int32_t)(row / b->h);
    k++;
  }
}

static PetscErrorCode BccooBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  BccooStorage *b;
  PetscInt      mb;

  PetscFunctionBegin;
  *storage = NULL;
  if (!plan->value[BCCOO_BLOCK_HEIGHT] || !plan->value[BCCOO_BLOCK_WIDTH]) BccooChooseBlock(csr, plan);
  PetscCall(PetscNew(&b));
  *storage = b;
  b->m     = csr->m;
  b->n     = csr->n;
  b->h     = plan->value[BCCOO_BLOCK_HEIGHT];
  b->w     = plan->value[BCCOO_BLOCK_WIDTH];
  mb       = csr->m / b->h + !!(csr->m % b->h);
  PetscCheck(PetscMax(mb, csr->n / b->w) < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Local block of %" PetscInt_FMT " x %" PetscInt_FMT " has more block rows or columns than 32-bit indices count; use more processes or -mat_type aij", csr->m, csr->n);
  BccooCount(csr, b->h, b->w, 0, csr->m, &b->nblocks, &b->nrows);
  b->nwords = (b->nblocks + BCCOO_TAG_BITS - 1) / BCCOO_TAG_BITS;
  PetscCall(PetscMalloc1(b->nwords, &b->flags));
  PetscCall(PetscMalloc1(b->nblocks, &b->column));
  PetscCall(PetscCalloc1(b->nblocks * b->h * b->w, &b->value));
  if (b->nrows < mb) PetscCall(PetscMalloc1(b->nrows + 1, &b->row)); /* not NULL, even if all are empty */
  BccooSetPattern(b, csr);
  PetscCall(BccooSetValues(csr, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const BccooStorage *b = (const BccooStorage *)storage;
  PetscInt            k = 0;

  PetscFunctionBegin;
  arrays[k++] = (SpmvArray){"values", b->value, b->nblocks * b->h * b->w, sizeof(PetscScalar), PETSC_TRUE};
  arrays[k++] = (SpmvArray){"columns", b->column, b->nblocks, sizeof(int32_t), PETSC_FALSE};
  arrays[k++] = (SpmvArray){"flags", b->flags, b->nwords, sizeof(BccooFlags), PETSC_FALSE};
  if (b->row) arrays[k++] = (SpmvArray){"rows", b->row, (size_t)b->nrows, sizeof(int32_t), PETSC_FALSE};
  *narrays = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BccooBytes(const SpmvCSR *csr, const SpmvPlan *plan, size_t scalar_size, PetscLogDouble *bytes)
{
  SpmvPlan p       = *plan;
  size_t   nblocks = 0;
  PetscInt nrows   = 0, h, mb;

  PetscFunctionBegin;
  if (!p.value[BCCOO_BLOCK_HEIGHT] || !p.value[BCCOO_BLOCK_WIDTH]) BccooChooseBlock(csr, &p);
  h  = p.value[BCCOO_BLOCK_HEIGHT];
  mb = csr->m / h + !!(csr->m % h);
  BccooCount(csr, h, p.value[BCCOO_BLOCK_WIDTH], 0, csr->m, &nblocks, &nrows);
  *bytes = BccooFootprint(nblocks, h, p.value[BCCOO_BLOCK_WIDTH], scalar_size);
  if (nrows < mb) *bytes += (double)nrows * sizeof(int32_t);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvKernels BccooKernels_##name;
#include "../../../isas.h"
#undef SPMV_ISA

const SpmvFormat SpmvFormat_bccoo = {
  .name     = "bccoo",
  .citation = "@article{ZhangLiYanZhou2016,\n"
              "  title   = {A Cross-Platform {SpMV} Framework on Many-Core Architectures},\n"
              "  author  = {Yunquan Zhang and Shigang Li and Shengen Yan and Huiyang Zhou},\n"
              "  journal = {ACM Transactions on Architecture and Code Optimization},\n"
              "  volume  = {13},\n"
              "  number  = {4},\n"
              "  year    = {2016}\n"
              "}\n",
  .nparams  = BCCOO_NPARAMS,
  .params   = BccooParams,
  .kernels  = {
#define SPMV_ISA(NAME, name, flags, runs) &BccooKernels_##name,
#include "../../../isas.h"
#undef SPMV_ISA
  },
  .build     = BccooBuild,
  .setvalues = BccooSetValues,
  .arrays    = BccooArrays,
  .bytes     = BccooBytes,
  .destroy   = BccooDestroy,
};
