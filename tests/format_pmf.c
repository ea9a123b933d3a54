static const char help[] =
  "The worked example of the PMF paper, digit by digit; its theorem 1; rows shared with a device; slices of every kind.\n\n";

#include "spmvtest.h"
#include "mat/impls/pmf/host/pmf_host.h"
#include "mat/impls/pmf/device/pmf_device.h"

extern const SpmvHostSide PmfHost;

/* m rows of given lengths, each in the first columns */
static PetscErrorCode FromLengths(PetscInt m, const PetscInt length[], PetscInt n, SpmvTestCSR *t)
{
  PetscFunctionBegin;
  *t = (SpmvTestCSR){.m = m, .n = n};
  PetscCall(PetscMalloc1(m + 1, &t->i));
  t->i[0] = 0;
  for (PetscInt r = 0; r < m; r++) t->i[r + 1] = t->i[r] + length[r];
  PetscCall(PetscMalloc1(t->i[m], &t->j));
  PetscCall(PetscMalloc1(t->i[m], &t->a));
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = t->i[r]; k < t->i[r + 1]; k++) {
      t->j[k] = k - t->i[r];
      t->a[k] = 1 + k % 7;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a part, numbered from 1 and in the order of the matrix, as the paper writes them */
static PetscErrorCode ShowRows(const PmfOrder *order, PetscInt p)
{
  PetscInt n = order->cut[p + 1] - order->cut[p], *row;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &row));
  for (PetscInt k = 0; k < n; k++) row[k] = order->row[order->cut[p] + k] + 1;
  PetscCall(PetscSortInt(n, row));
  for (PetscInt k = 0; k < n; k++) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%" PetscInt_FMT, k ? "," : "{", row[k]));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "}"));
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sections 4.1 and 4.2: the lengths of figure 2 are those of the sets B_1 to B_13 */
static PetscErrorCode Example(void)
{
  const PetscInt     length[] = {2, 5, 3, 7, 1, 5, 2, 6, 13, 5, 7, 9, 3, 10, 7, 1, 6, 13, 2, 10}, power[] = {1, 2, 6};
  const PmfPartition algorithm[] = {PMF_BY_ROWS, PMF_BY_NNZ, PMF_BY_PMF};
  SpmvTestCSR        t;
  SpmvCSR            csr;

  PetscFunctionBegin;
  PetscCall(FromLengths(20, length, 20, &t));
  csr = SpmvTestCSRView(&t);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "example: %" PetscInt_FMT " nonzeros\n", csr.i[20]));
  for (int k = 0; k < 3; k++) {
    SpmvPlan plan    = {.value = {algorithm[k], 3, PMF_WINDOW_GLOBAL, 32}, .list = {1, 2, 6}, .threads = 1};
    PmfOrder order   = PmfOrderOf(&csr, plan.value, 3, power);
    double   entries = 0, elements = 0;
    void    *storage;

    PetscCall(PmfOrderCreate(&csr, &order));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "algorithm %d\n", k + 1));
    for (PetscInt p = 0; p < 3; p++) {
      const PmfPart part = PmfPartOf(&csr, &order, p);

      PetscCall(PetscPrintf(PETSC_COMM_SELF, "  "));
      PetscCall(ShowRows(&order, p));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " N %" PetscInt_FMT " W %" PetscInt_FMT " NNZ %zu D %.0f %% padded %zu\n", part.rows,
                            part.width, part.entries, 100. * (double)part.entries / (double)part.elements,
                            part.elements - part.entries));
      entries += (double)part.entries;
      elements += (double)part.elements;
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  mean density %g / %g = %.2f %%\n", entries, elements, 100 * entries / elements));
    PetscCall(PmfOrderDestroy(&order));
    PetscCall(SpmvBuild(&PmfHost.side, &csr, NULL, &plan, &storage));
    for (PetscInt line = 0; line < 2; line++) {
      char text[1024] = "";

      PetscCall(PmfHost.side.describe(storage, line, text, sizeof(text)));
      if (text[0]) PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s\n", text));
    }
    PetscCall(SpmvStorageDestroy(&PmfHost.side, &storage));
  }
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Elements of a partition: part[r] for each row; the entries of its parts, and whether their widths increase */
static PetscInt Elements(PetscInt m, const PetscInt length[], PetscInt nparts, const PetscInt part[], PetscInt entries[],
                         PetscBool *increase)
{
  PetscInt elements = 0, before = 0;

  *increase = PETSC_TRUE;
  for (PetscInt p = 0; p < nparts; p++) {
    PetscInt rows = 0, width = 0;

    entries[p] = 0;
    for (PetscInt r = 0; r < m; r++) {
      if (part[r] != p) continue;
      rows++;
      width = PetscMax(width, length[r]);
      entries[p] += length[r];
    }
    elements += rows * width;
    if (width < before) *increase = PETSC_FALSE;
    before = width;
  }
  return elements;
}

/*
  Theorem 1 against every partition of eight rows into two or three parts with as many entries in each part as algorithm 3
  has. As stated it does not hold: its proof takes the longest row to be in the last part. Among partitions whose parts come
  in the order of their widths, as algorithm 3's do, it does.
*/
static PetscErrorCode Theorem(PetscRandom rand)
{
  PetscInt compared = 0, smaller = 0, wrong = 0;

  PetscFunctionBegin;
  for (PetscInt trial = 0; trial < 300; trial++) {
    const PetscInt m = trial ? 8 : 7, nparts = trial ? 2 + trial % 2 : 2, first[] = {1, 5, 5, 5, 5, 5, 6};
    const PetscInt knobs[PMF_COMMON_PARAMS] = {PMF_BY_PMF, 0, PMF_WINDOW_GLOBAL, 32};
    PetscInt       length[8], power[3], own[8], part[8], entries[3], wanted[3], elements, all = 1;
    PetscBool      increase;
    PmfOrder       order;
    SpmvTestCSR    t;
    SpmvCSR        csr;

    for (PetscInt r = 0; r < m; r++) {
      PetscReal u;

      PetscCall(PetscRandomGetValueReal(rand, &u));
      length[r] = trial ? 1 + (PetscInt)(u * u * 9) : first[r];
      all *= nparts;
    }
    for (PetscInt p = 0; p < nparts; p++) power[p] = trial ? 1 + (trial / 2 * (p + 1)) % 5 : p ? 26 : 6;
    PetscCall(FromLengths(m, length, 16, &t));
    csr   = SpmvTestCSRView(&t);
    order = PmfOrderOf(&csr, knobs, nparts, power);
    PetscCall(PmfOrderCreate(&csr, &order));
    for (PetscInt p = 0; p < nparts; p++) {
      for (PetscInt k = order.cut[p]; k < order.cut[p + 1]; k++) own[order.row[k]] = p;
    }
    elements = Elements(m, length, nparts, own, wanted, &increase);
    for (PetscInt code = 0; code < all; code++) {
      PetscInt other, equal = 1;

      for (PetscInt r = 0, c = code; r < m; r++, c /= nparts) part[r] = c % nparts;
      other = Elements(m, length, nparts, part, entries, &increase);
      for (PetscInt p = 0; p < nparts; p++) equal &= entries[p] == wanted[p];
      if (!equal) continue;
      compared++;
      smaller += other < elements;
      wrong += other < elements && increase;
      if (!trial && other < elements) {
        PetscCall(PetscPrintf(PETSC_COMM_SELF,
                              "theorem 1, counterexample: algorithm 3 has %" PetscInt_FMT
                              " elements, another partition with as many nonzeros in each part %" PetscInt_FMT "\n",
                              elements, other));
      }
    }
    PetscCall(PmfOrderDestroy(&order));
    PetscCall(SpmvTestCSRDestroy(&t));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "theorem 1: %" PetscInt_FMT
                        " partitions with as many nonzeros in each part compared; fewer elements than algorithm 3: %" PetscInt_FMT
                        ", and with the parts in the order of their widths %" PetscInt_FMT "\n",
                        compared, smaller, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Rows that a product shares with a device, by every algorithm: each row is one of a side, and the host's are in the same order
  and cut at the same places as when all rows are there
*/
static PetscErrorCode Shared(PetscRandom rand)
{
  const PetscInt m = 200, list[] = {5, 1, 2, 3}, windows[] = {8, 64, PMF_WINDOW_GLOBAL};
  PetscInt       compared = 0, moved = 0;

  PetscFunctionBegin;
  for (PetscInt trial = 0; trial < 96; trial++) {
    const PetscInt parts = 1 + trial / 12 % 2;
    SpmvPlan       plan = {.value = {trial % 4, 4, windows[trial / 4 % 3], 16}, .threads = 1}, host = {.threads = 1};
    PetscInt       length[200], nrows, *rows;
    SpmvTestCSR    t, u;
    SpmvCSR        all, rest;
    PmfOrder       whole, order;

    PetscCall(PetscArraycpy(plan.list, list, 4));
    plan.value[PMF_DEVICE_PARTS] = parts;
    for (PetscInt r = 0; r < m; r++) {
      PetscReal x;

      PetscCall(PetscRandomGetValueReal(rand, &x));
      length[r] = r / 10 == trial % 20 ? 0 : (PetscInt)(x * x * 20);
    }
    PetscCall(FromLengths(m, length, m, &t));
    all = SpmvTestCSRView(&t);
    PetscCall(PmfSplit(&all, &plan, &host, &nrows, &rows));
    for (PetscInt k = 0; k < nrows; k++) length[rows[k]] = 0;
    PetscCall(FromLengths(m, length, m, &u));
    rest  = SpmvTestCSRView(&u);
    whole = PmfOrderOf(&all, plan.value, 4, list);
    order = PmfOrderOf(&rest, plan.value, host.value[PMF_POWERS], host.list);
    PetscCall(PmfOrderCreate(&all, &whole));
    PetscCall(PmfOrderCreate(&rest, &order));
    moved += nrows != whole.cut[parts] || order.nparts != 5 - parts;
    for (PetscInt p = parts; p <= 4; p++) moved += whole.cut[p] != order.cut[p - parts + 1];
    for (PetscInt k = whole.cut[parts]; k < m; k++) moved += whole.row[k] != order.row[k];
    compared += m - whole.cut[parts];
    PetscCall(PmfOrderDestroy(&whole));
    PetscCall(PmfOrderDestroy(&order));
    PetscCall(PetscFree(rows));
    PetscCall(SpmvTestCSRDestroy(&t));
    PetscCall(SpmvTestCSRDestroy(&u));
  }
  PetscCheck(compared > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the device has all rows");
  PetscCall(
    PetscPrintf(PETSC_COMM_SELF, "shared with a device: %" PetscInt_FMT " rows of the host are in another place\n", moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An Inf of x, in each place in turn, may reach only the rows (transposed: columns) that have an entry there: how many others it
   reaches */
static PetscErrorCode Spread(const SpmvCSR *csr, const void *storage, PetscInt *spread)
{
  PetscFunctionBegin;
  for (int transpose = 0; transpose < 2; transpose++) {
    const PetscInt nx = transpose ? csr->m : csr->n, ny = transpose ? csr->n : csr->m;
    PetscScalar   *x, *y;
    PetscBool     *has;

    PetscCall(PetscMalloc3(nx, &x, ny, &y, ny, &has));
    for (PetscInt k = 0; k < nx; k++) x[k] = 1;
    for (PetscInt place = 0; place < nx; place += 1 + nx / 100) {
      PetscCall(PetscArrayzero(has, ny));
      for (PetscInt r = 0; r < csr->m; r++) {
        for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
          if ((transpose ? r : csr->j[k]) == place) has[transpose ? csr->j[k] : r] = PETSC_TRUE;
        }
      }
      x[place] = (PetscScalar)INFINITY;
      for (int isa = 0; isa < SPMV_ISA_COUNT; isa++) {
        const SpmvKernels *kernels = PmfHost.kernels[isa];

        if (!SpmvIsaSupported((SpmvIsa)isa) || !kernels->apply) continue;
        PetscCall(SpmvTestApply(kernels, (PetscBool)transpose, storage, x, y, PETSC_FALSE));
        for (PetscInt k = 0; k < ny; k++) *spread += !has[k] && PetscIsInfOrNanScalar(y[k]);
      }
      x[place] = 1;
    }
    PetscCall(PetscFree3(x, y, has));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entry (r, c) of the matrices below: each has a kind of step of its own */
typedef PetscBool Pattern(PetscInt r, PetscInt c);

static PetscBool Consecutive(PetscInt r, PetscInt c)
{
  return (PetscBool)(c == r || c == r + 3 || c == r + 7);
}
static PetscBool Common(PetscInt r, PetscInt c)
{
  (void)r;
  return (PetscBool)(c % 9 == 0);
}
static PetscBool Paired(PetscInt r, PetscInt c)
{
  return (PetscBool)((c / 2 + 3 * (r % 5)) % 4 == 0);
}
static PetscBool Gathered(PetscInt r, PetscInt c)
{
  return (PetscBool)((c + 3 * r * r) % 11 == 0 && c < 33);
}
static PetscBool Ragged(PetscInt r, PetscInt c)
{
  return (PetscBool)(c % 3 == r % 3 && c / 3 <= r % 8);
}
static PetscBool Alone(PetscInt r, PetscInt c)
{
  return (PetscBool)(r == 5 ? c % 4 != 1 : r == 6 ? c > 2 : r % 3 && c == 2 * r);
}
static PetscBool Wide(PetscInt r, PetscInt c)
{
  return (PetscBool)((c == 5 * (r * r % 7) || c == 69000 + 3 * (r * r % 11)));
}
static PetscBool Band(PetscInt r, PetscInt c)
{
  return (PetscBool)(PetscAbsInt(r - c) <= 2 || (r % 7 == 0 && c % 10 == 3));
}
/* Nodes of three unknowns, each with three neighbours; the last ones are in the last columns */
static PetscBool Nodes(PetscInt r, PetscInt c)
{
  return (PetscBool)(c / 3 == r / 3 || c / 3 == (r / 3 + 5) % 16 || c / 3 == (r / 3 + 11) % 16);
}
static PetscBool NodesApart(PetscInt r, PetscInt c)
{
  return (PetscBool)(Nodes(r, c) || (c > 69950 && Nodes(r, c - 69952)));
}
/* The same with four */
static PetscBool Quads(PetscInt r, PetscInt c)
{
  return (PetscBool)(c / 4 == r / 4 || c / 4 == (r / 4 + 5) % 11);
}
/* Rows 4 k to 4 k + 3 are the same, with two pieces of two and a column by itself */
static PetscBool Same(PetscInt r, PetscInt c)
{
  const PetscInt at = 7 * (r / 4 % 5);

  return (PetscBool)(c == at || c == at + 1 || c == at + 3 || c == at + 9 || c == at + 10 || c == 38);
}
/* Nodes of one to five rows, with forty neighbours of three unknowns: more than a transposed product takes in one turn */
static PetscBool Long(PetscInt r, PetscInt c)
{
  const PetscInt at = r % 15, node = r / 15 * 5 + (at > 0) + (at > 2) + (at > 5) + (at > 9);

  return (PetscBool)((c / 3 + node) % 2 == 0);
}
/* Rows of more than 65536 entries: pairs, and columns by themselves */
static PetscBool Dense(PetscInt r, PetscInt c)
{
  return (PetscBool)(c % 5 < 3 || c < 4 * r);
}

/* Builds a matrix, prints what became of it, and multiplies */
static PetscErrorCode Slices(const char name[], PetscInt m, PetscInt n, Pattern *pattern, SpmvPlan plan)
{
  PetscScalar *dense;
  PetscInt     wrong = 0, spread = 0;
  char         text[1024] = "";
  SpmvTestCSR  t;
  SpmvCSR      csr;
  void        *storage;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(m * n, &dense));
  for (PetscInt k = 0; k < m * n; k++) dense[k] = pattern(k / n, k % n) ? 1 + k % 7 : 0;
  PetscCall(SpmvTestCSRFromDense(m, n, dense, &t));
  PetscCall(PetscFree(dense));
  csr = SpmvTestCSRView(&t);
  PetscCall(SpmvBuild(&PmfHost.side, &csr, NULL, &plan, &storage));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", name));
  for (PetscInt line = plan.threads > 1 || plan.value[PMF_PARTITION] == PMF_BY_DIAGONAL ? 0 : 2; line < 3; line++) {
    text[0] = 0;
    PetscCall(PmfHost.side.describe(storage, line, text, sizeof(text)));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s\n", text));
  }
  PetscCall(SpmvTestProducts(&SpmvFormat_pmf, &csr, storage, &wrong));
  PetscCall(Spread(&csr, storage, &spread));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  wrong %" PetscInt_FMT ", reached by an Inf %" PetscInt_FMT "\n", wrong, spread));
  PetscCall(SpmvStorageDestroy(&PmfHost.side, &storage));
  PetscCall(SpmvTestCSRDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const SpmvPlan one  = {.value = {PMF_BY_PMF, 0, 8, 32, PMF_PIECES_AUTO}, .threads = 1};
  SpmvPlan       plan = one;
  PetscRandom    rand;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(Example());
  PetscCall(Theorem(rand));
  PetscCall(Shared(rand));
  PetscCall(Slices("consecutive", 40, 47, Consecutive, one));
  PetscCall(Slices("common", 24, 40, Common, one));
  PetscCall(Slices("paired", 40, 40, Paired, one));
  PetscCall(Slices("gathered", 40, 40, Gathered, one));
  PetscCall(Slices("ragged", 37, 40, Ragged, one));
  PetscCall(Slices("alone", 19, 60, Alone, one));
  PetscCall(Slices("wide", 16, 70000, Wide, one));
  for (PetscInt steps = PMF_PIECES_ANY; steps <= PMF_NEAR_MAX; steps++) {
    plan.value[PMF_PIECES] = steps;
    PetscCall(Slices("nodes", 48, 48, Nodes, plan));
    PetscCall(Slices("nodes of four", 44, 44, Quads, plan));
    PetscCall(Slices("same rows", 40, 40, Same, plan));
    PetscCall(Slices("long rows", 45, 240, Long, plan));
  }
  plan.value[PMF_PIECES] = 3;
  PetscCall(Slices("nodes, wide", 48, 70000, NodesApart, plan));
  PetscCall(Slices("dense rows", 9, 109300, Dense, one));
  plan         = one;
  plan.threads = 3;
  PetscCall(Slices("split", 19, 900, Alone, plan));
  plan                      = one;
  plan.value[PMF_PARTITION] = PMF_BY_DIAGONAL;
  PetscCall(Slices("blocks of 32", 70, 70, Band, plan));
  plan.value[PMF_BLOCK] = 16;
  PetscCall(Slices("blocks of 16", 70, 70, Band, plan));
  plan.threads = 2;
  PetscCall(Slices("blocks of 16 and split", 70, 1300, Alone, plan));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test: # numbers are compared as they are: by itself PETSc ignores those with decimals
    diff_args: -j

TEST*/
