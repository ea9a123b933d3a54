/*
  csradaptive - CSR as it is, with rows cut into row blocks that each go to the kernel that suits them

  Storage:   AIJ's own i, j and a, borrowed; a 64-bit word for each row block: row, flag, workgroup number
  Good for:  matrices that change often or are multiplied few times (set-up is a pass over row pointers, new values cost
             nothing), memory that is short, rows of any length side by side
  Bad for:   matrices with dense blocks, which bccoo stores in fewer bytes; columns so scattered that x comes from far
  Traffic:   (8 + 4) nnz + 4 m + 8 row blocks + 8 (m + n) bytes a product; (8 + 4 / h) nnz in nodes of h rows

  Row blocks of several rows hold at most NNZ_PER_WG entries. Three kernels:
    CSR-Stream    num_rows_stream rows or more: all products of the row block, then the sums of its rows, eight at a time
    CSR-Vector    fewer rows: row after row, a vector of products at a time
    CSR-VectorL   a row of more than NNZ_PER_WG x NNZ_multiplier entries, shared by several row blocks

  Where each h = 2 to 6 rows of a row block have the same columns (a node: several unknowns at a point, AIJ's inodes), the
  word says so, and CSR-Vector reads columns and x once for h rows. Set-up compares columns only as long as they agree.

  Source: Daga, Greathouse, Structural Agnostic SpMV: Adapting CSR-Adaptive for Irregular Matrices, HiPC 2015: sections
  III-A (Stream, num_rows_stream, the break between long and short rows), III-B (VectorL, figures 5 and 6, NNZ_multiplier).
  We differ:
  - figure 7 synchronises the workgroups of a row by its flag, then adds atomically. Here the flag says that a row is
    shared, never changes, and parts are added in order: the same bits each time.
  - the workgroup number of a row block that does not share its row, which the paper leaves unused, is the node's h.
  - rows that share columns go to CSR-Vector however many they are.
  - figure 2 has no barrier between products and sums and lets products run past the end of the row block; figure 3 drops
    the remainder of its division. Neither is so here.
  - a break between long and short rows is made only where a row block is half full, so that alternating rows do not
    take a word each.
  - the paper's text has num_rows_stream 2 (single) and 3 (double), its table I 1 and 2. It counts rows of a GPU's
    workgroup; the defaults here are measured on a host.
  A storage for a device is cut by knobs of its own and has no nodes; it has a list of row blocks for each kernel
  (csradaptive_device.c, csradaptive.cl).
*/
#include "csradaptive.h"

static const SpmvParam CsradaptiveParams[] = {
  [CSRADAPTIVE_NNZ_PER_WG]      = SPMV_RANGE("nnz_per_wg", "entries of a row block of several rows, at most", 2048, 8, CSRADAPTIVE_NNZ_MAX, SPMV_KNOB_TILE),
  [CSRADAPTIVE_NUM_ROWS_STREAM] = SPMV_RANGE("num_rows_stream", "rows from which a row block is served by CSR-Stream, not CSR-Vector", 64, 1, 4 * CSRADAPTIVE_NNZ_MAX, SPMV_KNOB_TILE),
  [CSRADAPTIVE_NNZ_MULTIPLIER]  = SPMV_RANGE("nnz_multiplier", "a row of more than this times nnz_per_wg entries is shared by several row blocks", 2, 1, 64),
  [CSRADAPTIVE_LONG]            = SPMV_RANGE("long", "a row block may end where a row of more entries than this meets a short one", 128, 1, PETSC_MAX_INT),
  [CSRADAPTIVE_SHORT]           = SPMV_RANGE("short", "a row of fewer entries than this is a short one, 0: none is", 32, 0, PETSC_MAX_INT),
};

static PetscErrorCode CsradaptiveArrays(const void *storage, PetscInt *narrays, SpmvArray arrays[])
{
  const CsradaptiveStorage *b = (const CsradaptiveStorage *)storage;

  PetscFunctionBegin;
  arrays[0] = SPMV_ARRAY("values", b->a, b->nentries, sizeof(PetscScalar), .is_values = PETSC_TRUE, .borrowed = PETSC_TRUE);
  arrays[1] = SPMV_ARRAY("columns", b->j, b->nentries, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  arrays[2] = SPMV_ARRAY("row pointers", b->i, (size_t)b->m + 1, sizeof(PetscInt), .borrowed = PETSC_TRUE);
  arrays[3] = SPMV_ARRAY("row blocks", b->block, b->nblocks + 1, sizeof(uint64_t));
  *narrays  = 4;
  if (!b->device) PetscFunctionReturn(PETSC_SUCCESS);
  arrays[4] = SPMV_ARRAY("stream", b->list[CSRADAPTIVE_STREAM], b->nlist[CSRADAPTIVE_STREAM], sizeof(int32_t));
  arrays[5] = SPMV_ARRAY("vector", b->list[CSRADAPTIVE_VECTOR], b->nlist[CSRADAPTIVE_VECTOR], sizeof(int32_t));
  arrays[6] = SPMV_ARRAY("vectorl", b->list[CSRADAPTIVE_VECTORL], b->nlist[CSRADAPTIVE_VECTORL], sizeof(int32_t));
  arrays[7] = SPMV_ARRAY("parts", b->part, b->nshared + 1, sizeof(int32_t));
  *narrays  = 8;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sizes that a build would come to: its cuts are counted, not kept */
static PetscErrorCode CsradaptiveBytes(const SpmvCSR *csr, const SpmvPlan *plan, size_t scalar_size, PetscLogDouble *bytes)
{
  CsradaptiveStorage b = {.m = csr->m, .nentries = (size_t)csr->i[csr->m], .device = (PetscBool)(plan->backend == SPMV_BACKEND_DEVICE)};
  CsradaptiveAmounts amounts;
  SpmvArray          arrays[SPMV_ARRAY_MAX];
  PetscInt           narrays;

  PetscFunctionBegin;
  PetscCall(CsradaptiveCount(csr, plan, &amounts));
  b.nblocks  = amounts.nblocks;
  b.nlist[0] = amounts.nblocks; /* each row block is on one list */
  b.nshared  = amounts.rows[CSRADAPTIVE_VECTORL];
  PetscCall(CsradaptiveArrays(&b, &narrays, arrays));
  *bytes = SpmvArraysRead(narrays, arrays, scalar_size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CSRADAPTIVE_CYCLES_BLOCK 130.0
#define CSRADAPTIVE_CYCLES_BUILD 2.0 /* of an entry */

/* Cycles of Zen 4, fitted to 82 matrices: of a row block, of the entries and rows of each kernel, of the entries of nodes */
static PetscErrorCode CsradaptiveWork(const SpmvCSR *rows, const SpmvPlan *plan, SpmvWork *work)
{
  CsradaptiveAmounts a;

  PetscFunctionBegin;
  PetscCall(CsradaptiveCount(rows, plan, &a));
  work->bytes += (PetscLogDouble)rows->i[rows->m] * (sizeof(PetscScalar) + sizeof(PetscInt)) + (PetscLogDouble)rows->m * sizeof(PetscInt) + (PetscLogDouble)a.nblocks * sizeof(uint64_t);
  work->cycles += CSRADAPTIVE_CYCLES_BLOCK * (PetscLogDouble)a.nblocks + 1.5 * (PetscLogDouble)a.entries[CSRADAPTIVE_STREAM] + 1.0 * (PetscLogDouble)a.rows[CSRADAPTIVE_STREAM];
  work->cycles += 1.05 * (PetscLogDouble)(a.entries[CSRADAPTIVE_VECTOR] + a.entries[CSRADAPTIVE_VECTORL]) + 9.3 * (PetscLogDouble)(a.rows[CSRADAPTIVE_VECTOR] + a.rows[CSRADAPTIVE_VECTORL]) + 0.76 * (PetscLogDouble)a.nodeentries;
  work->build += CSRADAPTIVE_CYCLES_BUILD * (PetscLogDouble)rows->i[rows->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row blocks of each kernel, and what they add to CSR */
static PetscErrorCode CsradaptiveDescribe(const void *storage, PetscInt k, char line[], size_t size)
{
  const CsradaptiveStorage *b = (const CsradaptiveStorage *)storage;
  SpmvArray                 arrays[SPMV_ARRAY_MAX];
  PetscInt                  narrays;
  double                    own;

  PetscFunctionBegin;
  line[0] = 0;
  if (k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CsradaptiveArrays(b, &narrays, arrays));
  own = SpmvArraysOwn(narrays, arrays);
  PetscCall(PetscSNPrintf(line, size, "row blocks %zu: stream %zu, vector %zu, vectorl %zu; %.0f bytes, %.3f %% of CSR", b->nblocks, b->nlist[CSRADAPTIVE_STREAM],
                          b->nlist[CSRADAPTIVE_VECTOR], b->nlist[CSRADAPTIVE_VECTORL], own, 100 * own / (SpmvArraysRead(narrays, arrays, sizeof(PetscScalar)) - own)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SPMV_ISA(NAME, name, flags, runs) extern const SpmvKernels CsradaptiveKernels_##name;
#include "../../../isas.h"
#undef SPMV_ISA

const SpmvFormat SpmvFormat_csradaptive = {
  .name     = "csradaptive",
  .citation = "@inproceedings{DagaGreathouse2015,\n"
              "  title     = {Structural Agnostic {SpMV}: Adapting {CSR-Adaptive} for Irregular Matrices},\n"
              "  author    = {Mayank Daga and Joseph L. Greathouse},\n"
              "  booktitle = {22nd IEEE International Conference on High Performance Computing ({HiPC})},\n"
              "  year      = {2015}\n"
              "}\n",
  .nparams  = CSRADAPTIVE_NPARAMS,
  .params   = CsradaptiveParams,
  .kernels  = {
#define SPMV_ISA(NAME, name, flags, runs) &CsradaptiveKernels_##name,
#include "../../../isas.h"
#undef SPMV_ISA
  },
  .build     = CsradaptiveBuild,
  .setvalues = CsradaptiveSetValues,
  .arrays    = CsradaptiveArrays,
  .bytes     = CsradaptiveBytes,
  .destroy   = CsradaptiveDestroy,
  .describe  = CsradaptiveDescribe,
  .work      = CsradaptiveWork,
  .borrows   = PETSC_TRUE,
  .device    = &CsradaptiveDevice,
};
