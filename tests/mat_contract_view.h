/*
  mat_contract_view.h - a matrix as a text or a file and back, vectors of the user
*/
#pragma once
#include "mat_contract_query.h"
#include <petscviewer.h>
#include <unistd.h>

/* A file name that is this run's own; all processes of the run have the same */
static PetscErrorCode TemporaryName(Case *c, char name[], size_t length)
{
  int  id = (int)getpid();
  char directory[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&id, 1, MPI_INT, 0, c->comm));
  PetscCall(PetscGetTmp(c->comm, directory, sizeof(directory)));
  PetscCall(PetscSNPrintf(name, length, "%s/mat_contract.%d", directory, id));
  PetscFunctionReturn(0);
}

static PetscErrorCode RecordFile(Case *c, const char label[], const char name[])
{
  char *text;
  FILE *file;
  long  length = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(c->comm));
  if (c->rank == 0) {
    file = fopen(name, "r");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s", name);
    fseek(file, 0, SEEK_END);
    length = ftell(file);
    rewind(file);
    PetscCall(PetscMalloc1(length + 1, &text));
    length       = (long)fread(text, 1, (size_t)length, file);
    text[length] = 0;
    fclose(file);
    remove(name);
    PetscCall(RecordText(c, label, text));
    PetscCall(PetscFree(text));
  }
  PetscFunctionReturn(0);
}

/* Texts are AIJ's, but for the lines that ::ascii_info_detail adds */
static PetscErrorCode QueryViewASCII(Case *c, Mat A)
{
  const PetscViewerFormat formats[] = {PETSC_VIEWER_DEFAULT,      PETSC_VIEWER_ASCII_INFO,  PETSC_VIEWER_ASCII_INFO_DETAIL,
                                       PETSC_VIEWER_ASCII_MATLAB, PETSC_VIEWER_ASCII_DENSE, PETSC_VIEWER_ASCII_IMPL,
                                       PETSC_VIEWER_ASCII_COMMON, PETSC_VIEWER_ASCII_INDEX, PETSC_VIEWER_ASCII_FACTOR_INFO,
                                       PETSC_VIEWER_LOAD_BALANCE};
  PetscViewer             viewer;
  char                    name[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(PetscObjectSetName((PetscObject)A, "A"));
  PetscCall(TemporaryName(c, name, sizeof(name)));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(formats); k++) {
    PetscBool ok;

    PetscCall(PetscViewerASCIIOpen(c->comm, name, &viewer));
    PetscCall(PetscViewerPushFormat(viewer, formats[k]));
    Try(c, PetscViewerFormats[formats[k]], ok, MatView(A, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(RecordFile(c, PetscViewerFormats[formats[k]], name));
  }
  PetscFunctionReturn(0);
}

/* -mat_view and its relatives fire at the end of assembly, before anything is built */
static PetscErrorCode QueryViewOptions(Case *c, Mat A)
{
  char option[PETSC_MAX_PATH_LEN], name[PETSC_MAX_PATH_LEN];
  Mat  B;

  PetscFunctionBegin;
  (void)A;
  PetscCall(TemporaryName(c, name, sizeof(name)));
  PetscCall(PetscSNPrintf(option, sizeof(option), "ascii:%s:ascii_info_detail", name));
  PetscCall(PetscOptionsSetValue(NULL, "-viewed_mat_view", option));
  PetscCall(MakeSized(c, c->root, KIND(c), &B));
  PetscCall(PetscObjectSetName((PetscObject)B, "B"));
  PetscCall(MatSetOptionsPrefix(B, "viewed_"));
  PetscCall(Preallocate(B, KIND(c), 0));
  PetscCall(Fill(B, KIND(c), 0, 1, INSERT_VALUES));
  PetscCall(PetscOptionsClearValue(NULL, "-viewed_mat_view"));
  PetscCall(RecordFile(c, "-mat_view", name));
  PetscCall(RecordAndDestroy(c, "B", 0, &B));
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryViewDraw(Case *c, Mat A)
{
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerCreate(c->comm, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERDRAW));
  PetscCall(PetscViewerDrawSetDrawType(viewer, PETSC_DRAW_NULL));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

/* Written by one type, read by every other; read into a matrix that is in use */
static PetscErrorCode QueryLoad(Case *c, Mat A)
{
  PetscViewer viewer;
  char        name[PETSC_MAX_PATH_LEN];
  Mat         B, C;
  PetscInt    m, n;

  PetscFunctionBegin;
  PetscCall(TemporaryName(c, name, sizeof(name)));
  PetscCall(Make(c, c->root, KIND(c), 5, &C));
  PetscCall(PetscViewerBinaryOpen(c->comm, name, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(MatView(C, viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(c->comm, name, FILE_MODE_READ, &viewer));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatCreate(c->comm, &B));
  PetscCall(MatSetSizes(B, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(B, c->root));
  PetscCall(MatLoad(B, viewer));
  PetscCall(RecordMat(c, "new matrix", B));
  PetscCall(MatLoad(B, viewer));
  PetscCall(RecordMat(c, "matrix in use", B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatLoad(C, viewer));
  PetscCall(RecordAndDestroy(c, "other values", 0, &C));
  PetscCall(PetscViewerDestroy(&viewer));
  if (c->rank == 0) {
    remove(name);
    PetscCall(PetscStrlcat(name, ".info", sizeof(name)));
    remove(name);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode QueryVecs(Case *c, Mat A)
{
  Vec x, y, r, z;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 2));
  PetscCall(VecDuplicate(y, &r));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecFill(z, 4));
  PetscCall(MatResidual(A, z, x, r));
  PetscCall(RecordVec(c, "residual", r));
  PetscCall(MatInterpolate(A, x, y));
  PetscCall(RecordVec(c, "interpolated", y));
  PetscCall(MatInterpolateAdd(A, x, z, y));
  PetscCall(RecordVec(c, "interpolated and added", y));
  PetscCall(MatRestrict(A, z, x));
  PetscCall(RecordVec(c, "restricted", x));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(0);
}

/* Two matrices share their vectors, the output of one is the input of the other; vectors with arrays of the user */
static PetscErrorCode QueryShared(Case *c, Mat A)
{
  Mat          B;
  Vec          x, y, w;
  PetscScalar *array;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(Make(c, c->root, KindTransposed(KIND(c)), 4, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 2));
  for (int k = 0; k < 4; k++) {
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMult(B, y, x));
    PetscCall(MatScale(A, 0.125));
    PetscCall(MatScale(B, 0.125));
  }
  PetscCall(RecordVec(c, "to and fro", x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(PetscMalloc1(n + 1, &array));
  for (PetscInt k = 0; k < n; k++) array[k] = k;
  PetscCall(VecCreateMPIWithArray(c->comm, 1, n, PETSC_DETERMINE, array, &w));
  PetscCall(MatMult(A, w, y));
  PetscCall(RecordVec(c, "user's array", y));
  PetscCall(VecPlaceArray(x, array));
  PetscCall(MatMult(A, x, y));
  PetscCall(RecordVec(c, "placed array", y));
  PetscCall(VecResetArray(x));
  PetscCall(VecDestroy(&w));
  PetscCall(PetscFree(array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

/* The same bits each time */
static PetscErrorCode QuerySameBits(Case *c, Mat A)
{
  Vec       x, y, z, u, v;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecFill(x, 2));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(x, &u));
  PetscCall(VecDuplicate(x, &v));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultTranspose(A, y, u));
  for (int k = 0; k < 5; k++) {
    PetscCall(MatMult(A, x, z));
    PetscCall(VecEqual(y, z, &same));
    PetscCall(RecordInt(c, "product", same));
    PetscCall(MatMultTranspose(A, y, v));
    PetscCall(VecEqual(u, v, &same));
    PetscCall(RecordInt(c, "transposed product", same));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

static const Operation view_operations[] = {
  {"view_ascii", QueryViewASCII, ALL, NULL}, {"view_options", QueryViewOptions, FEW, NULL},
  {"view_draw", QueryViewDraw, FEW, NULL},   {"load", QueryLoad, ALL, NULL},
  {"residual", QueryVecs, ALL, NULL},        {"shared_vectors", QueryShared, ALL, NULL},
  {"same_bits", QuerySameBits, ALL, NULL},
};
