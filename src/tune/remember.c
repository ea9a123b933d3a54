/*
  remember.c - choices found by measuring as lines of wisdom

  The key is all that a choice depends on: library, instruction set, scalar and index width, processor, threads, what was asked
  for, the matrix. So another program, another run, or another matrix with the same pattern finds it.
*/
#include "tune.h"
#include "../sys/hash.h"
#include <stdio.h>

#define REMEMBER_VERSION 3 /* of what lines mean: raised when formats, their knobs or keys change */

/* The processor's name, as the machine tells, without what a line of wisdom must not have */
static void RememberProcessor(char name[61])
{
  FILE *f = fopen("/proc/cpuinfo", "r");
  char  line[256];

  strcpy(name, "unknown");
  while (f && fgets(line, sizeof(line), f)) {
    if (sscanf(line, "model name : %60[^|\n]", name) == 1) break;
  }
  if (f) (void)fclose(f);
}

static PetscErrorCode RememberKey(const SpmvRequest *q, const SpmvKey *key, PetscInt kind, char text[], size_t size)
{
  const SpmvKernels *kernels;
  SpmvIsa            isa;
  char               processor[61];
  uint64_t           asked = 0;

  PetscFunctionBegin;
  RememberProcessor(processor);
  PetscCall(SpmvKernelsGet(&SpmvFormat_spmv, q->isa, &kernels, &isa));
  asked = SpmvHash(asked, &q->allowed, sizeof(q->allowed));
  asked = SpmvHash(asked, &q->calls, sizeof(q->calls));
  for (PetscInt k = 0; k < SPMV_CANDIDATES; k++) {
    if (!(q->allowed >> k & 1)) continue;
    asked = SpmvHash(asked, &q->pinned[k], sizeof(q->pinned[k]));
    asked = SpmvHash(asked, q->host[k].value, sizeof(q->host[k].value));
    asked = SpmvHash(asked, q->host[k].list, sizeof(q->host[k].list));
  }
  PetscCall(PetscSNPrintf(text, size,
                          "petscspmv %d %s %s int%d %s threads %" PetscInt_FMT " asked %016llx %s matrix %" PetscInt_FMT
                          " %" PetscInt_FMT " %" PetscInt_FMT " %016llx",
                          REMEMBER_VERSION, SpmvIsaName(isa), PetscDataTypes[PETSC_SCALAR], (int)(8 * sizeof(PetscInt)),
                          processor, q->threads, (unsigned long long)asked, SpmvTuneKinds[kind], key->m, key->n, key->nz,
                          (unsigned long long)key->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The file that the user names, or the one in the cache folder */
static PetscErrorCode RememberFile(const SpmvRequest *q, char file[], size_t size)
{
  PetscFunctionBegin;
  PetscCall(PetscStrncpy(file, q->wisdom, size));
  if (!file[0]) PetscCall(SpmvUserPath("XDG_CACHE_HOME", ".cache", "wisdom", file, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a value of wisdom the choice; one that is empty, not of the form, or not allowed is a miss */
static PetscErrorCode RememberRead(const SpmvRequest *q, const char value[], SpmvChoice *choice)
{
  char       name[32];
  int        used = 0;
  double     measured, build;
  PetscInt   k = 0;
  PetscBool  good;
  SpmvOption o;

  PetscFunctionBegin;
  if (sscanf(value, "%31s %lg %lg %n", name, &measured, &build, &used) != 3 || !(measured > 0) || !(build >= 0))
    PetscFunctionReturn(PETSC_SUCCESS);
  while (k < SPMV_CANDIDATES && strcmp(SpmvCandidate[k]->name, name)) k++;
  if (k == SPMV_CANDIDATES || !(q->allowed >> k & 1)) PetscFunctionReturn(PETSC_SUCCESS);
  o = (SpmvOption){.number = k, .plan = q->host[k], .measured = measured, .build = build};
  PetscCall(SpmvPlanRead(&SpmvCandidate[k]->host->side, value + used, &o.plan, &good));
  if (!good) PetscFunctionReturn(PETSC_SUCCESS);
  choice->best = o;
  choice->from = SPMV_FROM_WISDOM;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the choice if wisdom has one for this request and matrix, of the same SpmvTuneKind or a more patient one */
PetscErrorCode SpmvChoiceFromWisdom(const SpmvRequest *q, const SpmvKey *key, SpmvChoice *choice)
{
  char file[PETSC_MAX_PATH_LEN], text[SPMV_WISDOM_LINE], value[SPMV_WISDOM_LINE];

  PetscFunctionBegin;
  PetscCall(RememberFile(q, file, sizeof(file)));
  for (PetscInt kind = SPMV_TUNE_PATIENT; kind >= q->kind && choice->from != SPMV_FROM_WISDOM; kind--) {
    PetscCall(RememberKey(q, key, kind, text, sizeof(text)));
    SpmvWisdomFind(file, text, value, sizeof(value));
    PetscCall(RememberRead(q, value, choice));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpmvChoiceToWisdom(const SpmvChoice *choice)
{
  const SpmvOption *o      = &choice->best;
  const SpmvFormat *format = SpmvCandidate[o->number];
  char              file[PETSC_MAX_PATH_LEN], text[SPMV_WISDOM_LINE], value[SPMV_WISDOM_LINE];

  PetscFunctionBegin;
  PetscCall(RememberFile(&choice->request, file, sizeof(file)));
  PetscCall(RememberKey(&choice->request, &choice->key, choice->request.kind, text, sizeof(text)));
  PetscCall(PetscSNPrintf(value, sizeof(value), "%s %.6g %.6g ", format->name, (double)o->measured, (double)o->build));
  PetscCall(SpmvPlanText(&format->host->side, &o->plan, value, sizeof(value)));
  if (strlen(text) + strlen(value) + 5 <= SPMV_WISDOM_LINE) PetscCall(SpmvWisdomAdd(file, text, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
