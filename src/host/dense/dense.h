/*
  dense.h - compressed sparse rows times several vectors

  With several vectors an entry's column is read once for all of them, and what counts is how x is read: vectors lie side by side,
  so that an entry multiplies consecutive scalars. Then no format is faster than AIJ's own rows by more than the bytes that it
  saves, and all formats use these kernels.

  Laying vectors side by side costs as much as some entries a row: rows with few entries take the vectors as they are, one after
  the other in memory. So do shifted rows, which have the columns of the row before plus one, as along a line of a grid: they read
  x in runs anyway.
*/
#pragma once
#include "../../spmvimpl.h"

#define SPMV_WIDTHS    3 /* numbers of vectors side by side that there are kernels for: 4, 8, 16 */
#define SPMV_WIDTH_MAX 16
#define SPMV_PANEL     32 /* rows side by side that stay in the first cache until they have served */

/* What becomes of a result: it replaces what is there, is added to it, or replaces it by stores past the caches (aligned ones) */
typedef enum { SPMV_DENSE_SET, SPMV_DENSE_ADD, SPMV_DENSE_PAST } SpmvDenseTarget;

/* Which of the kernels a number of vectors has */
static inline int SpmvDenseWidthIndex(PetscInt width)
{
  return width == 16 ? 2 : width == 8 ? 1 : 0;
}

/*
  Rows [first, last) of A, `width` vectors side by side: entry r of vector c is x[r * width + c].
  apply: y[0 .. last - first) <- A x; apply_transpose: y <- y + A^T x with x[0 .. last - first)
*/
typedef struct {
  void (*apply[SPMV_WIDTHS])(const SpmvCSR *csr, PetscInt first, PetscInt last, const PetscScalar *x, PetscScalar *y);
  void (*apply_transpose[SPMV_WIDTHS])(const SpmvCSR *csr, PetscInt first, PetscInt last, const PetscScalar *x, PetscScalar *y);

  /*
    The same of `count` vectors as they are: entry r of vector c is x[r + c * ldx], and y[r + c * ldy] of the product. The second
    is for matrices with runs of shifted rows; shifted: the length of the run from row r on, 1 to `most`
  */
  void (*apply_columns[2])(const SpmvCSR *csr, PetscInt first, PetscInt last, PetscInt count, const PetscScalar *x, size_t ldx,
                           SpmvDenseTarget target, PetscScalar *y, size_t ldy);
  PetscInt (*shifted)(const SpmvCSR *csr, PetscInt r, PetscInt most);

  /* Lays `rows` rows of `count` columns side by side, `width` wide, the last ones zero; separate: the reverse */
  void (*interleave)(const PetscScalar *columns, size_t ld, PetscInt count, PetscInt width, PetscInt rows, PetscScalar *out);
  void (*separate)(const PetscScalar *in, PetscInt count, PetscInt width, PetscInt rows, SpmvDenseTarget target,
                   PetscScalar *columns, size_t ld);

  /* Widens [low, high) by j[first], ..., j[end - 1] */
  void (*reach)(const PetscInt *j, PetscInt first, PetscInt end, PetscInt *low, PetscInt *high);
} SpmvDenseKernels;

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvDenseKernels SpmvDenseKernels_##name;
#include "../../isas.h"
#undef SPMV_ISA

extern const SpmvDenseKernels *const SpmvDenseKernelsOf[SPMV_ISA_COUNT];

/* SpmvDenseProduct: a matrix times several vectors, by some tasks */
typedef struct {
  const SpmvDenseKernels *kernels;
  SpmvCSR                 csr;
  PetscInt                ntasks;
  PetscInt                first[SPMV_THREADS_MAX + 1]; /* rows of each task */
} SpmvDenseProduct;

/* dense.c */
extern void SpmvDenseProductSet(const SpmvCSR *csr, SpmvIsa isa, PetscInt ntasks, SpmvDenseProduct *d);
extern void SpmvDenseSideBySide(const SpmvDenseProduct *d, PetscInt width, PetscInt count, const PetscScalar *columns,
                                PetscInt ld, PetscScalar *out);
extern void SpmvDenseApply(const SpmvDenseProduct *d, const PetscInt from[], PetscInt width, PetscInt count, const PetscScalar *x,
                           PetscScalar *y, PetscInt ldy, PetscBool add);
extern void SpmvDenseApplyColumns(const SpmvDenseProduct *d, PetscBool shifted, PetscInt count, const PetscScalar *x,
                                  PetscInt ldx, PetscScalar *y, PetscInt ldy);
extern PetscBool SpmvDenseIsShifted(const SpmvDenseProduct *d);
extern PetscBool SpmvDenseApplyWindows(const SpmvDenseProduct *d, PetscInt width, PetscInt count, const PetscScalar *columns,
                                       PetscInt ld, PetscScalar *window, PetscInt capacity, PetscScalar *y, PetscInt ldy,
                                       PetscInt from[]);
