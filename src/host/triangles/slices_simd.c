/*
  slices_simd.c - passes over slices of eight rows, compiled once for each instruction set of isas.h
*/
#include "slices.h"
#include "../simd/simd.h"

#if defined(SPMV_ISA_ABSENT)
const SpmvSlicesKernels SPMV_ISA_NAME(SpmvSlicesKernels) = {0};
#else

  #define SLICES_AHEAD 512 /* values between what is in use and what is prefetched */

/* SlicesAt: where a pass is in the arrays of a triangle */
typedef struct {
  const char     *value;
  const PetscInt *place;
  const uint16_t *index;
  PetscBool       floats; /* a constant, as all of this is inlined */
} SlicesAt;

/* Value k from where a pass is, eight from there on, and n values further */
SPMV_INLINE PetscScalar SlicesValue(const SlicesAt *at, PetscInt k)
{
  #if SPMV_VALUES_HAS_FLOAT
  if (at->floats) return ((const float *)(const void *)at->value)[k];
  #endif
  return ((const PetscScalar *)(const void *)at->value)[k];
}

SPMV_INLINE Spmv8 SlicesValues(const SlicesAt *at)
{
  #if SPMV_VALUES_HAS_FLOAT
  if (at->floats) return Spmv8LoadFloat((const float *)(const void *)at->value);
  #endif
  return Spmv8Load((const PetscScalar *)(const void *)at->value);
}

SPMV_INLINE const char *SlicesFurther(const SlicesAt *at, size_t n)
{
  return at->value + n * (at->floats ? sizeof(float) : sizeof(PetscScalar));
}

/* s, plus the columns and gathers of a slice; x: of its first row */
SPMV_INLINE Spmv8 SlicesOutside(SlicesAt *at, const SpmvSlice *h, const PetscScalar *x, Spmv8 s)
{
  for (PetscInt k = 0; k < h->columns; k++, at->value = SlicesFurther(at, 8)) {
    __builtin_prefetch(SlicesFurther(at, SLICES_AHEAD), 0, 3);
    s = Spmv8Fma(SlicesValues(at), Spmv8Load(x + *at->place++), s);
  }
  if (h->gathers) {
    const PetscScalar *from = x + *at->place++;

    for (PetscInt k = 0; k < h->gathers; k++, at->value = SlicesFurther(at, 8), at->index += 8) {
      __builtin_prefetch(SlicesFurther(at, SLICES_AHEAD), 0, 3);
      s = Spmv8Fma(SlicesValues(at), Spmv8Gather(from, at->index), s);
    }
  }
  return s;
}

/* Adds the entries of a list to y and, if it is there, to sum; x, y: of the slice's first row. In a pass x is y */
SPMV_INLINE void SlicesList(SlicesAt *at, const SpmvSlice *h, const PetscScalar *x, PetscScalar *y, PetscScalar *sum)
{
  for (PetscInt k = 0; k < h->list; k++) {
    const PetscScalar more = SlicesValue(at, k) * x[at->place[k]];

    y[at->index[k]] += more;
    if (sum) sum[at->index[k]] += more;
  }
  at->value = SlicesFurther(at, SpmvSlicesListed(h));
  at->place += h->list;
  at->index += h->list;
}

/* x_q = r_q + c_q x of the row before, c where a pass is; x: of the slice before, as its last row in the order of the pass has
   it */
SPMV_INLINE Spmv8 SlicesChain(SpmvTriangleSide side, PetscBool steep, Spmv8 r, const SlicesAt *at, Spmv8 x)
{
  if (steep) {
    PetscScalar lane[8], prev;

    Spmv8Store(lane, x);
    prev = lane[side == SPMV_LOWER ? 7 : 0];
    Spmv8Store(lane, r);
    for (int t = 0; t < 8; t++) {
      const int q = side == SPMV_LOWER ? t : 7 - t;

      lane[q] = prev = lane[q] + SlicesValue(at, q) * prev;
    }
    return Spmv8Load(lane);
  }
  return side == SPMV_LOWER ? Spmv8ScanUp(r, SlicesValues(at), x) : Spmv8ScanDown(r, SlicesValues(at), x);
}

/* Lane q: x of the row before that of lane q */
SPMV_INLINE Spmv8 SlicesShift(SpmvTriangleSide side, Spmv8 x, Spmv8 before)
{
  return side == SPMV_LOWER ? Spmv8ShiftUp(x, before) : Spmv8ShiftDown(x, before);
}

SPMV_INLINE Spmv8 SlicesLoad(const PetscScalar *p, PetscInt n)
{
  return n == 8 ? Spmv8Load(p) : Spmv8LoadFirst(p, (int)n);
}

SPMV_INLINE Spmv8 SlicesLess(Spmv8 a, Spmv8 b)
{
  return Spmv8Fma(b, Spmv8Splat(-1), a);
}

/* x <- the vector, plus the list; returns x, in which at least what the next slice's chain needs is right */
SPMV_INLINE Spmv8 SlicesPut(SpmvTriangleSide side, SlicesAt *at, const SpmvSlice *h, PetscInt rows, PetscScalar *x, Spmv8 v,
                            PetscScalar *sum)
{
  Spmv8Put(x, v, rows, PETSC_FALSE);
  if (!h->list) return v;
  SlicesList(at, h, x, x, sum);
  return Spmv8Splat(x[side == SPMV_LOWER ? rows - 1 : 0]);
}

/* A slice of any pass; v: S in or in */
SPMV_INLINE Spmv8 SlicesGeneral(SpmvTriangleSide side, const SpmvPass *p, SlicesAt *at, const SpmvSlice *h, PetscInt r,
                                PetscInt rows, Spmv8 v, Spmv8 last)
{
  const Spmv8 outside = SlicesOutside(at, h, p->x + r, Spmv8Zero());
  PetscScalar lane[8] = {0};
  Spmv8       inside = Spmv8Zero(), x = Spmv8Add(v, outside);

  if (p->minus) x = SlicesLess(x, SlicesLoad(p->minus + r, rows));
  if (p->keep != 0) x = Spmv8Fma(Spmv8Splat(p->keep), SlicesLoad(p->x + r, rows), x);
  if (h->chain) {
    x         = SlicesChain(side, (PetscBool)h->steep, x, at, last);
    inside    = Spmv8Mul(SlicesValues(at), SlicesShift(side, x, last));
    at->value = SlicesFurther(at, 8);
  }
  last = SlicesPut(side, at, h, rows, p->x + r, x, lane);
  if (h->list) inside = Spmv8Add(inside, Spmv8Load(lane));
  inside = Spmv8Add(inside, outside);
  if (p->before) Spmv8Put(p->before + r, Spmv8Add(v, inside), rows, PETSC_FALSE);
  if (p->product) Spmv8Put(p->product + r, SlicesLess(Spmv8Zero(), inside), rows, PETSC_FALSE);
  return last;
}

/* A pass; plain: x = S in - T x, or in - T x */
SPMV_INLINE void SlicesPass(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, PetscBool plain, PetscBool scale,
                            PetscBool floats)
{
  const SpmvSlicesStorage  *storage = (const SpmvSlicesStorage *)t->storage;
  const SpmvSlicesTriangle *h       = &storage->triangle[side];
  const PetscScalar        *in = p->in, *diagonal = storage->diagonal;
  PetscScalar              *x      = p->x;
  const PetscInt            slices = SpmvSlicesCount(t->n);
  SlicesAt                  at     = {(const char *)h->value, h->place, h->index, floats};
  const char               *next   = SlicesFurther(&at, h->nagain);
  Spmv8                     last   = Spmv8Zero();

  for (PetscInt z = 0; z < slices; z++) {
    const SpmvSlice *slice = &h->slice[z];
    const PetscInt   r = SpmvSlicesRow(slices, side, z), rows = PetscMin(8, t->n - r);
    Spmv8            v = SlicesLoad(in + r, rows);

    at.value = slice->again ? (const char *)h->value : next;
    if (scale) v = Spmv8Mul(v, SlicesLoad(diagonal + r, rows));
    if (!plain) {
      last = SlicesGeneral(side, p, &at, slice, r, rows, v, last);
      if (!slice->again) next = at.value;
      continue;
    }
    v = SlicesOutside(&at, slice, x + r, v);
    if (slice->chain) {
      v        = SlicesChain(side, (PetscBool)slice->steep, v, &at, last);
      at.value = SlicesFurther(&at, 8);
    }
    last = SlicesPut(side, &at, slice, rows, x + r, v, NULL);
    if (!slice->again) next = at.value;
  }
}

  #define SLICES_PASS(side) \
    do { \
      if (!SpmvPassIsPlain(p)) SlicesPass(t, side, p, PETSC_FALSE, p->scale, floats); \
      else if (p->scale) SlicesPass(t, side, p, PETSC_TRUE, PETSC_TRUE, floats); \
      else SlicesPass(t, side, p, PETSC_TRUE, PETSC_FALSE, floats); \
    } while (0)

SPMV_INLINE void SlicesPassOf(const SpmvTriangles *t, SpmvTriangleSide side, const SpmvPass *p, PetscBool floats)
{
  if (side == SPMV_LOWER) SLICES_PASS(SPMV_LOWER);
  else SLICES_PASS(SPMV_UPPER);
}

SPMV_INLINE void SlicesProduct(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y,
                               PetscBool floats)
{
  const SpmvSlicesTriangle *h      = &((const SpmvSlicesStorage *)t->storage)->triangle[side];
  const PetscInt            slices = SpmvSlicesCount(t->n);
  SlicesAt                  at     = {(const char *)h->value, h->place, h->index, floats};
  const char               *next   = SlicesFurther(&at, h->nagain);
  Spmv8                     last   = Spmv8Zero();

  for (PetscInt z = 0; z < slices; z++) {
    const SpmvSlice *slice = &h->slice[z];
    const PetscInt   r = SpmvSlicesRow(slices, side, z), rows = PetscMin(8, t->n - r);
    const Spmv8      v       = SlicesLoad(x + r, rows);
    PetscScalar      lane[8] = {0};
    Spmv8            s;

    at.value = slice->again ? (const char *)h->value : next;
    s        = SlicesOutside(&at, slice, x + r, Spmv8Zero());
    if (slice->chain) {
      s        = Spmv8Fma(SlicesValues(&at), SlicesShift(side, v, last), s);
      at.value = SlicesFurther(&at, 8);
    }
    last = v;
    if (slice->list) {
      SlicesList(&at, slice, x + r, lane, NULL);
      s = Spmv8Add(s, Spmv8Load(lane));
    }
    Spmv8Put(y + r, SlicesLess(Spmv8Zero(), s), rows, PETSC_FALSE);
    if (!slice->again) next = at.value;
  }
}

SPMV_INLINE void SlicesProductOf(const SpmvTriangles *t, SpmvTriangleSide side, const PetscScalar *x, PetscScalar *y,
                                 PetscBool floats)
{
  if (side == SPMV_LOWER) SlicesProduct(t, SPMV_LOWER, x, y, floats);
  else SlicesProduct(t, SPMV_UPPER, x, y, floats);
}

SPMV_PASSES_DEFINE(SlicesPassOf, SlicesProductOf)

extern void SPMV_ISA_NAME(SpmvSlicesValues)(const SpmvTrianglesSource *s, SpmvSlicesStorage *storage, PetscInt *bad);

const SpmvSlicesKernels SPMV_ISA_NAME(SpmvSlicesKernels) = {{SPMV_PASSES}, SPMV_ISA_NAME(SpmvSlicesValues)};
#endif
