/*
  brief.c - what a user asks of a matrix: which type is best, how much faster, for how much memory, and what is typed

  Times are medians. The best type is the one of least time; where spmv is within NOISE of it, spmv is taken, since it
  chooses for other matrices as well, and where aij is, nothing is worth typing. Set-up is the first product of a type less
  a later one. PETSc's own sell and baij are instead of aij's rows, ours beside them, but for csradaptive, which reads these.
*/
#include "spmvbench.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "petscspmv.h"

#define NOISE 1.03

/* Does another format serve than the type's name says? spmv chooses one, and sbccoo does for a matrix that is not symmetric */
static PetscBool ChoosesFormat(const BenchType *t)
{
  return (PetscBool)!strncmp(t->plan, "format=", 7);
}

/* The format that multiplies: where one was chosen, the plan begins with it */
static const char *FormatName(const BenchType *t, char name[BENCH_SPEC])
{
  const char *start = ChoosesFormat(t) ? t->plan + 7 : t->spec;

  (void)snprintf(name, BENCH_SPEC, "%.*s", (int)strcspn(start, " :"), start);
  return name;
}

/* Bytes that the type adds to aij's rows, which take `rows` */
static double BytesAdded(const BenchType *t, double rows)
{
  char        name[BENCH_SPEC];
  const char *format = FormatName(t, name);

  if (!strcmp(format, "csradaptive")) return t->bytes - rows;
  if (t->ours) return strcmp(format, "aij") ? t->bytes : 0;
  return !strncmp(format, "aij", 3) && strcmp(format, "aijsell") ? t->bytes - rows : t->bytes;
}

/* The type to take, see above; faster is the fastest of PETSc's own */
static const BenchType *BestType(const BenchRun *run, PetscInt count, const BenchType types[], const BenchType **petsc)
{
  const BenchType *best = &types[0], *spmv = NULL;

  *petsc = &types[0];
  for (PetscInt k = 0; k < count; k++) {
    const BenchType *t    = &types[k];
    const double     time = BenchMedian(t, run->rounds);

    if (isnan(time) || !t->pass) continue;
    if (time < BenchMedian(best, run->rounds)) best = t;
    if (!t->ours && time < BenchMedian(*petsc, run->rounds)) *petsc = t;
    if (!strcmp(t->spec, MATSPMV)) spmv = t;
  }
  if (BenchMedian(&types[0], run->rounds) <= NOISE * BenchMedian(best, run->rounds)) return &types[0];
  return spmv && BenchMedian(spmv, run->rounds) <= NOISE * BenchMedian(best, run->rounds) ? spmv : best;
}

/* The file that the library was loaded from */
static const char *LibraryPath(char path[PETSC_MAX_PATH_LEN])
{
  Dl_info info;

  if (!dladdr((void *)(uintptr_t)SpmvInitializePackage, &info) || !realpath(info.dli_fname, path)) return "libpetscspmv.so";
  return path;
}

/* What is typed to get a type: bccoo, or baij:block_size=3 */
static void LinePrint(const BenchType *t, PetscInt threads)
{
  char        path[PETSC_MAX_PATH_LEN];
  const char *option = t->spec + strcspn(t->spec, ":");

  printf("  type:    ./app");
  if (t->ours) printf(" -dll_append %s", LibraryPath(path));
  printf(" -mat_type %.*s", (int)(option - t->spec), t->spec);
  while (*option++) {
    const int name = (int)strcspn(option, "="), value = (int)strcspn(option + name, ":") - 1;

    printf(" -%s%.*s %.*s", strncmp(option, "mat_", 4) ? "mat_" : "", name, option, value, option + name + 1);
    option += name + 1 + value;
  }
  if (t->ours && threads > 1) printf(" -mat_spmv_threads %" PetscInt_FMT, threads);
  printf("\n           (-dm_mat_type where a DM makes the matrix)\n");
}

static void TablePrint(const BenchMatrix *M, const BenchRun *run, PetscInt count, const BenchType types[])
{
  const double aij = BenchMedian(&types[0], run->rounds), rows = types[0].bytes;
  char         name[BENCH_SPEC], shown[2 * BENCH_SPEC];

  printf("  %-22s %8s %12s %10s %10s\n", "", "times", "set-up,", "MB that a", "MB beside");
  printf("  %-22s %8s %12s %10s %10s\n", "", "faster", "products", "product", "aij's");
  printf("  %-22s %8s %12s %10s %10s\n", "type", "than aij", "by aij", "reads", "rows");
  for (PetscInt k = 0; k < count; k++) {
    const BenchType *t = &types[k];

    if (!t->A) continue;
    (void)snprintf(shown, sizeof(shown), ChoosesFormat(t) ? "%s: %s" : "%s", t->spec, FormatName(t, name));
    printf("  %-22s %8.2f %12.1f %10.3f ", shown, aij / BenchMedian(t, run->rounds),
           PetscMax(0, t->first - BenchMedian(t, run->rounds)) / aij, 1e-6 * t->bytes);
    if (strstr(t->spec, "sell") == t->spec || strstr(t->spec, "baij") == t->spec) printf("%10s", "instead");
    else printf("%10.3f", 1e-6 * BytesAdded(t, rows));
    printf("%s\n", t->pass ? "" : "  a product is WRONG");
  }
}

PetscErrorCode BenchBriefPrint(const BenchMatrix *M, const BenchRun *run, PetscInt count, const BenchType types[])
{
  const BenchType *petsc, *best = BestType(run, count, types, &petsc);
  const double     aij = BenchMedian(&types[0], run->rounds), time = BenchMedian(best, run->rounds);
  const double     setup = PetscMax(0, best->first - time) / aij;
  char             name[BENCH_SPEC];

  PetscFunctionBegin;
  TablePrint(M, run, count, types);
  if (best == &types[0]) {
    printf("  best:    aij: nothing else is faster\n  type:    nothing\n");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  printf("  best:    %s", best->spec);
  if (ChoosesFormat(best)) printf(", which chooses %s", FormatName(best, name));
  printf(": %.2f times faster than aij", aij / time);
  if (best->ours && petsc != &types[0])
    printf("; of PETSc's own types %s is the fastest: %.2f", petsc->spec, aij / BenchMedian(petsc, run->rounds));
  printf("\n  memory:  a product reads %.3f MB instead of %.3f", 1e-6 * best->bytes, 1e-6 * types[0].bytes);
  if (best->ours) printf("; %.3f MB are added to aij's rows", 1e-6 * BytesAdded(best, types[0].bytes));
  printf("\n  set-up:  as long as %.1f products by aij; %.0f products make up for it\n", setup, ceil(setup / (1 - time / aij)));
  LinePrint(best, best->threads);
  PetscFunctionReturn(PETSC_SUCCESS);
}
