/*
  coo - coordinate storage: each entry with its row and its column

  The smallest format there is: tests/newformat.sh adds it to a copy of the sources, as CONTRIBUTING.md says, and tests it
  there. It has no device side, and products are made by one thread.

  Storage:   for each entry its row, column and value, ordered by rows or by columns
  Good for:  nothing; it shows what a format needs
  Traffic:   16 nnz + 8 (m + n) bytes a product
*/
#include "../../../spmvdevice.h"

extern const SpmvHostSide CooHost;

const SpmvFormat SpmvFormat_coo = {.name = "coo", .citation = NULL, .host = &CooHost};
