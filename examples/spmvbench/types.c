/*
  types.c - a BenchMatrix becomes a Mat of some type with some options; the bytes it stores

  A type is written as `-types` has it: bccoo, or bccoo:block_height=3:mat_spmv_isa=avx2. An option whose name begins with
  mat_ is that option; block_size is what MatSetBlockSize() is told; any other name is short for mat_<type>_<name>. They
  go into the options database under a prefix that belongs to one Mat.
*/
#include "peers.h"
#include <stdlib.h>
#include <string.h>

/* ---- which types ---- */

static PetscErrorCode BenchTypeAdd(const char spec[], PetscBool asked, PetscInt *count, BenchType types[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < *count; k++) {
    if (!strcmp(types[k].spec, spec)) {
      if (asked) types[k].asked = PETSC_TRUE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PetscMemzero(&types[*count], sizeof(types[*count])));
  PetscCall(PetscStrncpy(types[*count].spec, spec, sizeof(types[*count].spec)));
  PetscCall(PetscSNPrintf(types[*count].prefix, sizeof(types[*count].prefix), "spmvbench%" PetscInt_FMT "_", *count));
  types[*count].asked = asked;
  (*count)++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of bs x bs that hold an entry */
PetscErrorCode BenchBlocksCount(const BenchMatrix *M, PetscInt bs, PetscInt *blocks, PetscInt in_row[])
{
  PetscInt *last; /* the block row that had an entry in this block column last */

  PetscFunctionBegin;
  *blocks = 0;
  PetscCall(PetscMalloc1(M->n / bs + 1, &last));
  for (PetscInt c = 0; c <= M->n / bs; c++) last[c] = -1;
  for (PetscInt r = 0; r < M->m; r++) {
    if (in_row && r % bs == 0) in_row[r / bs] = 0;
    for (PetscInt k = M->i[r]; k < M->i[r + 1]; k++) {
      if (last[M->j[k] / bs] == r / bs) continue;
      last[M->j[k] / bs] = r / bs;
      (*blocks)++;
      if (in_row) in_row[r / bs]++;
    }
  }
  PetscCall(PetscFree(last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Whether aij multiplies several rows with the same columns (inodes) at a time: where such are fewer than 0.8 of the rows. On some
  processors it is faster if told not to, by -mat_no_inode
*/
static PetscBool BenchHasNodes(const BenchMatrix *M)
{
  PetscInt nodes = M->m > 0;

  for (PetscInt r = 1; r < M->m; r++) {
    const PetscInt length = M->i[r + 1] - M->i[r];

    nodes += length != M->i[r] - M->i[r - 1] || memcmp(M->j + M->i[r], M->j + M->i[r - 1], (size_t)length * sizeof(M->j[0]));
  }
  return (PetscBool)(nodes <= 0.8 * (double)M->m);
}

/* A peer's blocks, of each size that has no fill */
static PetscErrorCode BenchTypeAddExact(const BenchMatrix *M, const char type[], PetscInt *count, BenchType types[])
{
  PetscFunctionBegin;
  for (PetscInt bs = 2; bs <= 8; bs++) {
    char     spec[BENCH_SPEC];
    PetscInt blocks;

    if (M->m % bs || M->n % bs) continue;
    PetscCall(BenchBlocksCount(M, bs, &blocks, NULL));
    if (blocks * bs * bs != M->i[M->m]) continue;
    PetscCall(PetscSNPrintf(spec, sizeof(spec), "%s:block_size=%" PetscInt_FMT, type, bs));
    PetscCall(BenchTypeAdd(spec, PETSC_FALSE, count, types));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The types to measure: PETSc's own, or aij alone or none of these, then those asked for. A size of block is measured unless more
   than half would be fill */
PetscErrorCode BenchTypesCreate(const BenchMatrix *M, const BenchRun *run, PetscInt nasked, char *asked[], PetscInt *count,
                                BenchType *types[])
{
  const char *const always[] = {"aij", "aijperm", "aijsell", "sell"};
  const size_t      of[] = {[BENCH_PETSC_ALL] = PETSC_STATIC_ARRAY_LENGTH(always), [BENCH_PETSC_AIJ] = 1, [BENCH_PETSC_NONE] = 0};

  PetscFunctionBegin;
  *count = 0;
  PetscCall(PetscMalloc1(2 * 7 + nasked + 12, types));
  for (size_t k = 0; k < of[run->petsc]; k++) PetscCall(BenchTypeAdd(always[k], PETSC_FALSE, count, *types));
  if (run->petsc == BENCH_PETSC_ALL && BenchHasNodes(M))
    PetscCall(BenchTypeAdd("aij:mat_no_inode=yes", PETSC_FALSE, count, *types));
  for (PetscInt bs = 2; bs <= 8 && run->petsc == BENCH_PETSC_ALL; bs++) {
    char     spec[BENCH_SPEC];
    PetscInt blocks;

    if (M->m % bs || M->n % bs) continue;
    PetscCall(BenchBlocksCount(M, bs, &blocks, NULL));
    if ((double)blocks * (double)(bs * bs) > 2. * (double)M->i[M->m]) continue;
    PetscCall(PetscSNPrintf(spec, sizeof(spec), "baij:block_size=%" PetscInt_FMT, bs));
    PetscCall(BenchTypeAdd(spec, PETSC_FALSE, count, *types));
  }
  for (PetscInt k = 0; k < nasked; k++) {
    const BenchPeer *peer;

    PetscCall(BenchTypeAdd(asked[k], PETSC_TRUE, count, *types));
    PetscCall(BenchPeerFind(asked[k], &peer));
    if (peer && peer->blocks) PetscCall(BenchTypeAddExact(M, asked[k], count, *types));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchTypesDestroy(PetscInt count, BenchType *types[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++) {
    PetscCall(BenchTypeForget(&(*types)[k]));
    PetscCall(PetscFree((*types)[k].times));
  }
  PetscCall(PetscFree(*types));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a type's options ---- */

/* What is done with each option of a type */
typedef enum {
  BENCH_OPTION_SET,
  BENCH_OPTION_CHECK, /* somebody must have asked for it by now */
  BENCH_OPTION_CLEAR
} BenchOptionAction;

/* Takes a spec apart: its type, the size of block in it (0: none), and the options, with which something is done */
static PetscErrorCode BenchSpecParse(const BenchType *t, BenchOptionAction action, char type[], PetscInt *bs)
{
  char spec[BENCH_SPEC], option[2 * BENCH_SPEC], threads[32], *part, *state = NULL;

  PetscFunctionBegin;
  *bs = 0;
  PetscCall(PetscStrncpy(spec, t->spec, sizeof(spec)));
  part = strtok_r(spec, ":", &state);
  PetscCall(PetscStrncpy(type, part ? part : "", BENCH_SPEC));
  PetscCall(PetscSNPrintf(option, sizeof(option), "-%smat_spmv_build_after", t->prefix)); /* the storage shall be there at once */
  if (action == BENCH_OPTION_SET) PetscCall(PetscOptionsSetValue(NULL, option, "0"));
  if (action == BENCH_OPTION_CLEAR) PetscCall(PetscOptionsClearValue(NULL, option));
  PetscCall(PetscSNPrintf(option, sizeof(option), "-%smat_spmv_threads", t->prefix));
  PetscCall(PetscSNPrintf(threads, sizeof(threads), "%" PetscInt_FMT, t->threads));
  if (action == BENCH_OPTION_SET) PetscCall(PetscOptionsSetValue(NULL, option, threads));
  if (action == BENCH_OPTION_CLEAR) PetscCall(PetscOptionsClearValue(NULL, option));
  while ((part = strtok_r(NULL, ":", &state))) {
    char     *value = strchr(part, '=');
    PetscBool used;

    if (action == BENCH_OPTION_CLEAR && !value) continue;
    PetscCheck(value && value > part, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "'%s' has no value; write %s:option=value", part,
               type);
    *value++ = 0;
    if (!strcmp(part, "block_size")) {
      *bs = (PetscInt)strtol(value, NULL, 10);
      PetscCheck(action == BENCH_OPTION_CLEAR || *bs > 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
                 "block_size '%s' is not a number from 1 on", value);
      continue;
    }
    if (!strncmp(part, "mat_", 4)) PetscCall(PetscSNPrintf(option, sizeof(option), "-%s%s", t->prefix, part));
    else PetscCall(PetscSNPrintf(option, sizeof(option), "-%smat_%s_%s", t->prefix, type, part));
    if (action == BENCH_OPTION_SET) PetscCall(PetscOptionsSetValue(NULL, option, value));
    if (action == BENCH_OPTION_CLEAR) PetscCall(PetscOptionsClearValue(NULL, option));
    if (action != BENCH_OPTION_CHECK) continue;
    PetscCall(PetscOptionsUsed(NULL, option + 1, &used)); /* it wants the name without its dash */
    PetscCheck(used, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "type %s has no option -%s", type, option + 1 + strlen(t->prefix));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Destroys the Mat and forgets its options; what was measured stays */
PetscErrorCode BenchTypeForget(BenchType *t)
{
  char     type[BENCH_SPEC];
  PetscInt bs;

  PetscFunctionBegin;
  PetscCall(BenchOperationReset(t));
  PetscCall(MatDestroy(&t->A));
  PetscCall(BenchSpecParse(t, BENCH_OPTION_CLEAR, type, &bs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the Mat ---- */

static PetscErrorCode BenchTypeFill(const BenchMatrix *M, Mat A, PetscInt bs)
{
  PetscInt *length, blocks;
  PetscBool assembled;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJSetPreallocationCSR(A, M->i, M->j, M->a)); /* of AIJ and its children, which are then complete */
  PetscCall(MatAssembled(A, &assembled));
  if (assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(M->m + 1, &length));
  for (PetscInt r = 0; r < M->m; r++) length[r] = M->i[r + 1] - M->i[r];
  PetscCall(MatSeqSELLSetPreallocation(A, 0, length));
  PetscCall(BenchBlocksCount(M, bs, &blocks, length));
  PetscCall(MatSeqBAIJSetPreallocation(A, bs, 0, length));
  PetscCall(PetscFree(length));
  PetscCall(MatSetUp(A));
  for (PetscInt r = 0; r < M->m; r++)
    PetscCall(MatSetValues(A, 1, &r, M->i[r + 1] - M->i[r], M->j + M->i[r], M->a + M->i[r], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the type's Mat as a program would that reads its type and options from the command line */
PetscErrorCode BenchTypeBuild(const BenchMatrix *M, PetscInt threads, BenchType *t)
{
  char             type[BENCH_SPEC];
  const BenchPeer *peer;
  PetscInt         bs;
  void (*query)(void);

  PetscFunctionBegin;
  t->threads = threads;
  PetscCall(BenchSpecParse(t, BENCH_OPTION_SET, type, &bs));
  PetscCall(BenchPeerFind(type, &peer));
  if (peer) {
    PetscCall((*peer->create)(M, bs, threads, &t->A, &t->bytes));
    t->peer = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!bs) bs = M->bs;
  PetscCheck(M->m % bs == 0 && M->n % bs == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "blocks of %" PetscInt_FMT " do not divide %" PetscInt_FMT " x %" PetscInt_FMT, bs, M->m, M->n);
  PetscCall(MatCreate(PETSC_COMM_SELF, &t->A));
  PetscCall(MatSetSizes(t->A, M->m, M->n, M->m, M->n));
  PetscCall(MatSetOptionsPrefix(t->A, t->prefix));
  if (bs > 1) PetscCall(MatSetBlockSize(t->A, bs));
  PetscCall(MatSetType(t->A, type));
  PetscCall(MatSetFromOptions(t->A));
  PetscCall(PetscObjectQueryFunction((PetscObject)t->A, "MatSpmvGetCounts_C", &query));
  t->ours = (PetscBool) !!query;
  if (!t->ours) t->threads = 1; /* PETSc's own types have no threads */
  PetscCall(BenchTypeFill(M, t->A, bs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what it stores ---- */

/* Entries of PETSc's SELL: slices of 8 rows, all as long as their longest */
static double SellEntries(const BenchMatrix *M)
{
  double entries = 0;

  for (PetscInt r = 0; r < M->m; r += 8) {
    PetscInt longest = 0;

    for (PetscInt s = r; s < PetscMin(r + 8, M->m); s++) longest = PetscMax(longest, M->i[s + 1] - M->i[s]);
    entries += 8. * (double)longest;
  }
  return entries;
}

/* Bytes that a product by one of PETSc's types reads, by the format's formula; of a type not known here what it has allocated */
static PetscErrorCode BenchTypeBytes(const BenchMatrix *M, BenchType *t)
{
  const double entry = sizeof(PetscScalar) + sizeof(PetscInt), index = sizeof(PetscInt), rows = (double)M->m,
               nz = (double)M->i[M->m];
  PetscBool aij, perm, sell, baij;
  PetscInt  bs, blocks;
  MatInfo   info;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)t->A, &aij, MATSEQAIJ, "seqaijspmv", ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)t->A, MATSEQAIJPERM, &perm));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)t->A, &sell, MATSEQAIJSELL, MATSEQSELL, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)t->A, MATSEQBAIJ, &baij));
  if (aij) t->bytes = entry * nz + index * rows;
  else if (perm) t->bytes = entry * nz + 2 * index * rows;
  else if (sell) t->bytes = entry * SellEntries(M) + index * rows / 8;
  else if (baij) {
    PetscCall(MatGetBlockSize(t->A, &bs));
    PetscCall(BenchBlocksCount(M, bs, &blocks, NULL));
    t->bytes = (double)blocks * ((double)(bs * bs) * sizeof(PetscScalar) + index) + index * rows / (double)bs;
  } else {
    PetscCall(MatGetInfo(t->A, MAT_LOCAL, &info));
    t->bytes = info.memory;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plan for a device names its API; a peer's Mat that can repeat its kernels is cuSPARSE's */
static PetscErrorCode BenchTypeBackend(BenchType *t)
{
  const char *device = strstr(t->plan, "device=");
  void (*repeat)(void);

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(t->backend, "host", sizeof(t->backend)));
  if (device) {
    device += strlen("device=");
    PetscCall(PetscSNPrintf(t->backend, sizeof(t->backend), "%.*s", (int)strcspn(device, ", "), device));
  }
  PetscCall(PetscObjectQueryFunction((PetscObject)t->A, "MatSpmvDeviceRepeat_C", &repeat));
  if (t->peer && repeat) PetscCall(PetscStrncpy(t->backend, "cuda", sizeof(t->backend)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of a Mat's set-up: to choose, to make the storage, and as the estimate has the latter; 0 where it does not tell */
PetscErrorCode BenchTypeSetup(const BenchType *t, double *choosing, double *making, double *predicted)
{
  PetscLogDouble seconds[3] = {0, 0, 0};
  PetscErrorCode (*setup)(Mat, PetscLogDouble *, PetscLogDouble *, PetscLogDouble *);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)t->A, "MatSpmvGetSetup_C", &setup));
  if (setup) PetscCall((*setup)(t->A, &seconds[0], &seconds[1], &seconds[2]));
  *choosing  = (double)seconds[0];
  *making    = (double)seconds[1];
  *predicted = (double)seconds[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asks a Mat that has multiplied what it stores and by which plan; refuses options that nobody asked for */
PetscErrorCode BenchTypeQuery(const BenchMatrix *M, BenchType *t)
{
  char        type[BENCH_SPEC];
  const char *shared;
  PetscInt    bs;
  PetscErrorCode (*bytes)(Mat, PetscLogDouble *);
  PetscErrorCode (*plan)(Mat, char[], size_t);

  PetscFunctionBegin;
  PetscCall(BenchSpecParse(t, BENCH_OPTION_CHECK, type, &bs));
  if (bs) PetscCall(PetscSNPrintf(t->plan, sizeof(t->plan), "block_size=%" PetscInt_FMT, bs));
  PetscCall(PetscObjectQueryFunction((PetscObject)t->A, "MatSpmvGetBytes_C", &bytes));
  PetscCall(PetscObjectQueryFunction((PetscObject)t->A, "MatSpmvGetPlan_C", &plan));
  if (plan) PetscCall((*plan)(t->A, t->plan, sizeof(t->plan)));
  if (plan && (shared = strstr(t->plan, "threads="))) t->threads = (PetscInt)strtol(shared + strlen("threads="), NULL, 10);
  if (bytes) PetscCall((*bytes)(t->A, &t->bytes));
  PetscCall(BenchTypeBackend(t));
  if (!t->peer && (!bytes || !strcmp(t->plan, "format=aij")))
    PetscCall(BenchTypeBytes(M, t)); /* spmv may choose AIJ's own kernel */
  PetscFunctionReturn(PETSC_SUCCESS);
}
