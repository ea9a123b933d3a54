/*
  machine - any file may lie where the machine's is: it is used as a whole, with numbers in their range, or not at all, and why is
  said
*/
#include "fuzz.h"
#include "host/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  SpmvCaches  caches = {{32768, 1048576, 33554432}, 16};
  SpmvMachine before, machine;
  char        why[256];

  SpmvMachineBuiltin(SPMV_SCALAR, &caches, &before);
  machine = before;
  if (SpmvMachineRead(FuzzFile(data, size), &machine, why, sizeof(why))) {
    const PetscLogDouble *field = (const PetscLogDouble *)&machine;

    for (size_t k = 0; k < sizeof(machine) / sizeof(*field); k++)
      FUZZ_CHECK(field[k] >= 0 && field[k] < 1e9, "field %zu is %g\n", k, field[k]);
    FUZZ_CHECK(!why[0], "it was used, and not: %s\n", why);
  } else
    FUZZ_CHECK(why[0] && !memcmp(&before, &machine, sizeof(machine)),
               "a file that is not used changes the machine, or nothing is said\n");
  return 0;
}
