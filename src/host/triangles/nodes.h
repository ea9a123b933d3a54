/*
  nodes.h - triangles by nodes: rows with the same columns (PETSc's inodes) are laid out together, a row in each lane

  Let T be a triangle as rows of their own would have it (triangles.h), I + T_n its part inside a node, T_o the rest of the node's
  rows. Then a node's x = R (S in) - R T_o x with R = (I + T_n)^-1, in sweeps R = D^-1 of the node's whole diagonal block. What is
  stored is R T_o by columns, the s rows of a node side by side, and M = R S.

  The order is that of a pass: nodes of the lower triangle from first to last, columns increasing; those of the upper one from
  last to first, columns decreasing. So what a node waits for longest, the x of the node before it, comes last. Values are not
  padded: a vector that is longer than a column reads what follows it.

  Where all nodes have one size and their columns come in whole nodes, one distance serves all columns of a node, which then
  increase inside of it in both triangles.
*/
#pragma once
#include "triangles.h"

#define SPMV_NODE_MAX 6 /* rows of a node: PETSc has up to five, shells have six unknowns at a point */

/* SpmvNodesTriangle: one of them */
typedef struct {
  PetscInt    *columns;  /* [nnodes] columns outside of each node, in the order of the pass */
  size_t       nd, nv;   /* distances, values */
  void        *distance; /* [nd] first row of the node less the column, or the reverse; nodes where one serves all columns of a
                            node; uint16_t, or PetscInt where one does not fit */
  PetscScalar *value;    /* [nv], and a vector's length of zeros */
  PetscScalar *block;    /* M of each node, by columns, in the order of the nodes, and a vector's length of zeros */
} SpmvNodesTriangle;

typedef struct {
  SpmvNodesTriangle triangle[2]; /* the blocks of sweeps are those of the lower triangle */
  PetscInt          nnodes;
  PetscInt          size;  /* of all nodes, whose columns come in whole nodes; 0: sizes differ, or columns do not */
  uint8_t          *sizes; /* [nnodes] */
  size_t            nb;    /* scalars of the blocks of a triangle */
  PetscBool         wide;  /* distances are PetscInt */
} SpmvNodesStorage;

/* Bytes of a distance */
static inline size_t SpmvNodesWord(const SpmvNodesStorage *r)
{
  return r->wide ? sizeof(PetscInt) : sizeof(uint16_t);
}

/* SpmvNodesKernels: of an instruction set */
typedef struct {
  SpmvShapeKernels shape; /* first: SpmvTriangles.kernels points to it */
  /* Takes the values; returns the first row of the first node without an inverse, -1 if there is none */
  PetscInt (*values)(const SpmvTrianglesSource *s, SpmvNodesStorage *r);
} SpmvNodesKernels;

/* M of the nodes if a pass is to multiply what it is given by it, else NULL */
static inline const PetscScalar *SpmvNodesBlock(const SpmvTriangles *t, SpmvTriangleSide side, PetscBool scale)
{
  const SpmvNodesStorage *r = (const SpmvNodesStorage *)t->storage;

  if (t->kind == SPMV_SWEEPS) return scale ? r->triangle[SPMV_LOWER].block : NULL;
  return r->triangle[side].block;
}
