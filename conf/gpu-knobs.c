/*
  gpu-knobs.c - the knobs of devices and the values they take, a line each: format, knob, the default, the other values. make
  gpu-bundle writes them down, so that conf/gpu-run tries all that there are
*/
#include "mat/interface/spmvmat.h"

static void Value(const SpmvParam *p, PetscInt k)
{
  if (p->names) printf(" %s", p->names[k]);
  else printf(" %" PetscInt_FMT, p->choices[k]);
}

int main(void)
{
  for (PetscInt f = 0; f < SPMV_CANDIDATES; f++) {
    const SpmvSide *side = SpmvFormatSide(SpmvCandidate[f], SPMV_BACKEND_DEVICE);

    for (PetscInt k = 0; side && k < side->nparams; k++) {
      const SpmvParam *p = &side->params[k];

      if (!p->choices || p->count < 2) continue; /* ranges and lists: numbers of the machine or of the matrix */
      printf("%s %s", SpmvCandidate[f]->name, p->name);
      for (PetscInt c = 0; c < p->count; c++) Value(p, c);
      printf("\n");
    }
  }
  return 0;
}
