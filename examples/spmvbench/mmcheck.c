/*
  mmcheck.c - Matrix Market text: is it right, and if not, in which line?

  CHOLMOD, which reads the matrix afterwards, names no lines and takes much that is wrong: an index 0 (it then counts from
  0 in the whole file), more entries than announced, values where the header says pattern. So every line is looked at
  before. The format: Boisvert, Pozo, Remington, The Matrix Market Exchange Formats, NISTIR 5935, 1996.
*/
#include "spmvbench.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MM_LINE_MAX 1024 /* characters of a line, at most: the format's limit, and CHOLMOD's */

/* A position in the text */
typedef struct {
  char      *next; /* first character of the next line */
  char      *end;
  PetscInt64 line; /* number of the line that was taken last, from 1 */
} MMCursor;

/*
  Takes the next line that is neither blank nor a comment; NULL at the end. Its end is a newline or the 0 of the text.
  A comment longer than CHOLMOD's buffer, which would take its tail for data, is blanked
*/
static const char *MMNextLine(MMCursor *c)
{
  while (c->next < c->end) {
    char *line = c->next, *p = line, *newline = memchr(line, '\n', (size_t)(c->end - line));

    c->next = newline ? newline + 1 : c->end;
    c->line++;
    if (*line == '%') {
      if (c->next - line > MM_LINE_MAX) memset(line, ' ', strcspn(line, "\n"));
      continue;
    }
    while (p < c->next && isspace((unsigned char)*p)) p++;
    if (p < c->next) return line;
  }
  return NULL;
}

static PetscErrorCode MMWrong(const MMText *t, const MMCursor *c, char reason[], const char format[], ...)
  PETSC_ATTRIBUTE_FORMAT(4, 5);

static PetscErrorCode MMWrong(const MMText *t, const MMCursor *c, char reason[], const char format[], ...)
{
  va_list arguments;
  int     used;

  PetscFunctionBegin;
  used = snprintf(reason, BENCH_REASON, "%s:%lld: ", t->file, (long long)c->line);
  va_start(arguments, format);
  if (used < BENCH_REASON) (void)vsnprintf(reason + used, (size_t)(BENCH_REASON - used), format, arguments);
  va_end(arguments);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of a line: `integers` whole ones, then up to `reals` others. How many were found, -1 if something else was */
static int MMNumbers(const char *line, int integers, long long whole[], int reals, double real[])
{
  char *end;
  int   found = 0;

  for (;; line = end) {
    while (*line != '\n' && isspace((unsigned char)*line)) line++;
    if (*line == '\n' || !*line) return found;
    if (found < integers) {
      errno        = 0;
      whole[found] = strtoll(line, &end, 10);
      if (errno) return -1;
    } else if (found < integers + reals) {
      real[found - integers] = strtod(line, &end);
    } else return found + 1;
    if (end == line || (*end && !isspace((unsigned char)*end))) return -1;
    found++;
  }
}

/* The part of a line that a reason quotes */
static int MMQuote(const char *line)
{
  return (int)PetscMin(strcspn(line, "\r\n"), 40);
}

static PetscErrorCode MMCheckBanner(MMText *t, MMCursor *c, PetscBool *ok, char reason[])
{
  char   banner[MM_LINE_MAX + 1], word[5][MM_LINE_MAX + 1];
  size_t length;
  int    found;

  PetscFunctionBegin;
  *ok     = PETSC_FALSE;
  c->line = 1;
  if (strncmp(t->text, "%%MatrixMarket", 14)) {
    PetscCall(MMWrong(t, c, reason, "not a Matrix Market file: it does not begin with %%%%MatrixMarket"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  length = strcspn(t->text, "\n");
  if (length >= MM_LINE_MAX) {
    PetscCall(MMWrong(t, c, reason, "the line is longer than %d characters", MM_LINE_MAX));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  memcpy(banner, t->text, length);
  banner[length] = 0;
  found          = sscanf(banner, "%s %s %s %s %s", word[0], word[1], word[2], word[3], word[4]);
  if (found < 5) {
    PetscCall(
      MMWrong(t, c, reason, "the first line has %d words instead of five: %%%%MatrixMarket matrix FORMAT FIELD SYMMETRY", found));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  t->array          = (PetscBool)!strcasecmp(word[2], "array");
  t->complex_values = (PetscBool)!strcasecmp(word[3], "complex");
  t->pattern        = (PetscBool)!strcasecmp(word[3], "pattern");
  t->symmetry       = !strcasecmp(word[4], "general")          ? 'g'
                      : !strcasecmp(word[4], "symmetric")      ? 's'
                      : !strcasecmp(word[4], "skew-symmetric") ? 'k'
                      : !strcasecmp(word[4], "hermitian")      ? 'h'
                                                               : 0;
  if (strcasecmp(word[1], "matrix")) PetscCall(MMWrong(t, c, reason, "the object is '%.40s', not a matrix", word[1]));
  else if (!t->array && strcasecmp(word[2], "coordinate"))
    PetscCall(MMWrong(t, c, reason, "the format is '%.40s', neither coordinate nor array", word[2]));
  else if (!t->complex_values && !t->pattern && strcasecmp(word[3], "real") && strcasecmp(word[3], "integer"))
    PetscCall(MMWrong(t, c, reason, "the field is '%.40s', none of real, integer, complex, pattern", word[3]));
  else if (!t->symmetry)
    PetscCall(MMWrong(t, c, reason, "the symmetry is '%.40s', none of general, symmetric, skew-symmetric, hermitian", word[4]));
  else if (t->pattern && (t->array || (t->symmetry != 'g' && t->symmetry != 's')))
    PetscCall(MMWrong(t, c, reason, "a pattern has no values, so it cannot be %s", t->array ? "an array" : word[4]));
  else *ok = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MMCheckSizes(MMText *t, MMCursor *c, PetscBool *ok, char reason[])
{
  const char *line    = MMNextLine(c);
  const int   wanted  = t->array ? 2 : 3;
  long long   size[3] = {0, 0, 0};

  PetscFunctionBegin;
  *ok = PETSC_FALSE;
  if (!line) {
    PetscCall(MMWrong(t, c, reason, "the file ends before its sizes"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (MMNumbers(line, wanted, size, 0, NULL) != wanted || size[0] < 0 || size[1] < 0 || (!t->array && size[2] < 0)) {
    PetscCall(MMWrong(t, c, reason, "expected %s, found '%.*s'",
                      t->array ? "two sizes (rows, columns)" : "three sizes (rows, columns, entries)", MMQuote(line), line));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if ((double)size[0] * (t->array ? (double)size[1] : 1) > 1e18) {
    PetscCall(MMWrong(t, c, reason, "%lld rows and %lld columns are too many", size[0], size[1]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  t->rows = size[0];
  t->cols = size[1];
  if (t->symmetry != 'g' && t->rows != t->cols) { /* before entries are counted, by the square of its rows */
    PetscCall(MMWrong(t, c, reason, "%lld rows and %lld columns: only a general matrix need not be square", size[0], size[1]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!t->array) t->entries = size[2];
  else
    t->entries = t->symmetry == 'g'   ? t->rows * t->cols
                 : t->symmetry == 'k' ? t->rows * (t->rows - 1) / 2
                                      : t->rows * (t->rows + 1) / 2;
  *ok = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One entry: row, column (not of an array) and values. side: -1 below the diagonal, 0 on it, 1 above */
static PetscErrorCode MMCheckEntry(const MMText *t, const MMCursor *c, const char *line, int *side, PetscBool *ok, char reason[])
{
  const int integers = t->array ? 0 : 2, reals = t->pattern ? 0 : t->complex_values ? 2 : 1;
  long long index[2] = {1, 1};
  double    value[2] = {0, 0};
  int       found    = MMNumbers(line, integers, index, reals, value);

  PetscFunctionBegin;
  *ok   = PETSC_FALSE;
  *side = (index[0] < index[1]) - (index[0] > index[1]);
  if (c->next - line > MM_LINE_MAX) PetscCall(MMWrong(t, c, reason, "the line is longer than %d characters", MM_LINE_MAX));
  else if (found != integers + reals)
    PetscCall(MMWrong(t, c, reason, "expected %s%s, found '%.*s'", integers ? "row, column" : "",
                      t->pattern          ? ""
                      : t->complex_values ? (integers ? ", real and imaginary part" : "real and imaginary part")
                                          : (integers ? ", value" : "a value"),
                      MMQuote(line), line));
  else if (index[0] < 1 || (integers && index[0] > t->rows))
    PetscCall(MMWrong(t, c, reason, "row %lld is not in 1 to %lld", index[0], (long long)t->rows));
  else if (index[1] < 1 || (integers && index[1] > t->cols))
    PetscCall(MMWrong(t, c, reason, "column %lld is not in 1 to %lld", index[1], (long long)t->cols));
  else if (!isfinite(value[0]) || !isfinite(value[1]))
    PetscCall(MMWrong(t, c, reason, "'%.*s' is not finite", MMQuote(line), line));
  else if (t->symmetry == 'k' && integers && !*side)
    PetscCall(MMWrong(t, c, reason, "row %lld has an entry on its diagonal, where a skew-symmetric matrix has none", index[0]));
  else *ok = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks at the whole text. ok, or a reason with file and line; fields of t but file, text and length are set */
PetscErrorCode MMTextCheck(MMText *t, PetscBool *ok, char reason[])
{
  MMCursor    c     = {t->text, t->text + t->length, 0};
  PetscInt64  below = 0, above = 0; /* the first lines with an entry there */
  const char *line;

  PetscFunctionBegin;
  PetscCall(MMCheckBanner(t, &c, ok, reason));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  c.line = 0; /* the banner looks like a comment: it is passed over with them */
  PetscCall(MMCheckSizes(t, &c, ok, reason));
  for (PetscInt64 k = 0; k < t->entries && *ok; k++) {
    int side;

    line = MMNextLine(&c);
    if (!line) {
      PetscCall(MMWrong(t, &c, reason, "the file ends after %lld of %lld entries", (long long)k, (long long)t->entries));
      *ok = PETSC_FALSE;
      break;
    }
    PetscCall(MMCheckEntry(t, &c, line, &side, ok, reason));
    if (!*ok || t->symmetry == 'g') continue;
    if (side < 0 && !below) below = c.line;
    if (side > 0 && !above) above = c.line;
    if (below && above) {
      PetscCall(
        MMWrong(t, &c, reason,
                "an entry %s the diagonal, and line %lld has one %s it: a matrix that is not general gives one triangle only",
                side < 0 ? "below" : "above", (long long)(side < 0 ? above : below), side < 0 ? "above" : "below"));
      *ok = PETSC_FALSE;
    }
  }
  line = *ok ? MMNextLine(&c) : NULL;
  if (line) {
    PetscCall(MMWrong(t, &c, reason, "'%.*s' comes after the last of %lld entries", MMQuote(line), line, (long long)t->entries));
    *ok = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
