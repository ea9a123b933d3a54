/*
  tpspmv_strips.c - a tpSpMV storage for a device: chunks by strips, and where each row's partial sums are

  Source: as tpspmv.c; section 4.1 for chunks, 4.2 for the sums, 5.2 for steps that are aligned. A slice of blockY is the list of
  its rows' partial sums in the order of tiles, since it is not dense here.
*/
#include "tpspmv_device.h"

/* A pass over all chunks */
typedef struct {
  const SpmvCSR *csr;
  TpspmvStrips  *b;
  TpspmvStrip   *strip; /* in the order of the pass, as TpspmvMeasureStrips() has them */
  int32_t        sums;  /* one tile: rows of several pairs, and their partial sums, so far */
  int32_t        partial;
} TpspmvPass;

/* Where the next pair of each length goes, of the n pairs of a chunk: behind the longer ones */
static void TpspmvOrder(const TpspmvPair pair[], PetscInt n, int32_t next[TPSPMV_LONG_MAX + 1])
{
  memset(next, 0, (TPSPMV_LONG_MAX + 1) * sizeof(int32_t));
  for (PetscInt p = 0; p < n; p++) next[pair[p].length - 1]++;
  for (PetscInt length = TPSPMV_LONG_MAX; length > 0; length--) next[length - 1] += next[length];
}

/* The sizes of a chunk: in `tile` its first strip in the order of the pass, in `strip` how many; in `first` of each its steps */
static void TpspmvMeasureStrips(void *context, PetscInt c, PetscInt firstrow, TpspmvPair pair[], PetscInt n)
{
  TpspmvPass   *pass   = (TpspmvPass *)context;
  TpspmvStrips *b      = pass->b;
  TpspmvStrip  *strip  = pass->strip + b->nstrips;
  const size_t  strips = SpmvGroups((size_t)n, TPSPMV_HEIGHT);
  int32_t       next[TPSPMV_LONG_MAX + 1];

  b->chunk[c] = (TpspmvStripChunk){.tile = (int32_t)b->nstrips, .strip = (int32_t)strips};
  if (!n) return;
  TpspmvOrder(pair, n, next);
  for (size_t s = 0; s < strips; s++) strip[s] = (TpspmvStrip){.base = INT32_MAX, .least = TPSPMV_LONG_MAX};
  for (PetscInt p = 0; p < n; p++) {
    const uint32_t high = (uint32_t)TpspmvNumber(&b->cut, pass->csr, pair[p].start + pair[p].length - 1);
    TpspmvStrip   *own  = &strip[next[pair[p].length]++ / TPSPMV_HEIGHT];

    own->first  = PetscMax(own->first, (uint32_t)pair[p].length);
    own->column = PetscMax(own->column, high);
    own->least  = PetscMin(own->least, pair[p].length);
    own->base   = PetscMin(own->base, TpspmvNumber(&b->cut, pass->csr, pair[p].start));
    if (!TpspmvIsDirect(&b->cut)) b->first[firstrow + pair[p].row + 2]++;
    else {
      b->nsums += pair[p].part == 1;
      b->npartial += pair[p].part > 0;
    }
  }
  for (size_t s = 0; s < strips; s++) {
    const PetscBool narrow = (PetscBool)(strip[s].column - (uint32_t)strip[s].base <= UINT16_MAX);

    if (!narrow) strip[s].base = -1 - strip[s].base;
    *(narrow ? &b->nnarrow : &b->nwide) += strip[s].first;
    b->nsteps += strip[s].first;
  }
  if (n % TPSPMV_HEIGHT) strip[strips - 1].least = 0; /* some places have no pair */
  b->npairs += (size_t)n;
  b->nstrips += strips;
}

/* From the sizes of chunks and strips to where they begin, tile after tile */
static void TpspmvPlaceStrips(const TpspmvStrip measured[], TpspmvStrips *b)
{
  uint32_t step = 0, narrow = 0, wide = 0;
  int32_t  at = 0;

  for (PetscInt c = 0; c < b->cut.ntiles * b->cut.nslices; c++) {
    const TpspmvStripChunk own  = b->chunk[c];
    const int32_t         *tile = &b->cut.tile[c / b->cut.nslices];

    b->chunk[c] = (TpspmvStripChunk){tile[0], tile[1], at};
    for (int32_t s = 0; s < own.strip; s++) {
      const TpspmvStrip *strip  = &measured[own.tile + s];
      uint32_t          *column = strip->base < 0 ? &wide : &narrow;

      b->strip[at++] = (TpspmvStrip){step, *column, strip->base, strip->least};
      step += strip->first;
      *column += strip->first;
    }
  }
  b->chunk[b->cut.ntiles * b->cut.nslices] = (TpspmvStripChunk){.strip = at};
}

/* Tiles, slices, strips, and the sizes of everything; of the arrays only these and, with several tiles, where sums begin */
static PetscErrorCode TpspmvMeasureAll(const SpmvPlan *plan, TpspmvPass *pass)
{
  const SpmvCSR *csr     = pass->csr;
  const PetscInt longest = plan->value[TPSPMV_LONG];
  TpspmvStrips  *b       = pass->b;
  size_t         nchunks;

  SPMV_TEMPORARY TpspmvStrip *measured = NULL; /* each strip but the last of a chunk has 32 pairs, and a pair an entry */

  PetscFunctionBegin;
  PetscCall(TpspmvCutCreate(csr, plan->value, &b->cut));
  nchunks = (size_t)b->cut.ntiles * (size_t)b->cut.nslices;
  if (!TpspmvIsDirect(&b->cut)) {
    PetscCall(SpmvAlloc((size_t)(b->cut.m + 2) * sizeof(int32_t), &b->first));
    memset(b->first, 0, (size_t)(b->cut.m + 2) * sizeof(int32_t));
  }
  PetscCall(SpmvAlloc((nchunks + 1) * sizeof(TpspmvStripChunk), &b->chunk));
  PetscCall(PetscMalloc1((size_t)csr->i[csr->m] / TPSPMV_HEIGHT + nchunks, &measured));
  pass->strip = measured;
  PetscCall(TpspmvWalk(csr, &b->cut, longest, longest, TpspmvMeasureStrips, pass));
  PetscCheck(b->nstrips < INT32_MAX / TPSPMV_HEIGHT && b->nsteps < INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             TPSPMV_TOO_MANY_PAIRS, b->npairs);
  PetscCall(SpmvAlloc(b->nstrips * sizeof(TpspmvStrip), &b->strip));
  TpspmvPlaceStrips(measured, b);
  b->nentries = (size_t)csr->i[csr->m];
  for (PetscInt t = 0; t < b->cut.ntiles; t++) b->widest = PetscMax(b->widest, b->cut.tile[t + 1] - b->cut.tile[t]);
  if (TpspmvIsDirect(&b->cut)) PetscFunctionReturn(PETSC_SUCCESS);
  b->nsums    = (size_t)b->cut.m;
  b->npartial = b->nstrips * TPSPMV_HEIGHT;
  for (PetscInt r = 1; r <= b->cut.m; r++) b->first[r] += b->first[r - 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of a pair: number `lane` in each step of its strip */
static void TpspmvFillColumns(const SpmvCSR *csr, const TpspmvPair *pair, const TpspmvStrip *strip, int32_t lane, TpspmvStrips *b)
{
  const int32_t low = strip->base < 0 ? -1 - strip->base : strip->base;

  for (size_t k = 0; k < (size_t)pair->length; k++) {
    const int32_t column = TpspmvNumber(&b->cut, csr, pair->start + (PetscInt)k) - low;
    const size_t  place  = (strip->column + k) * TPSPMV_HEIGHT + (size_t)lane;

    if (strip->base >= 0) b->narrow[place] = (uint16_t)column;
    else b->wide[place] = column;
  }
}

/* The pair at place `at` of a chunk: its entries, at the same place of each step, and where its sum goes */
static void TpspmvFillPair(TpspmvPass *pass, const TpspmvStripChunk *chunk, PetscInt row, const TpspmvPair *pair, int32_t at)
{
  TpspmvStrips *b     = pass->b;
  const int32_t place = chunk->strip * TPSPMV_HEIGHT + at;

  if (!b->converted) TpspmvFillColumns(pass->csr, pair, &b->strip[place / TPSPMV_HEIGHT], place % TPSPMV_HEIGHT, b);
  b->start[place]  = (int32_t)pair->start;
  b->length[place] = (uint8_t)pair->length;
  if (!TpspmvIsDirect(&b->cut)) {
    b->place[b->first[row + 1]++] = place;
    return;
  }
  if (pair->part == 1) {
    b->sumrow[pass->sums]  = (int32_t)row;
    b->first[pass->sums++] = pass->partial;
  }
  b->target[place] = pair->part ? -1 - pass->partial++ : (int32_t)row;
}

/* The pairs of a chunk */
static void TpspmvFillChunk(void *context, PetscInt c, PetscInt firstrow, TpspmvPair pair[], PetscInt n)
{
  TpspmvPass *pass = (TpspmvPass *)context;
  int32_t     next[TPSPMV_LONG_MAX + 1];

  TpspmvOrder(pair, n, next);
  for (PetscInt p = 0; p < n; p++)
    TpspmvFillPair(pass, &pass->b->chunk[c], firstrow + pair[p].row, &pair[p], next[pair[p].length]++);
}

/* Leaves out chunks without pairs: those that begin where the next does */
static void TpspmvDropEmpty(TpspmvStrips *b)
{
  const PetscInt n = b->cut.ntiles * b->cut.nslices;

  for (PetscInt c = 0; c < n; c++) {
    if (b->chunk[c + 1].strip > b->chunk[c].strip) b->chunk[b->nchunks++] = b->chunk[c];
  }
  b->chunk[b->nchunks] = b->chunk[n];
}

/* The rows with many partial sums */
static PetscErrorCode TpspmvFindMany(TpspmvStrips *b)
{
  size_t n = 0;

  PetscFunctionBegin;
  for (size_t k = 0; k < b->nsums; k++) b->nmany += b->first[k + 1] - b->first[k] > TPSPMV_MANY;
  if (!b->nmany) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAlloc(b->nmany * sizeof(int32_t), &b->many));
  for (size_t k = 0; k < b->nsums; k++) {
    if (b->first[k + 1] - b->first[k] > TPSPMV_MANY) b->many[n++] = (int32_t)k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays that have the entries */
static PetscErrorCode TpspmvEntriesCreate(TpspmvStrips *b)
{
  const size_t narrow = b->nnarrow * TPSPMV_HEIGHT * sizeof(uint16_t), wide = b->nwide * TPSPMV_HEIGHT * sizeof(int32_t);

  PetscFunctionBegin;
  PetscCall(SpmvAlloc(narrow, &b->narrow));
  PetscCall(SpmvAlloc(wide, &b->wide));
  PetscCall(SpmvAlloc(b->nsteps * TPSPMV_HEIGHT * sizeof(PetscScalar), &b->value));
  memset(b->narrow, 0, narrow);
  memset(b->wide, 0, wide);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvStripsBuild(const SpmvCSR *csr, SpmvPlan *plan, void **storage)
{
  TpspmvStrips *b;
  TpspmvPass    pass = {.csr = csr};
  size_t        places;

  PetscFunctionBegin;
  PetscCall(PetscNew(&b));
  *storage = pass.b = b;
  b->converted      = (PetscBool)(plan->value[TPSPMV_CONVERT] == SPMV_CONVERT_DEVICE);
  PetscCall(TpspmvMeasureAll(plan, &pass));
  places = b->nstrips * TPSPMV_HEIGHT;
  if (!b->converted) PetscCall(TpspmvEntriesCreate(b));
  PetscCall(SpmvAlloc(places * sizeof(uint8_t), &b->length));
  PetscCall(SpmvAlloc(places * sizeof(int32_t), &b->start));
  memset(b->length, 0, places * sizeof(uint8_t));
  memset(b->start, 0, places * sizeof(int32_t));
  if (TpspmvIsDirect(&b->cut)) {
    PetscCall(SpmvAlloc(places * sizeof(int32_t), &b->target));
    PetscCall(SpmvAlloc(b->nsums * sizeof(int32_t), &b->sumrow));
    PetscCall(SpmvAlloc((b->nsums + 1) * sizeof(int32_t), &b->first));
    memset(b->target, 0, places * sizeof(int32_t));
  } else PetscCall(SpmvAlloc(b->npairs * sizeof(int32_t), &b->place));
  PetscCall(TpspmvWalk(csr, &b->cut, plan->value[TPSPMV_LONG], plan->value[TPSPMV_LONG], TpspmvFillChunk, &pass));
  if (TpspmvIsDirect(&b->cut)) b->first[b->nsums] = pass.partial;
  PetscCall(TpspmvFindMany(b));
  TpspmvDropEmpty(b);
  if (!b->converted) PetscCall(TpspmvCutBuilt(&b->cut)); /* the device is sent the numbers of columns */
  PetscCall(TpspmvStripsSetValues(csr, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values, and 0 elsewhere: strip after strip, which the first cache has meanwhile */
PetscErrorCode TpspmvStripsSetValues(const SpmvCSR *csr, void *storage)
{
  TpspmvStrips *b = (TpspmvStrips *)storage;

  PetscFunctionBegin;
  if (b->converted) {
    b->csr = *csr; /* to be sent */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (size_t s = 0; s < b->nstrips; s++) {
    const size_t first = b->strip[s].first, end = s + 1 < b->nstrips ? b->strip[s + 1].first : b->nsteps;
    PetscScalar *value = b->value + first * TPSPMV_HEIGHT;

    memset(value, 0, (end - first) * TPSPMV_HEIGHT * sizeof(PetscScalar));
    for (size_t l = 0; l < TPSPMV_HEIGHT; l++) {
      const size_t pair = s * TPSPMV_HEIGHT + l;

      for (size_t k = 0; k < b->length[pair]; k++) value[k * TPSPMV_HEIGHT + l] = csr->a[(size_t)b->start[pair] + k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a device makes of a storage */
PetscErrorCode TpspmvConvert(const void *storage, PetscBool values_only, SpmvDeviceProduct *product)
{
  const TpspmvStrips    *b      = (const TpspmvStrips *)storage;
  const SpmvDeviceStrips strips = {.values  = "values",
                                   .narrow  = "columns",
                                   .wide    = "wide columns",
                                   .strips  = "strips",
                                   .lengths = "lengths",
                                   .starts  = "starts",
                                   .numbers = "column numbers",
                                   .length  = sizeof(uint8_t),
                                   .nstrips = (PetscInt)b->nstrips,
                                   .nrows   = (PetscInt)(b->nstrips * TPSPMV_HEIGHT),
                                   .height  = TPSPMV_HEIGHT,
                                   .lanes   = 1,
                                   .unit    = TPSPMV_HEIGHT,
                                   .end     = b->nsteps};

  PetscFunctionBegin;
  if (b->converted) PetscCall(SpmvConvertStrips(&strips, values_only, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvConvertSources(const void *storage, PetscInt *n, SpmvArray sources[])
{
  const TpspmvStrips *b = (const TpspmvStrips *)storage;

  PetscFunctionBegin;
  *n = 0;
  SpmvConvertSources(&b->csr, n, sources);
  if (b->cut.number) sources[(*n)++] = SPMV_ARRAY("column numbers", b->cut.number, (size_t)b->cut.n, sizeof(int32_t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TpspmvStripsDestroy(void *storage)
{
  PetscFunctionBegin;
  PetscCall(TpspmvCutDestroy(&((TpspmvStrips *)storage)->cut));
  PetscFunctionReturn(PETSC_SUCCESS);
}
