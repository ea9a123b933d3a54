/*
  fuzz.h - what the fuzzers share: PETSc is there, a file in memory, numbers drawn from the input

  Each program is libFuzzer's (make test-fuzz): LLVMFuzzerTestOneInput() is called with bytes of its invention; what goes wrong
  aborts.
*/
#pragma once
#include <petscspmv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold */
#define FUZZ_CHECK(condition, ...) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, __VA_ARGS__); \
      abort(); \
    } \
  } while (0)
#define FUZZ_CALL(call) FUZZ_CHECK(!(call), "%s is an error\n", #call)

/* What libFuzzer calls first. Its options are none of PETSc's */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  int    one    = 1;
  char  *name[] = {(char *)"fuzz", NULL};
  char **names  = name;

  (void)argc, (void)argv;
  FUZZ_CALL(PetscInitialize(&one, &names, NULL, NULL));
  FUZZ_CALL(SpmvInitializePackage());
  return 0;
}

/* In memory, but no memfd_create(), whose path is a link: what is behind one is not read */
static char FuzzPath[] = "/dev/shm/petscspmv-fuzz-XXXXXX";

static void FuzzRemove(void)
{
  (void)unlink(FuzzPath);
}

/* The path of a file with these bytes; the same file each time */
static inline const char *FuzzFile(const uint8_t *data, size_t size)
{
  static int fd = -1;

  if (fd < 0) {
    fd = mkstemp(FuzzPath);
    FUZZ_CHECK(fd >= 0 && !atexit(FuzzRemove), "no file in memory\n");
  }
  FUZZ_CHECK(!ftruncate(fd, (off_t)size) && pwrite(fd, data, size, 0) == (ssize_t)size, "no file in memory\n");
  return FuzzPath;
}

/* Bytes of the input, one after the other; 0 behind its end */
typedef struct {
  const uint8_t *next, *end;
} FuzzInput;

static inline unsigned FuzzByte(FuzzInput *in)
{
  return in->next < in->end ? *in->next++ : 0;
}

/* Below n */
static inline PetscInt FuzzBelow(FuzzInput *in, PetscInt n)
{
  unsigned value = FuzzByte(in);

  if (n > 256) value = value << 8 | FuzzByte(in);
  return n > 1 ? (PetscInt)value % n : 0;
}
