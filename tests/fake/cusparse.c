/*
  cusparse.c - stands in for libcusparse.so beside cuda.c, whose memory is the host's: products of spmvbench's peers, so that
  conf/gpu-run is rehearsed whole where there is no GPU. 32-bit indices and double precision only; its times mean nothing
*/
#include <stdint.h>
#include <stdlib.h>

typedef enum { CSR, SELL, BSR } Kind;

typedef struct {
  Kind    kind;
  int64_t rows, size; /* block rows; rows of a slice, or of a block */
  int    *offsets, *columns;
  double *values;
} Matrix;

static int Good(int a, int b, int base, int scalar)
{
  return a == 2 && b == 2 && !base && scalar == 1;
}

static int New(void **A, Matrix m)
{
  *A            = malloc(sizeof(m));
  *(Matrix *)*A = m;
  return 0;
}

int cusparseCreate(void **handle)
{
  *handle = malloc(1);
  return 0;
}
int cusparseDestroy(void *handle)
{
  free(handle);
  return 0;
}
int cusparseDestroySpMat(void *A)
{
  free(A);
  return 0;
}
int cusparseCreateDnVec(void **v, int64_t n, void *values, int scalar)
{
  *v = values;
  return n < 0 || scalar != 1;
}
int cusparseDestroyDnVec(void *v)
{
  return !v;
}

int cusparseCreateCsr(void **A, int64_t rows, int64_t cols, int64_t nnz, void *offsets, void *columns, void *values, int a, int b,
                      int base, int scalar)
{
  return !Good(a, b, base, scalar) || New(A, (Matrix){CSR, rows, 1, offsets, columns, values});
}

int cusparseCreateSlicedEll(void **A, int64_t rows, int64_t cols, int64_t nnz, int64_t places, int64_t height, void *offsets,
                            void *columns, void *values, int a, int b, int base, int scalar)
{
  return !Good(a, b, base, scalar) || ((int *)offsets)[(rows + height - 1) / height] != places ||
         New(A, (Matrix){SELL, rows, height, offsets, columns, values});
}

int cusparseCreateBsr(void **A, int64_t rows, int64_t cols, int64_t nnz, int64_t height, int64_t width, void *offsets,
                      void *columns, void *values, int a, int b, int base, int scalar, int order)
{
  return !Good(a, b, base, scalar) || height != width || order != 2 ||
         New(A, (Matrix){BSR, rows, height, offsets, columns, values});
}

int cusparseSpMV_bufferSize(void *handle, int op, const void *alpha, void *A, void *x, const void *beta, void *y, int scalar,
                            int algorithm, size_t *bytes)
{
  *bytes = 8;
  return op != 0 || scalar != 1;
}

static void Csr(const Matrix *m, const double *x, double *y)
{
  for (int64_t r = 0; r < m->rows; r++) {
    y[r] = 0;
    for (int k = m->offsets[r]; k < m->offsets[r + 1]; k++) y[r] += m->values[k] * x[m->columns[k]];
  }
}

static void Sell(const Matrix *m, const double *x, double *y)
{
  for (int64_t r = 0; r < m->rows; r++) {
    const int64_t slice = r / m->size;

    y[r] = 0;
    for (int64_t k = m->offsets[slice] + r % m->size; k < m->offsets[slice + 1]; k += m->size) {
      if (m->columns[k] >= 0) y[r] += m->values[k] * x[m->columns[k]];
    }
  }
}

static void Bsr(const Matrix *m, const double *x, double *y)
{
  const int64_t b = m->size;

  for (int64_t r = 0; r < m->rows * b; r++) {
    y[r] = 0;
    for (int64_t k = m->offsets[r / b]; k < m->offsets[r / b + 1]; k++) {
      for (int64_t c = 0; c < b; c++) y[r] += m->values[(k * b + r % b) * b + c] * x[m->columns[k] * b + c];
    }
  }
}

int cusparseSpMV(void *handle, int op, const void *alpha, void *A, void *x, const void *beta, void *y, int scalar, int algorithm,
                 void *buffer)
{
  const Matrix *m                                                      = A;
  static void (*const run[])(const Matrix *, const double *, double *) = {Csr, Sell, Bsr};
  static const int first[]                                             = {0, 5, 6};

  if (!buffer || *(const double *)alpha != 1 || *(const double *)beta != 0 ||
      (algorithm != first[m->kind] && (m->kind || algorithm != 3)))
    return 1;
  run[m->kind](m, x, y);
  return 0;
}
