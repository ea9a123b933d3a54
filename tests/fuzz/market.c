/*
  market - Matrix Market text that spmvbench finds right has the entries that it announces, in their ranges; other text gets a
  reason
*/
#include "fuzz.h"
#include "../../examples/spmvbench/spmvbench.h"

/* Progress is for terminals */
PetscErrorCode BenchProgress(const char format[], ...)
{
  (void)format;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char      reason[BENCH_REASON] = "";
  char     *text                 = malloc(size + 1);
  MMText    t                    = {.file = "fuzz.mtx", .text = text, .length = size};
  PetscBool ok;

  FUZZ_CHECK(text, "no memory\n");
  memcpy(text, data, size);
  text[size] = 0;
  FUZZ_CALL(MMTextCheck(&t, &ok, reason));
  if (ok) FUZZ_CHECK(t.rows >= 0 && t.cols >= 0 && t.entries >= 0 && strchr("gskh", t.symmetry), "sizes that no matrix has\n");
  else FUZZ_CHECK(reason[0], "no reason\n");
  free(text);
  return 0;
}
