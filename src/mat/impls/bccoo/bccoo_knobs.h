/*
  bccoo_knobs.h - the knobs that both sides have, which come first in the table of each
*/
#pragma once
#include "bccoo_blocks.h"

enum { BCCOO_BLOCK_HEIGHT, BCCOO_BLOCK_WIDTH, BCCOO_COLUMNS, BCCOO_TILE, BCCOO_SLICES, BCCOO_SHARED_KNOBS };

static const PetscInt    BccooBlockSizes[]  = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static const PetscInt    BccooColumnKinds[] = {BCCOO_COLUMNS_AUTO, BCCOO_COLUMNS_INT32, BCCOO_COLUMNS_UINT16,
                                               BCCOO_COLUMNS_DIFFERENCE};
static const char *const BccooColumnNames[] = {"auto", "int32", "uint16", "difference"};
static const PetscInt    BccooTiles[]       = {0, 8, 16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024};
static const PetscInt    BccooSlices[]      = {1, 2, 4, 8, 16, 32};

#define BCCOO_KNOBS \
  [BCCOO_BLOCK_HEIGHT] = SPMV_CHOICES("block_height", "rows of a block, 0: the height and width of least estimated time", \
                                      BccooBlockSizes, NULL, SPMV_KNOB_SHAPE), \
  [BCCOO_BLOCK_WIDTH] = \
    SPMV_CHOICES("block_width", "columns of a block, 0: as for the height", BccooBlockSizes, NULL, SPMV_KNOB_SHAPE), \
  [BCCOO_COLUMNS] = SPMV_CHOICES("columns", "how block columns are stored, auto: in the fewest bytes", BccooColumnKinds, \
                                 BccooColumnNames, SPMV_KNOB_LAYOUT), \
  [BCCOO_TILE]    = SPMV_CHOICES("tile", "blocks of a tile, 0: by the number of blocks and of tiles side by side", BccooTiles, \
                                 NULL, SPMV_KNOB_TILE), \
  [BCCOO_SLICES]  = SPMV_CHOICES("slices", "vertical slices (BCCOO+)", BccooSlices, NULL, SPMV_KNOB_SLICES)
