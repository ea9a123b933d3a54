/*
  wisdom.c - files of plans that were found by measuring, kept from one run to the next

  A file has lines "key | value", both text without '|' or line ends. The key has all that a choice depends on: library,
  instruction set, scalar and index width, processor, threads, what was asked for but for the time, the matrix; where a device
  takes part, its API, name, driver and compiler. Another key is a miss, so files may be copied and shared, and another program,
  another run, or another matrix with the same pattern, whose values are of the same kind, finds the value. The user's own file is
  read first, then the system's, which is never written.

  Nothing that happens to a file is an error: what cannot be read, or another user can have written, is a miss, what cannot be
  written is told by -info. Writers take turns by a lock beside the file, read it again, replace or add their line, write a file
  of another name, and rename it: readers see the old one or the new one.
*/
#include "tune.h"
#include "../sys/hash.h"
#include "../sys/paths.h"
#include "../sys/warn.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#define SPMV_WISDOM_SYSTEM "/etc/petscspmv/wisdom"
#define WISDOM_VERSION     5 /* of what lines mean: raised when formats, their knobs or keys change */

/* Splits "key | value\n" in place; 0 if the line is not of that form */
static int WisdomSplit(char line[], char **value)
{
  char *bar = strstr(line, " | ");
  char *end = strchr(line, '\n');

  if (!bar || !end) return 0;
  *bar   = 0;
  *end   = 0;
  *value = bar + 3;
  return **value && !strchr(*value, '|');
}

/* Goes through the good lines of a file: the first value of a key, "" if it has none; the other lines go to `out`, if given */
static int WisdomRead(const char file[], const char key[], char value[], size_t size, FILE *out)
{
  const char *why;
  FILE       *f = SpmvOpenTrusted(file, &why);
  char        line[SPMV_WISDOM_LINE], *v;
  int         good = 1;

  value[0] = 0;
  while (f && fgets(line, sizeof(line), f)) {
    if (line[0] == '#') { /* a comment of the user's, which may lack its end */
      good = good && (!out || fprintf(out, strchr(line, '\n') ? "%s" : "%s\n", line) > 0);
      continue;
    }
    if (!WisdomSplit(line, &v)) continue;
    if (strcmp(line, key)) good = good && (!out || fprintf(out, "%s | %s\n", line, v) > 0);
    else if (!value[0] && strlen(v) < size) strcpy(value, v);
  }
  if (f) fclose(f);
  return good;
}

/* The value kept for a key in the user's file ("" for none) or the system's; "" if neither has a good line for it */
void SpmvWisdomFind(const char file[], const char key[], char value[], size_t size)
{
  (void)WisdomRead(file, key, value, size, NULL);
  if (!value[0]) (void)WisdomRead(SPMV_WISDOM_SYSTEM, key, value, size, NULL);
}

/* 0, or errno of what failed; the old file is whole in either case */
static int WisdomReplace(const char file[], const char key[], const char value[])
{
  char  beside[PETSC_MAX_PATH_LEN + 32], old[SPMV_WISDOM_LINE];
  FILE *out = SpmvReplaceBegin(file, beside, sizeof(beside));

  if (!out) return errno;
  return SpmvReplaceEnd(
    out, (PetscBool)(WisdomRead(file, key, old, sizeof(old), out) && fprintf(out, "%s | %s\n", key, value) > 0), beside, file);
}

/* Waits for those who write at this moment; what is returned is to be closed. Without locks, as on some network disks, lines
   written at once may be lost, files not. One of another user, who might never give it back, is no lock */
static int WisdomLock(const char file[])
{
  char        lock[PETSC_MAX_PATH_LEN + 8];
  struct stat is;
  int         fd;

  snprintf(lock, sizeof(lock), "%s.lock", file);
  fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd >= 0 && !fstat(fd, &is) && !*SpmvDistrust(&is, geteuid())) (void)flock(fd, LOCK_EX);
  return fd;
}

/* Why a file is neither read nor replaced; "" if it counts or is not there */
static const char *WisdomDistrusted(const char file[])
{
  const char *why;
  FILE       *f = SpmvOpenTrusted(file, &why);

  if (f) (void)fclose(f);
  return why;
}

/* Keeps a value for a key in a file, "" for none; replaces the one that it has. A line that is too long is not kept */
PetscErrorCode SpmvWisdomAdd(const char file[], const char key[], const char value[])
{
  const char *why;
  int         fd, reason;

  PetscFunctionBegin;
  if (!file[0] || strlen(key) + strlen(value) + 5 > SPMV_WISDOM_LINE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!strpbrk(key, "|\n") && !strpbrk(value, "|\n"), PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "A line of wisdom has '|' in it: %s", key);
  why = WisdomDistrusted(file);
  if (*why) { /* what we do not read we do not replace */
    PetscCall(PetscInfo(NULL, "wisdom was not written to %s: %s\n", file, why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  fd     = WisdomLock(file);
  reason = WisdomReplace(file, key, value);
  if (fd >= 0) close(fd);
  if (reason) PetscCall(PetscInfo(NULL, "wisdom was not written to %s: %s\n", file, strerror(reason)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The processor's name, as the machine tells, without what a line of wisdom must not have */
static void WisdomProcessor(char name[61])
{
  FILE *f = fopen("/proc/cpuinfo", "r");
  char  line[256];

  strcpy(name, "unknown");
  while (f && fgets(line, sizeof(line), f)) {
    if (sscanf(line, "model name : %60[^|\n]", name) == 1) break;
  }
  if (f) (void)fclose(f);
}

/* Appends what a choice depends on besides, if it is not for the host alone */
static PetscErrorCode WisdomDevice(const SpmvTarget *target, const SpmvChoice *choice, char text[], size_t size)
{
  const size_t used = strlen(text);

  PetscFunctionBegin;
  if (choice->backend == SPMV_BACKEND_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvAppend(text, size, " %s %s %s, driver %s, compiler %s",
                       choice->backend == SPMV_BACKEND_DEVICE ? "device"
                       : choice->moves                        ? "auto, vectors move,"
                                                              : "auto",
                       target->api, target->info->name, target->info->driver, target->info->compiler));
  for (char *c = text + used; *c; c++) {
    if (*c == '|' || *c == '\n') *c = '/';
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Of matrices with one pattern, the formats that suit and what is left open of a plan tell those apart whose values need other
  storages: few or many, equal across the diagonal, nearly so, or not
*/
static PetscErrorCode WisdomValues(const SpmvRequest *q, const SpmvCSR *csr, uint64_t *hash)
{
  PetscFunctionBegin;
  *hash = 0;
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    const SpmvSide *side = SpmvFormatSide(SpmvCandidate[k], SPMV_BACKEND_HOST);
    SpmvPlan        plan = *SpmvAsked(q, k, SPMV_BACKEND_HOST);
    char            why[512];

    if (!side || !(q->allowed >> k & 1)) continue;
    PetscCall(SpmvSuits(k, csr, &plan, why, sizeof(why)));
    if (why[0]) continue;
    *hash = SpmvHash(*hash, &k, sizeof(k));
    if (side->resolve) PetscCall(side->resolve(csr, NULL, &plan));
    *hash = SpmvHash(*hash, plan.value, sizeof(plan.value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WisdomKey(const SpmvRequest *q, const SpmvTarget *target, const SpmvChoice *choice, PetscInt kind,
                                char text[], size_t size)
{
  const SpmvKey *key = &choice->key;
  SpmvIsa        isa;
  char           processor[61];
  uint64_t       asked = 0;

  PetscFunctionBegin;
  WisdomProcessor(processor);
  PetscCall(SpmvIsaGet(q->isa, &isa));
  asked = SpmvHash(asked, &q->allowed, sizeof(q->allowed));
  asked = SpmvHash(asked, &q->calls, sizeof(q->calls));
  asked = SpmvHash(asked, &q->skipped, sizeof(q->skipped));
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    if (!(q->allowed >> k & 1)) continue;
    for (PetscInt b = SPMV_BACKEND_HOST; b <= SPMV_BACKEND_DEVICE; b++) {
      const SpmvPlan *plan = SpmvAsked(q, k, b);

      if (choice->backend != SPMV_BACKEND_AUTO && choice->backend != b) continue;
      asked = SpmvHash(asked, &q->pinned[b][k], sizeof(q->pinned[b][k]));
      asked = SpmvHash(asked, plan->value, sizeof(plan->value));
      asked = SpmvHash(asked, plan->list, sizeof(plan->list));
    }
  }
  PetscCall(PetscSNPrintf(text, size,
                          "petscspmv %d %s %s int%d %s threads %" PetscInt_FMT " asked %016llx %s matrix %" PetscInt_FMT
                          " %" PetscInt_FMT " %" PetscInt_FMT " %016llx %016llx",
                          WISDOM_VERSION, SpmvIsaName(isa), PetscDataTypes[PETSC_SCALAR], (int)(8 * sizeof(PetscInt)), processor,
                          q->threads, (unsigned long long)asked, SpmvTuneKinds[kind], key->m, key->n, key->nz,
                          (unsigned long long)key->pattern, (unsigned long long)choice->values));
  PetscCall(WisdomDevice(target, choice, text, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The file that the user names, or the one in the cache folder */
static PetscErrorCode WisdomFile(const SpmvRequest *q, char file[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscStrncpy(file, q->wisdom, size));
  if (!file[0]) PetscCall(SpmvUserPath("XDG_CACHE_HOME", ".cache", "wisdom", file, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says once if nothing could be kept in the file that the user names, or what it has does not count. Our own folder is made */
PetscErrorCode SpmvWisdomLookFor(const SpmvRequest *q)
{
  static char said[PETSC_MAX_PATH_LEN];
  char        file[PETSC_MAX_PATH_LEN];
  const char *why;
  char       *end;

  PetscFunctionBegin;
  PetscCall(WisdomFile(q, file, sizeof(file)));
  if (!q->wisdom[0]) SpmvMakeFolders(file);
  if (!q->wisdom[0] || !strcmp(said, file)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(said, file, sizeof(said)));
  why = WisdomDistrusted(file);
  if (*why)
    PetscCall(SpmvWarn("wisdom is neither read from %s nor kept there: %s; give -mat_spmv_wisdom a file of your own", file, why));
  end = strrchr(file, '/');
  if (!end || end == file) PetscFunctionReturn(PETSC_SUCCESS);
  *end = 0;
  if (access(file, F_OK))
    PetscCall(SpmvWarn("wisdom is not kept, as there is no folder %s: make it by mkdir -p %s, or give -mat_spmv_wisdom a file in "
                       "another one",
                       file, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a value of wisdom the choice; one that is empty, not of the form, or does not suit the matrix as it is now is a miss */
static PetscErrorCode WisdomChoice(const SpmvRequest *q, const SpmvCSR *csr, const SpmvTarget *target, const char value[],
                                   SpmvChoice *choice)
{
  static const char device[] = "device ";
  const PetscInt    backend  = strncmp(value, device, strlen(device)) ? SPMV_BACKEND_HOST : SPMV_BACKEND_DEVICE;
  const SpmvSide   *side     = NULL;
  char              name[32], why[512];
  int               used = 0;
  double            measured, build;
  PetscInt          k;
  PetscBool         good;
  const SpmvPlan   *asked;
  SpmvPlan          resolved;
  SpmvOption        o;

  PetscFunctionBegin;
  if (choice->backend != SPMV_BACKEND_AUTO && choice->backend != backend) PetscFunctionReturn(PETSC_SUCCESS);
  if (backend == SPMV_BACKEND_DEVICE) value += strlen(device);
  if (sscanf(value, "%31s %lg %lg %n", name, &measured, &build, &used) != 3 || !(measured > 0) || !(build >= 0))
    PetscFunctionReturn(PETSC_SUCCESS);
  k = SpmvCandidateFind(name, strlen(name));
  if (k < SPMV_CANDIDATES && q->allowed >> k & 1) side = SpmvFormatSide(SpmvCandidate[k], backend);
  if (!side) PetscFunctionReturn(PETSC_SUCCESS);
  asked = SpmvAsked(q, k, backend);
  o     = (SpmvOption){.number = k, .plan = *asked, .measured = measured, .build = build};
  PetscCall(SpmvPlanRead(side, value + used, &o.plan, &good));
  if (!good) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt p = 0; p < side->nparams; p++) { /* what only users turn is as it was asked for: values of a pattern may differ */
    if (side->params[p].knob == SPMV_KNOB_USERS && !side->params[p].list) o.plan.value[p] = asked->value[p];
  }
  resolved = o.plan;
  PetscCall(SpmvSuits(k, csr, &o.plan, why, sizeof(why)));
  if (!why[0])
    PetscCall(SpmvResolve(side, csr, backend == SPMV_BACKEND_DEVICE ? target->info : NULL, &resolved, why, sizeof(why)));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  choice->best = o;
  choice->from = SPMV_FROM_WISDOM;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the choice if wisdom has one for this request and matrix, of the same SpmvTuneKind or a more patient one */
PetscErrorCode SpmvChoiceFromWisdom(const SpmvRequest *q, const SpmvCSR *csr, const SpmvTarget *target, SpmvChoice *choice)
{
  char file[PETSC_MAX_PATH_LEN], text[SPMV_WISDOM_LINE], value[SPMV_WISDOM_LINE];

  PetscFunctionBegin;
  PetscCall(WisdomFile(q, file, sizeof(file)));
  if (choice->backend != SPMV_BACKEND_DEVICE) PetscCall(WisdomValues(q, csr, &choice->values));
  for (PetscInt kind = SPMV_TUNE_PATIENT; kind >= q->kind && choice->from != SPMV_FROM_WISDOM; kind--) {
    PetscCall(WisdomKey(q, target, choice, kind, text, sizeof(text)));
    SpmvWisdomFind(file, text, value, sizeof(value));
    PetscCall(WisdomChoice(q, csr, target, value, choice));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvChoiceToWisdom(const SpmvTarget *target, const SpmvChoice *choice)
{
  const SpmvOption *o      = &choice->best;
  const SpmvFormat *format = SpmvCandidate[o->number];
  char              file[PETSC_MAX_PATH_LEN], text[SPMV_WISDOM_LINE], value[SPMV_WISDOM_LINE];

  PetscFunctionBegin;
  PetscCall(WisdomFile(&choice->request, file, sizeof(file)));
  PetscCall(WisdomKey(&choice->request, target, choice, choice->request.kind, text, sizeof(text)));
  PetscCall(PetscSNPrintf(value, sizeof(value), "%s%s %.6g %.6g ", o->plan.backend == SPMV_BACKEND_DEVICE ? "device " : "",
                          format->name, (double)o->measured, (double)o->build));
  PetscCall(SpmvPlanText(SpmvFormatSide(format, o->plan.backend), &o->plan, value, sizeof(value)));
  PetscCall(SpmvWisdomAdd(file, text, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
