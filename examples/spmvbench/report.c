/*
  report.c - table, CSV, summary

  Rates and ratios are those of the median time: gflops 2 nnz (8 nnz if complex), gbs the storage's bytes with x and y
  once, gbs_csr those of AIJ's storage with x and y once, read_bw_fraction gbs over the fastest reading of as many bytes,
  ratio_to_aij and ratio_to_best_petsc the time of aij, or of the fastest of PETSc's types, over that of the type.

  eta_minus and eta_plus are the memory efficiencies of Koza et al. (SIAM J. Sci. Comput. 36(2), 2014, section 4): the bytes
  of AIJ's storage, y once and x uncached (once for each nonzero: minus) or fully cached (once: plus), over the time and the
  fastest reading of as many bytes as the type moves. The paper has the bandwidth that the maker of its devices states
  instead. The same bytes count for every type, so eta_plus is gbs_csr over that reading, and above 1 for a type that stores
  less than AIJ; eta_minus above eta_plus, which it always is but for empty columns, says how much of x the caches saved.

  build_s is how much longer a Mat's first product takes. Of our types choose_s and make_s are the library's own times of its
  two parts, and make_predicted_s is what the estimate said of the second one, if the plan was chosen by estimate.
*/
#include "spmvbench.h"
#include <math.h>
#include <string.h>

/* BenchSummary: one type over all matrices */
typedef struct {
  char      spec[BENCH_SPEC];
  PetscBool ours;
  PetscInt  matrices, wrong;    /* timed; with a wrong product */
  double    log_aij, log_petsc; /* sums of the ratios' logarithms */
  double    least_aij, least_petsc;
  char      worst_aij[64], worst_petsc[64]; /* names of those matrices */
} BenchSummary;

static struct {
  FILE         *csv;
  PetscInt      count, room;
  BenchSummary *types;
} Report;

/* Opens the CSV, unless the name is empty; ok <- whether it can be written */
PetscErrorCode BenchReportOpen(const char file[], PetscBool *ok)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(&Report, sizeof(Report)));
  *ok = PETSC_TRUE;
  if (!file[0]) PetscFunctionReturn(PETSC_SUCCESS);
  Report.csv = fopen(file, "w");
  *ok        = (PetscBool) !!Report.csv;
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  fprintf(Report.csv, "matrix,rows,cols,nnz,type,backend,plan,threads,ranks,bytes,build_s,min_s,median_s,gflops,gbs,gbs_csr,read_"
                      "bw_fraction,ratio_to_aij,ratio_to_best_petsc,error,eta_minus,eta_plus,choose_s,make_s,make_predicted_s\n");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of a product; NaN if none was timed */
double BenchMedian(const BenchType *t, PetscInt rounds)
{
  return t->A && rounds ? BenchMiddle(t->times, rounds) : NAN;
}

static PetscErrorCode BenchSummaryAdd(const BenchMatrix *M, const BenchType *t, double to_aij, double to_petsc)
{
  BenchSummary *s = NULL;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < Report.count; k++) {
    if (!strcmp(Report.types[k].spec, t->spec)) s = &Report.types[k];
  }
  if (!s) {
    if (Report.count == Report.room) {
      Report.room = 2 * Report.room + 16;
      PetscCall(PetscRealloc((size_t)Report.room * sizeof(*Report.types), &Report.types));
    }
    s = &Report.types[Report.count++];
    PetscCall(PetscMemzero(s, sizeof(*s)));
    PetscCall(PetscStrncpy(s->spec, t->spec, sizeof(s->spec)));
    s->ours      = t->ours;
    s->least_aij = s->least_petsc = INFINITY;
  }
  if (!t->pass) s->wrong++;
  if (isnan(to_aij) || isnan(to_petsc)) PetscFunctionReturn(PETSC_SUCCESS);
  s->matrices++;
  s->log_aij += log(to_aij);
  s->log_petsc += log(to_petsc);
  if (to_aij < s->least_aij) PetscCall(PetscStrncpy(s->worst_aij, M->name, sizeof(s->worst_aij)));
  if (to_petsc < s->least_petsc) PetscCall(PetscStrncpy(s->worst_petsc, M->name, sizeof(s->worst_petsc)));
  s->least_aij   = PetscMin(s->least_aij, to_aij);
  s->least_petsc = PetscMin(s->least_petsc, to_petsc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* BenchRates: what follows from a type's median time, see above; NaN where nothing was timed */
typedef struct {
  double median, least, build, gflops, gbs, gbs_csr, fraction, to_aij, to_petsc, eta_minus, eta_plus;
} BenchRates;

static BenchRates BenchRatesCompute(const BenchMatrix *M, PetscInt rounds, double aij, double petsc, const BenchType *t)
{
  const double median = BenchMedian(t, rounds), nz = (double)M->i[M->m];
  const double vectors = (double)sizeof(PetscScalar) * ((double)M->m + (double)M->n),
               csr     = (double)(sizeof(PetscScalar) + sizeof(PetscInt)) * nz + (double)sizeof(PetscInt) * (double)M->m;
  const double gbs     = (t->bytes + vectors) / median / 1e9;
  const double read    = t->read > 0 ? t->read : NAN; /* not measured where kernels of a device are */

  return (BenchRates){
    .median    = median,
    .least     = isnan(median) ? NAN : t->times[0], /* of a type that failed there are none */
    .build     = rounds ? PetscMax(0, t->first - median) : NAN,
    .gflops    = 2 * PETSC_FLOPS_PER_OP * nz / median / 1e9,
    .gbs       = gbs,
    .gbs_csr   = (csr + vectors) / median / 1e9,
    .fraction  = gbs * 1e9 / read,
    .to_aij    = aij / median,
    .to_petsc  = petsc / median,
    .eta_minus = (csr + (double)sizeof(PetscScalar) * ((double)M->m + nz)) / median / read,
    .eta_plus  = (csr + vectors) / median / read,
  };
}

static void TableHead(PetscInt rounds, int width)
{
  printf("  %-*s %7s", width, "", "bytes");
  if (rounds)
    printf(" %8s %10s %10s %7s %7s %7s %7s %7s %7s", "build", "min", "median", "", "", "GB/s", "of read", "times", "times");
  printf("\n  %-*s %7s", width, "type", "per nnz");
  if (rounds)
    printf(" %8s %10s %10s %7s %7s %7s %7s %7s %7s", "products", "us", "us", "Gflop/s", "GB/s", "as csr", "bandw.", "aij",
           "best");
  printf(" %8s", "error");
  if (rounds) printf(" %7s %7s", "eta-", "eta+");
  printf("       plan\n");
}

static void TableLine(const BenchMatrix *M, PetscInt rounds, const BenchRates *r, const BenchType *t, int width)
{
  printf("  %-*s %7.2f", width, t->spec, t->bytes / (double)M->i[M->m]);
  if (rounds)
    printf(" %8.1f %10.2f %10.2f %7.2f %7.1f %7.1f %7.2f %7.2f %7.2f", r->build / r->median, r->least * 1e6, r->median * 1e6,
           r->gflops, r->gbs, r->gbs_csr, r->fraction, r->to_aij, r->to_petsc);
  printf(" %8.2g", t->error);
  if (rounds) printf(" %7.2f %7.2f", r->eta_minus, r->eta_plus);
  printf(" %s%s%s\n", t->pass ? "PASS" : "FAIL", t->plan[0] ? "  " : "", t->plan);
}

/* A cell of the CSV; nothing if the number is not known */
static void CsvNumber(const char format[], double value)
{
  fputc(',', Report.csv);
  if (!isnan(value)) fprintf(Report.csv, format, value);
}

static void CsvLine(const BenchMatrix *M, const BenchRun *run, const BenchRates *r, const BenchType *t)
{
  fprintf(Report.csv, "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%s,%s,%" PetscInt_FMT ",%d,%.0f", M->name,
          M->m, M->n, M->i[M->m], t->spec, t->backend, t->plan, t->threads, (int)run->ranks, t->bytes);
  CsvNumber("%.3e", r->build);
  CsvNumber("%.6e", r->least);
  CsvNumber("%.6e", r->median);
  CsvNumber("%.4f", r->gflops);
  CsvNumber("%.4f", r->gbs);
  CsvNumber("%.4f", r->gbs_csr);
  CsvNumber("%.4f", r->fraction);
  CsvNumber("%.4f", r->to_aij);
  CsvNumber("%.4f", r->to_petsc);
  CsvNumber("%.4g", t->error);
  CsvNumber("%.4f", r->eta_minus);
  CsvNumber("%.4f", r->eta_plus);
  CsvNumber("%.3e", run->rounds && t->ours ? t->choosing : NAN);
  CsvNumber("%.3e", run->rounds && t->ours ? t->making : NAN);
  CsvNumber("%.3e", run->rounds && t->predicted > 0 ? t->predicted : NAN);
  fputc('\n', Report.csv);
}

PetscErrorCode BenchReportMatrix(const BenchMatrix *M, const BenchRun *run, PetscInt count, const BenchType types[])
{
  const double aij = run->petsc == BENCH_PETSC_NONE ? NAN : BenchMedian(&types[0], run->rounds); /* it comes first, see types.c */
  double       petsc = NAN;
  int          width = 4;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++) {
    if (!types[k].ours && !types[k].peer) petsc = fmin(petsc, BenchMedian(&types[k], run->rounds)); /* fmin() passes over NaN */
    width = PetscMax(width, (int)strlen(types[k].spec));
  }
  PetscCall(BenchProgressClear());
  if (run->brief && Report.count) printf("\n"); /* it is not the first */
  printf("%s: %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " nonzeros", M->name, M->m, M->n, M->i[M->m]);
  if (run->rounds) printf(", %" PetscInt_FMT " rounds", run->rounds);
  printf("\n");
  if (run->brief) PetscCall(BenchBriefPrint(M, run, count, types));
  else TableHead(run->rounds, width);
  for (PetscInt k = 0; k < count; k++) {
    const BenchRates r = BenchRatesCompute(M, run->rounds, aij, petsc, &types[k]);

    if (!types[k].A) continue;
    if (!run->brief) TableLine(M, run->rounds, &r, &types[k], width);
    if (Report.csv) CsvLine(M, run, &r, &types[k]);
    PetscCall(BenchSummaryAdd(M, &types[k], r.to_aij, r.to_petsc));
  }
  fflush(stdout);
  if (Report.csv) fflush(Report.csv);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void BenchSummaryPrint(const BenchSummary *s, int width)
{
  const double n = (double)s->matrices;

  printf("  %-*s %8" PetscInt_FMT, width, s->spec, s->matrices);
  if (s->matrices)
    printf(" %9.3f %6.2f  %-30s %9.3f %6.2f  %s", exp(s->log_aij / n), s->least_aij, s->worst_aij, exp(s->log_petsc / n),
           s->least_petsc, s->worst_petsc);
  if (s->wrong) printf("  WRONG on %" PetscInt_FMT, s->wrong);
  printf("\n");
}

/* Prints the summary, if it is asked for, our types last, and closes the CSV */
PetscErrorCode BenchReportClose(PetscBool summary)
{
  int       width = 4;
  PetscBool timed = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < Report.count; k++) timed = (PetscBool)(timed || (summary && Report.types[k].matrices));
  for (PetscInt k = 0; k < Report.count; k++) width = PetscMax(width, (int)strlen(Report.types[k].spec));
  if (timed)
    printf(
      "\nsummary: times faster than aij, and than the fastest of PETSc's; geometric means over the matrices, and the worst\n");
  if (timed) printf("  %-*s %8s %9s %6s  %-30s %9s %6s\n", width, "type", "matrices", "times aij", "worst", "", "best", "worst");
  for (int ours = 0; ours < 2; ours++) {
    for (PetscInt k = 0; k < Report.count; k++) {
      if (timed && Report.types[k].ours == (PetscBool)ours) BenchSummaryPrint(&Report.types[k], width);
    }
  }
  if (Report.csv)
    PetscCheck(!fclose(Report.csv), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
               "the file of -csv was not written completely: is the disk full?");
  PetscCall(PetscFree(Report.types));
  PetscFunctionReturn(PETSC_SUCCESS);
}
