/*
  near.c - counts the entries of x that the first cache does not have
*/
#include "near.h"
#include "machine.h"

#define NEAR_LENGTHS 1024  /* longer rows are ordered as of this length */
#define NEAR_ENTRIES 1024  /* entries that are looked at in each order, ... */
#define NEAR_MANY    32768 /* ... or half of all, if these are more: a product takes so long that it does not count */
#define NEAR_ROWS    96    /* rows that are too few to tell what an order of more of them does */

/* An empty cache: half of the first one, since entries of the matrix go through it as well */
void SpmvNearBegin(SpmvNear *near)
{
  const PetscInt lines = PetscMin(SPMV_NEAR_LINES, SpmvMachineLines(SpmvMachineGet()->cache[0] / 2));

  *near = (SpmvNear){.mask = (int32_t)(lines - 1)};
}

static inline void NearAccess(SpmvNear *near, PetscInt column)
{
  const int32_t line  = SpmvMachineLine(column);
  int32_t      *place = &near->line[line & near->mask];

  near->missed += *place != line;
  *place = line;
}

/* Rows side by side, SPMV_NEAR_LANES at most, entry by entry */
void SpmvNearRows(SpmvNear *near, const SpmvCSR *csr, const int32_t row[], PetscInt rows)
{
  PetscInt start[SPMV_NEAR_LANES], length[SPMV_NEAR_LANES], longest = 0, shortest = PETSC_MAX_INT;

  for (PetscInt l = 0; l < rows; l++) {
    start[l]  = csr->i[row[l]];
    length[l] = csr->i[row[l] + 1] - start[l];
    longest   = PetscMax(longest, length[l]);
    shortest  = PetscMin(shortest, length[l]);
    near->entries += length[l];
  }
  near->places += rows * longest;
  for (PetscInt k = 0; k < shortest; k++) {
    for (PetscInt l = 0; l < rows; l++) NearAccess(near, csr->j[start[l] + k]);
  }
  for (PetscInt k = shortest; k < longest; k++) {
    for (PetscInt l = 0; l < rows; l++) {
      if (k < length[l]) NearAccess(near, csr->j[start[l] + k]);
    }
  }
}

/* n entries of m rows in an order, side by side: from place k of the order on, and then from its beginning */
void SpmvNearFrom(SpmvNear *near, const SpmvCSR *csr, const int32_t row[], PetscInt m, PetscInt k, PetscInt n)
{
  const PetscInt64 end = near->entries + n;

  for (PetscInt taken = 0; taken < m && near->entries < end; taken += SPMV_NEAR_LANES) {
    SpmvNearRows(near, csr, row + k, PetscMin(SPMV_NEAR_LANES, m - k));
    k = k + SPMV_NEAR_LANES < m ? k + SPMV_NEAR_LANES : 0;
  }
}

static PetscInt NearLength(const SpmvCSR *csr, PetscInt r)
{
  return PetscMin(NEAR_LENGTHS, csr->i[r + 1] - csr->i[r]);
}

/* order[0 ... end - first): rows [first, end), in each window by length, the longest first */
void SpmvNearOrder(const SpmvCSR *csr, PetscInt first, PetscInt end, PetscInt window, int32_t order[])
{
  PetscInt next[NEAR_LENGTHS + 2], most = 0;

  for (PetscInt r = first; r < end; r++) most = PetscMax(most, NearLength(csr, r));
  for (PetscInt from = first, to; from < end; from = to) {
    to = PetscMin(from + window, end);
    memset(next, 0, (size_t)(most + 2) * sizeof(*next)); /* a counting sort */
    for (PetscInt r = from; r < to; r++) next[most - NearLength(csr, r) + 1]++;
    for (PetscInt k = 0; k <= most; k++) next[k + 1] += next[k];
    for (PetscInt r = from; r < to; r++) order[from - first + next[most - NearLength(csr, r)]++] = (int32_t)r;
  }
}

/* Whether an order of a matrix's rows can matter, and be told from them: x does not fit the first cache, and there are some
   rows */
static PetscBool NearMatters(const SpmvCSR *csr)
{
  const PetscLogDouble x = (PetscLogDouble)csr->n * sizeof(PetscScalar);

  return (PetscBool)(csr->m >= NEAR_ROWS && x > SpmvMachineGet()->cache[0]);
}

/*
  SpmvNearMore - how many more entries of x the first cache lacks where rows are taken by length, SPMV_NEAR_LANES side by side,
  than where they are taken as they come

  window: rows that are ordered together. Told from some rows of both, but of the order from its middle; 0 where it does not
  matter
*/
PetscErrorCode SpmvNearMore(const SpmvCSR *csr, PetscInt window, PetscLogDouble *more)
{
  SPMV_TEMPORARY int32_t *row = NULL;
  const PetscInt          m = csr->m, nz = csr->i[m];
  const PetscInt          looks = nz > NEAR_MANY ? nz / 2 : PetscMin(nz, NEAR_ENTRIES);
  SpmvNear                taken = {0}, plain = {0};

  PetscFunctionBegin;
  *more = 0;
  if (!NearMatters(csr) || !looks) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvNearBegin(&taken);
  SpmvNearBegin(&plain);
  PetscCall(PetscMalloc1(m, &row));
  SpmvNearOrder(csr, 0, m, window, row);
  SpmvNearFrom(&taken, csr, row, m, m / 2, looks);
  for (PetscInt k = 0; k < looks; k++) NearAccess(&plain, csr->j[k]);
  *more = PetscMax(0, (PetscLogDouble)taken.missed / (PetscLogDouble)taken.entries -
                        (PetscLogDouble)plain.missed / (PetscLogDouble)looks) *
          (PetscLogDouble)nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define AHEAD_ROWS   64    /* of a block of rows that is looked at, ... */
#define AHEAD_EVERY  16    /* ... one of so many */
#define AHEAD_UNIT   256   /* columns; distances are counted in these */
#define AHEAD_UNITS  512   /* longer distances than so many are not prefetched over: x is to stay in cache until it is taken */
#define AHEAD_BLOCKS 0.95  /* of the blocks that are to have their columns in time */
#define AHEAD_BYTES  65536 /* of a matrix that pass between a line of x and its first use */

/*
  SpmvNearAhead - at row r, x is to be prefetched from column r + ahead; 0: it is not

  csr: columns ascend in rows, or nothing is gained. On a mesh that is numbered level by level, in whatever way, a line of x is
  first taken by rows that are as far from it as the largest column of any row around is from that row, however near most columns
  are. (P2 in the plane, 30 million entries, Zen 5: distances are 1500 in the median and 6094 at most; pmf takes 0.51 ns an entry,
  0.44 with x prefetched from column r + 6000, 0.33 from r + 6500 to r + 12000, and 0.38 from r + 50000.)
*/
PetscInt SpmvNearAhead(const SpmvCSR *csr)
{
  PetscInt   count[AHEAD_UNITS + 1] = {0}, blocks = 0, unit = 0;
  PetscInt64 lead;

  if (csr->m != csr->n || !csr->m) return 0;
  for (PetscInt r = 0; r < csr->m; r += AHEAD_EVERY * AHEAD_ROWS, blocks++) {
    const PetscInt end      = PetscMin(csr->m, r + AHEAD_ROWS);
    PetscInt       distance = 0;

    for (PetscInt k = r; k < end; k++) {
      if (csr->i[k + 1] > csr->i[k]) distance = PetscMax(distance, csr->j[csr->i[k + 1] - 1] - k);
    }
    count[PetscMin(distance / AHEAD_UNIT, AHEAD_UNITS)]++;
  }
  for (PetscInt in = count[0]; in < AHEAD_BLOCKS * blocks; in += count[++unit]) continue;
  if (unit >= AHEAD_UNITS) return 0;
  lead = AHEAD_BYTES / sizeof(PetscScalar) * (PetscInt64)csr->m / PetscMax(1, csr->i[csr->m]);
  return (unit + 1) * AHEAD_UNIT + (PetscInt)PetscMin(lead, AHEAD_UNIT * AHEAD_UNITS);
}
