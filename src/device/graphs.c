/*
  graphs.c - the kernels of a storage's products as an API has recorded them, with the vectors they were given

  Vectors are known by their addresses only, so who frees one need not tell: its graph is never asked for again, or for
  another vector in the same place.
*/
#include "device.h"

/*
  SpmvGraphsFind - where the graph of a product is, or NULL is if it was not recorded

  Note:
  `seen` is PETSC_FALSE if nobody asked for this product before, or that was long ago: if there is no room, the one that was not
  asked for the longest is forgotten.
*/
PetscErrorCode SpmvGraphsFind(SpmvGraphs *graphs, SpmvDevice *device, const void *x, const void *y, PetscBool beta, void ***graph,
                              PetscBool *seen)
{
  SpmvGraph *oldest = graphs->of, *found = NULL;

  PetscFunctionBegin;
  for (SpmvGraph *g = graphs->of; g < graphs->of + SPMV_GRAPHS_MAX && !found; g++) {
    if (g->used && g->x == x && g->y == y && g->beta == beta) found = g;
    if (g->used < oldest->used) oldest = g;
  }
  *seen = (PetscBool)(found != NULL);
  if (!found) {
    found = oldest;
    if (found->graph) {
      SpmvCallDevice(device, NULL, finish);
      SpmvCallDevice(device, NULL, forget, found->graph);
    }
    *found = (SpmvGraph){.x = x, .y = y, .beta = beta};
  }
  found->used = ++graphs->asked;
  *graph      = &found->graph;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Forgets all that was recorded, when nothing of it runs any more */
PetscErrorCode SpmvGraphsForget(SpmvGraphs *graphs, SpmvDevice *device)
{
  PetscFunctionBegin;
  if (graphs->asked) SpmvCallDevice(device, NULL, finish);
  for (PetscInt k = 0; k < SPMV_GRAPHS_MAX; k++) {
    if (graphs->of[k].graph) SpmvCallDevice(device, NULL, forget, graphs->of[k].graph);
  }
  PetscCall(PetscMemzero(graphs, sizeof(*graphs)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
