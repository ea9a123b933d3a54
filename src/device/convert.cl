/*
  convert.cl - columns and values of rows that lie side by side in strips, made on a device from CSR's (convert.c)

  Of a strip, lane l of a row has the row's entries l, l + lanes, ..., one in each step: with `side` rows side by side, as many as 32
  work items have, first their lane 0, then their lane 1, and so on, then the next rows. A step has height x lanes elements, and a
  work item its place in all steps of its strip. Where no entry is, 0 is stored. A strip is first, column, base as x, y, z of an int4:
  its first element and that of its columns, in units of `unit` elements; columns are ushort from base on, or, where base is
  negative, int from -1 - base on.

    CONVERT_GROUP  work items of a work group

  All arrays are what the host would have made, to the last bit.
*/

/* The place of a work item in a strip: it has none if there are no steps */
typedef struct {
  size_t value, column;  /* its first elements, ... */
  size_t width;          /* ... and how far the next ones are: elements of a step */
  size_t first;          /* the first of its entries in CSR, which are `lanes` apart */
  int    base;           /* of the strip */
  int    steps, entries; /* of the strip; of the work item */
} Place;

/* What a row's number of entries is stored as: so many bytes */
INLINE int Length(GLOBAL const uchar *lengths, int bytes, size_t row)
{
  if (bytes == 1) return (int)lengths[row];
  return bytes == 2 ? (int)((GLOBAL const ushort *)lengths)[row] : ((GLOBAL const int *)lengths)[row];
}

/* The place of work item number `item` */
INLINE Place PlaceOf(size_t item, GLOBAL const int4 *strips, GLOBAL const uchar *lengths, GLOBAL const int *starts, int bytes,
                     int nstrips, int nrows, int height, int lanes, int unit, uint end)
{
  const size_t width = (size_t)(height * lanes), s = item / width;
  const int    at = (int)(item % width), side = height < 32 / lanes ? height : 32 / lanes, bundle = side * lanes;
  const int    lane = at % bundle / side;
  const size_t row  = s * (size_t)height + (size_t)(at / bundle * side + at % side);
  Place        p;

  p.width = width;
  p.value = p.column = p.first = 0;
  p.base = p.steps = p.entries = 0;
  if (s < (size_t)nstrips) {
    const int4 strip = strips[s];
    const uint next  = s + 1 < (size_t)nstrips ? (uint)strips[s + 1].x : end;

    p.value  = (size_t)(uint)strip.x * (size_t)unit + (size_t)at;
    p.column = (size_t)(uint)strip.y * (size_t)unit + (size_t)at;
    p.base   = strip.z;
    p.steps  = (int)((size_t)(next - (uint)strip.x) * (size_t)unit / width);
    if (row < (size_t)nrows) {
      p.entries = (Length(lengths, bytes, row) + lanes - 1 - lane) / lanes;
      p.first   = (size_t)starts[row] + (size_t)lane;
    }
  }
  return p;
}

/* The columns, or, where these are given, their numbers */
KERNEL(CONVERT_GROUP)
void convert_columns(GLOBAL const INDEX *RESTRICT columns, GLOBAL const int *RESTRICT numbers, GLOBAL const int4 *RESTRICT strips,
                     GLOBAL const uchar *RESTRICT lengths, GLOBAL const int *RESTRICT starts, GLOBAL ushort *RESTRICT narrow,
                     GLOBAL int *RESTRICT wide, int bytes, int nstrips, int nrows, int height, int lanes, int unit, int end)
{
  const Place p   = PlaceOf(GLOBAL_ID, strips, lengths, starts, bytes, nstrips, nrows, height, lanes, unit, (uint)end);
  const int   low = p.base >= 0 ? p.base : -1 - p.base;

  for (int k = 0; k < p.steps; k++) {
    const size_t place  = p.column + (size_t)k * p.width;
    int          column = 0;

    if (k < p.entries) {
      column = (int)columns[p.first + (size_t)k * (size_t)lanes];
      column = (numbers ? numbers[column] : column) - low;
    }
    if (p.base >= 0) narrow[place] = (ushort)column;
    else wide[place] = column;
  }
}

KERNEL(CONVERT_GROUP)
void convert_values(GLOBAL const SCALAR *RESTRICT entries, GLOBAL const int4 *RESTRICT strips,
                    GLOBAL const uchar *RESTRICT lengths, GLOBAL const int *RESTRICT starts, GLOBAL SCALAR *RESTRICT values,
                    int bytes, int nstrips, int nrows, int height, int lanes, int unit, int end)
{
  const Place p = PlaceOf(GLOBAL_ID, strips, lengths, starts, bytes, nstrips, nrows, height, lanes, unit, (uint)end);

  for (int k = 0; k < p.steps; k++)
    values[p.value + (size_t)k * p.width] = k < p.entries ? entries[p.first + (size_t)k * (size_t)lanes] : ZERO;
}
