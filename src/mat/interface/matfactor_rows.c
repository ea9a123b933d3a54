/*
  matfactor_rows.c - the entries of PETSc's factors, as host/triangles reads them

  An ILU, of type seqaij, has the rows of L one after the other, without their diagonal of ones, then those of U from the last
  to the first; an ICC, of type seqsbaij, has the rows of U from the first to the last, with -U as values. A row of U ends with
  the inverse diagonal. Where rows of U end PETSc tells nobody for an ILU: it is where their own column is.

  Nothing of this is documented, so all of it is looked at before it is used.
*/
#include "matfactor.h"

/* Where rows of U end, from the last one on: ends[r + 1] is the entry before row r, whose inverse diagonal is at ends[r] */
static PetscBool EndsOfILU(PetscInt n, PetscInt nz, const PetscInt i[], const PetscInt j[], PetscInt ends[])
{
  ends[n] = i[n] - 1;
  for (PetscInt r = n - 1; r >= 0; r--) {
    PetscInt k = ends[r + 1] + 1;

    while (k < nz && j[k] != r) k++;
    if (k >= nz) return PETSC_FALSE;
    ends[r] = k;
  }
  return (PetscBool)(ends[0] == nz - 1);
}

/* Here ends[r] is the entry before row r, whose inverse diagonal is at ends[r + 1] */
static PetscBool EndsOfICC(PetscInt n, PetscInt nz, const PetscInt i[], const PetscInt j[], PetscInt ends[])
{
  for (PetscInt r = 0; r <= n; r++) {
    ends[r] = i[r] - 1;
    if (r && (i[r] <= i[r - 1] || i[r] > nz || j[ends[r]] != r - 1)) return PETSC_FALSE;
  }
  return (PetscBool)(ends[0] == -1 && ends[n] == nz - 1);
}

/* Whether columns increase in each triangle of each row, and belong there */
static PetscBool Ordered(const SpmvTrianglesSource *s)
{
  PetscInt wrong = 0;

  for (PetscInt r = 0; r < s->n; r++) {
    for (int side = 0; side < 2; side++) {
      PetscInt first, end, last = side == SPMV_LOWER ? -1 : r;

      SpmvTrianglesRow(s, (SpmvTriangleSide)side, r, &first, &end);
      for (PetscInt k = first; k < end; k++) {
        wrong += s->j[k] <= last;
        last = s->j[k];
      }
      wrong += last >= (side == SPMV_LOWER ? r : s->n);
    }
  }
  return (PetscBool)!wrong;
}

/* The rows as PETSc has them; of an ICC those of U alone, with empty rows below the diagonal */
static PetscErrorCode RowsOfPETSc(Mat F, SpmvFactorRows *rows, SpmvTrianglesSource *s, PetscBool *known)
{
  const PetscInt *i, n = F->rmap->n;
  PetscScalar    *a;
  PetscInt        m;
  MatInfo         info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  rows->nz = (PetscInt)info.nz_used;
  PetscCall(PetscMalloc1(n + 1, &rows->ends));
  *s = (SpmvTrianglesSource){.kind = SPMV_FACTORS, .n = n};
  if (F->factortype == MAT_FACTOR_ILU) { /* with inodes there is no MatGetRowIJ() */
    PetscCall(MatSeqAIJGetCSRAndMemType(F, &i, &s->j, &a, NULL));
    *known      = EndsOfILU(n, rows->nz, i, s->j, rows->ends);
    s->lower[0] = i;
    s->lower[1] = i + 1;
    s->upper[0] = rows->ends + 1;
    s->upper[1] = rows->ends;
  } else {
    PetscCall(MatGetRowIJ(F, 0, PETSC_FALSE, PETSC_TRUE, &m, &i, &s->j, known));
    if (*known) *known = EndsOfICC(n, rows->nz, i, s->j, rows->ends);
    s->upper[0] = rows->ends;
    s->upper[1] = rows->ends + 1;
    s->lower[0] = s->lower[1] = s->upper[1];
  }
  s->diagonal = s->upper[1];
  if (*known) *known = Ordered(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many entries each row has below and above the diagonal, once they are in the order of SpmvFactorRowsTurn() */
static void CountTurned(const SpmvTrianglesSource *s, PetscBool symmetric, PetscInt lower[], PetscInt upper[])
{
  PetscInt first, end;

  for (PetscInt r = 0; r < s->n; r++) lower[r] = upper[r] = 0;
  for (PetscInt r = 0; r < s->n; r++) {
    SpmvTrianglesRow(s, SPMV_LOWER, r, &first, &end);
    for (PetscInt k = first; k < end; k++) upper[s->j[k]]++;
    SpmvTrianglesRow(s, SPMV_UPPER, r, &first, &end);
    for (PetscInt k = first; k < end; k++) lower[s->j[k]]++;
    if (symmetric) upper[r] = end - first;
  }
}

static inline void PutEntry(SpmvFactorRows *rows, PetscInt at, PetscInt column, PetscInt from)
{
  rows->j[at]    = column;
  rows->from[at] = from;
}

/* From the rows of PETSc's L U, those of its transpose; from U, those of U^T, each followed by that of U */
static PetscErrorCode SpmvFactorRowsTurn(const SpmvTrianglesSource *s, PetscBool symmetric, SpmvFactorRows *rows)
{
  SPMV_TEMPORARY PetscInt *lower = NULL, *upper = NULL;
  PetscInt                *start, *diagonal, n = s->n, first, end;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &lower));
  PetscCall(PetscMalloc1(n, &upper));
  PetscCall(PetscMalloc1(n + 1, &rows->start));
  PetscCall(PetscMalloc1(n, &rows->diagonal));
  CountTurned(s, symmetric, lower, upper);
  start    = rows->start;
  diagonal = rows->diagonal;
  start[0] = 0;
  for (PetscInt r = 0; r < n; r++) {
    diagonal[r]  = start[r] + lower[r];
    start[r + 1] = diagonal[r] + 1 + upper[r];
    lower[r]     = start[r]; /* from here on, where the next entry goes */
    upper[r]     = diagonal[r] + 1;
  }
  PetscCall(SpmvAlloc(sizeof(PetscInt) * (size_t)start[n], &rows->j));
  PetscCall(SpmvAlloc(sizeof(PetscInt) * (size_t)start[n], &rows->from));
  for (PetscInt r = 0; r < n; r++) {
    PutEntry(rows, diagonal[r], r, s->diagonal[r]);
    SpmvTrianglesRow(s, SPMV_LOWER, r, &first, &end);
    for (PetscInt k = first; k < end; k++) PutEntry(rows, upper[s->j[k]]++, r, k);
    SpmvTrianglesRow(s, SPMV_UPPER, r, &first, &end);
    for (PetscInt k = first; k < end; k++) PutEntry(rows, lower[s->j[k]]++, r, k);
    for (PetscInt k = first; k < end && symmetric; k++) PutEntry(rows, upper[r]++, s->j[k], k);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvFactorRowsCreate - where the entries of a factor are

  Input Parameters:
+ F    - the factor, with its values
- kind - a kind of factors

  Output Parameters:
+ rows  - for SpmvFactorRowsDestroy() in any case
- known - PETSC_FALSE if the factor has not the form that we know
*/
PetscErrorCode SpmvFactorRowsCreate(Mat F, SpmvTrianglesKind kind, SpmvFactorRows *rows, PetscBool *known)
{
  SpmvTrianglesSource *s = &rows->source;

  PetscFunctionBegin;
  PetscCall(RowsOfPETSc(F, rows, s, known));
  if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind == SPMV_FACTORS) {
    PetscCall(MatSpmvGetNodes(F, &s->nnodes, &rows->nodes));
    s->nodes = rows->nodes;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpmvFactorRowsTurn(s, (PetscBool)(kind == SPMV_FACTORS_SYMMETRIC), rows));
  s->kind     = kind;
  s->j        = rows->j;
  s->lower[0] = rows->start;
  s->lower[1] = s->upper[0] = s->diagonal = rows->diagonal;
  s->upper[1]                             = rows->start + 1;
  PetscCall(SpmvTrianglesFindNodes(s, &s->nnodes, &rows->nodes));
  s->nodes = rows->nodes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The source has the factor's values until SpmvFactorRowsEnd() */
PetscErrorCode SpmvFactorRowsBegin(Mat F, SpmvFactorRows *rows)
{
  SpmvTrianglesSource *s = &rows->source;
  PetscScalar         *a;

  PetscFunctionBegin;
  if (F->factortype == MAT_FACTOR_ILU) PetscCall(MatSeqAIJGetCSRAndMemType(F, NULL, NULL, &a, NULL));
  else PetscCall(MatSeqSBAIJGetArray(F, &a));
  s->a = a;
  if (!rows->from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc(sizeof(PetscScalar) * (size_t)rows->start[s->n], &rows->a));
  for (PetscInt k = 0; k < rows->start[s->n]; k++) rows->a[k] = a[rows->from[k]];
  s->a = rows->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvFactorRowsEnd(SpmvFactorRows *rows)
{
  PetscFunctionBegin;
  PetscCall(SpmvFree(&rows->a));
  rows->source.a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvFactorRowsDestroy(SpmvFactorRows *rows)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(rows->ends));
  PetscCall(PetscFree(rows->nodes));
  PetscCall(PetscFree(rows->start));
  PetscCall(PetscFree(rows->diagonal));
  PetscCall(SpmvFree(&rows->j));
  PetscCall(SpmvFree(&rows->from));
  PetscCall(SpmvFree(&rows->a));
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
