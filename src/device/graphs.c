/*
  graphs.c - the kernels of a storage's products as an API has recorded them, with the vectors they were given

  Vectors are known by their addresses only, so who frees one need not tell: its graph is never asked for again, or for
  another vector in the same place.
*/
#include "device.h"

/*
  SpmvGraphsFind - the graph of a product

  Input Parameters:
+ device - that has the storage
. x, y   - its vectors there
- beta   - whether y is added to

  Input/Output Parameter:
. graphs - of the storage; if there is no room, the one that was not asked for the longest is forgotten

  Output Parameters:
+ graph - where it is, or NULL is if it was not recorded
- seen  - PETSC_FALSE if nobody asked for this product before, or that was long ago
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
      PetscCall(device->api->finish(device->handle));
      PetscCall(device->api->forget(device->handle, &found->graph));
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
  if (graphs->asked) PetscCall(device->api->finish(device->handle));
  for (PetscInt k = 0; k < SPMV_GRAPHS_MAX; k++) {
    if (graphs->of[k].graph) PetscCall(device->api->forget(device->handle, &graphs->of[k].graph));
  }
  PetscCall(PetscMemzero(graphs, sizeof(*graphs)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
