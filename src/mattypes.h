/*
  mattypes.h - every matrix type, one line each: SPMV_FORMAT(name) for the formats, and for spmv, whose format is chosen

  A line makes the types seqaij<name>, mpiaij<name> and <name>.
*/
#include "formats.h"
SPMV_FORMAT(spmv)
