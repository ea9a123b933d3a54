/*
  sbccoo_plan.c - plans worth an estimate, and the work of a plan, from the entries beyond the diagonal
*/
#include "sbccoo_host.h"
#include "../../../../host/shape.h"

/*
  Scalars, blocks that the user declared, blocks that rows with the same columns tell; then of 2 and 3; then twice these. No
  blocks where nobody declared any and rows have other columns than their neighbours: to look at each size takes half a product
*/
PetscErrorCode SbccooPropose(const SpmvCSR *csr, const SpmvPlan *asked, PetscInt round, PetscInt *n, SpmvPlan plans[])
{
  const PetscInt declared   = csr->rbs == csr->cbs ? csr->rbs : 1;
  PetscInt       tried[][3] = {{1, declared, 1}, {2, 3, 1}, {4, 6, 1}}, h, w;

  PetscFunctionBegin;
  *n = 0;
  if (asked->value[SBCCOO_BLOCK] || round >= (PetscInt)PETSC_STATIC_ARRAY_LENGTH(tried)) PetscFunctionReturn(PETSC_SUCCESS);
  if (round && declared == 1 && !SpmvShapeShared(csr)) PetscFunctionReturn(PETSC_SUCCESS);
  SpmvShapeFind(csr, SBCCOO_BLOCK_MAX, &h, &w);
  if (h == w && h != declared) tried[0][2] = h;
  for (int k = 0; k < 3; k++) {
    const PetscInt b = tried[round][k];

    if (b > SBCCOO_BLOCK_MAX || csr->m % b || csr->n % b || (k && b == 1)) continue;
    if (round && (b == declared || b == tried[0][2])) continue;
    plans[*n]                         = *asked;
    plans[(*n)++].value[SBCCOO_BLOCK] = b;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PLAN_ALONE       14  /* cycles of two entries of the rest */
#define PLAN_BOTH        9.5 /* of a pair of scalars of which both are stored: as of one with a step (P2, Emerald Rapids) */
#define PLAN_SORTED_BOTH 7   /* the same where rows are stored by their lengths */
#define PLAN_SINGLE      4.8 /* of a pair of equal scalars in no piece; 4 in cache (P1 in space, Emerald Rapids) */
#define PLAN_UNTOLD      2.7 /* of a vector of a block with codes that do not tell all (P2 elasticity, Emerald Rapids) */
#define PLAN_WIDE        30  /* of a row that needs words of 32 bits (random numberings, saddle points, Emerald Rapids) */
#define PLAN_MISSED      5   /* branches of a chunk's rows of one length (graphs, Emerald Rapids) */
#define PLAN_WINDOW      15  /* of a row of a thread's window (scalars and 3x3 in random numbering, Emerald Rapids) */
#define PLAN_LOOK        128 /* entries of some rows whose partners are looked at */
#define PLAN_AGAIN       13 /* more of a block of 5x5 to 7x7 whose part of y the block row before stored (DG of order 2, Zen 4) */
#define PLAN_WAITS       1.5 /* an entry waits for half a line of x and half a line of y, which is written back as well */

/*
  Of all cycles, those that take as long as loops over blocks do, rather than as everything else: 0.2 on Emerald Rapids, where the
  others were found, would be as long with both rates. 22 finite element matrices of 30 M entries take 1.08 times as long as
  estimated without it on Zen 4, where vectors are slower
*/
#define PLAN_BLOCKED 0.2
#define PLAN_RATE    2.43 /* cycles in such loops that take as long as another, on Emerald Rapids */

/*
  Cycles of a block of b x b, [1] with codes: a load of x, one of y and its store, and the multiplications of its rows. Vectors of
  four and eight rows are full, and a block of two rows is one vector; others have a mask (nodes of two to eight unknowns, in the
  plane and in space, Zen 4; those of two by how much faster one vector is on Granite Rapids)
*/
static const PetscLogDouble PlanBlock[2][SBCCOO_BLOCK_MAX + 1] = {{0, 0, 2.8, 7.6, 8.2, 20, 21.7, 24.6, 20.6},
                                                                  {0, 0, 4.4, 11.2, 14.5, 30, 36, 45, 43}};

/* What some rows have beyond the diagonal: `alone` are entries of blocks that have too few to be stored */
typedef struct {
  PetscLogDouble rows, blocks, entries, pieces, alone;
  PetscLogDouble again;        /* blocks of rows with the columns of the block row before */
  PetscLogDouble wide, groups; /* of scalars: rows that reach far, and groups of rows of one length in chunks */
  uint64_t       lengths;      /* of the chunk at hand: a bit for each */
} PlanTally;

/* Whether row r has the columns of the block row before: y is loaded soon after it was stored, for some b with a mask */
static PetscBool PlanStoredBefore(const SpmvCSR *csr, PetscInt r, PetscInt b)
{
  return (PetscBool)(r >= b && b > 4 && b < 8 && SpmvSameColumns(csr, r, r - b));
}

/* The entries of one row, which are its blocks, as if each had its partner */
static void PlanScalars(const SpmvCSR *csr, PetscInt r, PlanTally *t)
{
  const PetscInt end = csr->i[r + 1];
  PetscInt       k   = csr->i[r];
  uint64_t       length;

  while (k < end && csr->j[k] <= csr->first + r) k++;
  length = UINT64_C(1) << PetscMin(63, end - k);
  t->entries += end - k;
  t->blocks += end - k;
  t->rows++;
  t->wide += k < end && csr->j[end - 1] - csr->first - r > UINT16_MAX;
  if (r % SBCCOO_CHUNK == 0) t->lengths = 0;
  t->groups += !(t->lengths & length);
  t->lengths |= length;
}

/* The blocks of one block row, in the same way */
static void PlanRow(const SpmvCSR *csr, PetscInt r, PetscInt b, PlanTally *t)
{
  const PetscLogDouble before = t->blocks;
  PetscInt             next[SBCCOO_BLOCK_MAX], end = ((csr->first + r) / b + 1) * b; /* behind the block at hand */

  for (PetscInt q = 0; q < b; q++) {
    next[q] = csr->i[r + q];
    while (next[q] < csr->i[r + q + 1] && csr->j[next[q]] < end) next[q]++;
  }
  for (;;) {
    PetscInt j = PETSC_MAX_INT, count = 0;

    for (PetscInt q = 0; q < b; q++) {
      if (next[q] < csr->i[r + q + 1]) j = PetscMin(j, csr->j[next[q]]);
    }
    if (j == PETSC_MAX_INT) break;
    end = (j / b + 1) * b;
    for (PetscInt q = 0; q < b; q++) {
      for (; next[q] < csr->i[r + q + 1] && csr->j[next[q]] < end; next[q]++) count++;
    }
    t->entries += count;
    if (SbccooPays(count, b)) t->blocks++;
    else t->alone += count;
  }
  t->rows++;
  if (PlanStoredBefore(csr, r, b)) t->again += t->blocks - before;
}

/* Pieces of a row of scalars with two entries at least, and how many entries they have */
static void PlanPieces(const SpmvCSR *csr, PetscInt r, PlanTally *t, PetscLogDouble *inside)
{
  PetscInt last = -1, count = 0;

  for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
    const PetscInt piece = csr->j[k] / SBCCOO_PIECE;

    if (csr->j[k] <= csr->first + r) continue;
    count = piece == last ? count + 1 : 1;
    if (count > 1) *inside += count == 2 ? 2 : 1;
    t->pieces += count == 2;
    last = piece;
  }
}

/*
  Cycles of scalars, as if each had its partner: cut into pieces, of which `inside` entries are, and of rows of one length. The
  latter were found on P1, P2, P3, Q2, Stokes and DG, a million entries (Emerald Rapids)
*/
static PetscLogDouble PlanScalarCycles(const PlanTally *t, PetscLogDouble inside, PetscBool steps, PetscBool sorted)
{
  const PetscLogDouble single = t->entries - inside;

  if (sorted) return (steps ? 3.3 : 2.2) * t->entries + 3 * t->rows;
  return (steps ? 6 : 3.5) * t->pieces + (steps ? 9.5 : PLAN_SINGLE) * single + (steps ? 18 : 14) * t->rows;
}

/* Whether rows of one length are to be stored one after the other; pieces have fewer bytes */
static PetscBool PlanSorted(const PlanTally *t, PetscLogDouble inside, PetscBool steps)
{
  return (PetscBool)(PlanScalarCycles(t, inside, steps, PETSC_TRUE) < 0.97 * PlanScalarCycles(t, inside, steps, PETSC_FALSE));
}

#define PLAN_ROWS 256 /* rows that tell whether there are to be pieces */

/* Whether rows of scalars are stored by their lengths, without pieces; steps: entries differ from their mirror images */
PetscBool SbccooSorts(const SpmvCSR *csr, PetscBool steps)
{
  const PetscInt rows   = PetscMin(csr->m, PLAN_ROWS);
  PlanTally      t      = {0};
  PetscLogDouble inside = 0;

  for (PetscInt k = 0; k < rows; k++) {
    const PetscInt r = (PetscInt)SpmvShare((size_t)csr->m, k, rows);

    PlanScalars(csr, r, &t);
    PlanPieces(csr, r, &t, &inside);
  }
  return PlanSorted(&t, inside, steps);
}

/* Parts of the entries off the diagonal: those without a partner; those of pairs of which one cannot be told from the other */
typedef struct {
  PetscLogDouble alone, both;
} PlanParts;

static PlanParts PlanPairs(const SpmvCSR *rows, const SpmvPlan *plan, PetscInt pairs, const SbccooLook *look)
{
  const SbccooTold    *told   = SbccooToldBy(look, pairs);
  const PetscLogDouble looked = PetscMax(1, look->looked);
  PlanParts            parts  = {.alone = look->alone / looked};

  if (SbccooUpper(rows, plan->value[SBCCOO_EXACT])) return parts;
  parts.both = (told->far + (pairs == SBCCOO_EQUAL ? told->near : 0)) / looked;
  return parts;
}

/* The work of scalars; of pairs with one entry it is that of the rows as if all had one, in part */
static void PlanScalarWork(const SpmvCSR *rows, PetscInt pairs, const PlanParts *parts, SpmvWork *work)
{
  const PetscBool      steps = (PetscBool)(pairs != SBCCOO_EQUAL);
  const PetscLogDouble entry = (PetscLogDouble)sizeof(PetscScalar), code = (PetscLogDouble)(SBCCOO_CODES * SbccooCodeSize(pairs));
  const PetscLogDouble stored = 1 - parts->alone - parts->both;
  PlanTally            t      = {0};
  PetscLogDouble       inside = 0, both, alone;
  PetscBool            sorted;

  for (PetscInt r = 0; r < rows->m; r++) {
    PlanScalars(rows, r, &t);
    PlanPieces(rows, r, &t, &inside);
  }
  sorted = PlanSorted(&t, inside, steps);
  both   = t.entries * parts->both;
  alone  = t.entries * parts->alone;
  work->build += 54 * t.entries + 90 * t.rows;
  t.entries *= stored;
  t.pieces *= stored;
  inside *= stored;
  work->cycles += PlanScalarCycles(&t, inside, steps, sorted) + (sorted ? PLAN_SORTED_BOTH : PLAN_BOTH) * both +
                  PLAN_ALONE * alone + PLAN_WIDE * t.wide;
  work->branches += sorted ? 2 * t.groups : 0;
  work->misses += sorted ? PLAN_MISSED * t.groups : 0;
  work->bytes +=
    (entry + 2) * t.rows + (entry + code) * t.entries + (2 * entry + 2) * both + (PetscLogDouble)SBCCOO_PAIR_BYTES * alone;
  work->bytes += sorted ? 2 * t.entries : 2 * (t.entries - inside) + 3 * t.pieces;
}

/* The work of blocks of b x b; a row waits for its sums */
static void PlanBlockWork(const SpmvCSR *rows, PetscInt b, PetscBool steps, const PlanParts *parts, SpmvWork *work)
{
  const PetscLogDouble values = (PetscLogDouble)(b * b), entry = (PetscLogDouble)sizeof(PetscScalar);
  const PetscInt       vectors = b == 2 ? 1 : b; /* of a block */
  PlanTally            t       = {0};
  PetscLogDouble       behind  = 0, far; /* entries of rows behind the last whole block; pairs that no codes tell */

  for (PetscInt r = 0; r + b <= rows->m; r += b) PlanRow(rows, r, b, &t);
  for (PetscInt r = rows->m / b * b; r < rows->m; r++) behind += rows->i[r + 1] - rows->i[r];
  work->build += 34 * t.entries + 70 * t.blocks;
  far = steps ? t.entries * parts->both : 0;
  t.alone += t.entries * (parts->alone + parts->both) - far;
  t.blocks *= 1 - parts->alone; /* the place of a pair is stored, whatever is in it */
  work->bytes += (entry + (PetscLogDouble)sizeof(PetscInt)) * behind + t.rows * (values * entry + 2);
  work->bytes += t.blocks * (values * (entry + (steps ? (PetscLogDouble)SBCCOO_CODES : 0)) + 2);
  work->bytes += entry * far + (PetscLogDouble)SBCCOO_PAIR_BYTES * t.alone;
  work->cycles += PlanBlock[steps ? 1 : 0][b] * t.blocks + 12 * t.rows + PLAN_AGAIN * t.again + PLAN_ALONE * t.alone;
  if (far > 0)
    work->cycles += PLAN_UNTOLD * (PetscLogDouble)vectors * t.blocks * PetscMin(1, far / t.rows); /* in rows that have some */
}

/* Cycles of windows: each begins behind a thread's own rows and has as many rows as rows reach in the mean */
static PetscLogDouble PlanWindows(const SpmvCSR *rows, PetscInt threads)
{
  PetscLogDouble reach = 0;

  if (threads == 1 || !rows->n) return 0;
  for (PetscInt r = 0; r < rows->m; r++) {
    if (rows->i[r + 1] > rows->i[r]) reach += PetscMax(0, rows->j[rows->i[r + 1] - 1] - rows->first - r);
  }
  return PLAN_WINDOW * (PetscLogDouble)(threads - 1) * reach / (PetscLogDouble)rows->n;
}

static void PlanWork(const SpmvCSR *rows, const SpmvPlan *plan, const SbccooLook *look, SpmvWork *work)
{
  const PetscInt  pairs = SbccooKind(rows, plan->value, look);
  const PlanParts parts = PlanPairs(rows, plan, pairs, look);

  if (plan->value[SBCCOO_BLOCK] > 1)
    PlanBlockWork(rows, plan->value[SBCCOO_BLOCK], (PetscBool)(pairs != SBCCOO_EQUAL), &parts, work);
  else PlanScalarWork(rows, pairs, &parts, work);
  work->cycles += PlanWindows(rows, plan->threads);
  work->blocked += PLAN_RATE * PLAN_BLOCKED * work->cycles;
  work->cycles *= 1 - PLAN_BLOCKED;
  work->waits = PLAN_WAITS;
}

/* Pairs that both have their rows here are looked at once for all plans */
PetscErrorCode SbccooWorks(const SpmvCSR *rows, PetscInt n, const SpmvPlan plans[], SpmvWork works[])
{
  SbccooLook look;

  PetscFunctionBegin;
  PetscCall(SbccooLookAt(rows, PLAN_LOOK, &look));
  for (PetscInt k = 0; k < n; k++) PlanWork(rows, &plans[k], &look, &works[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
