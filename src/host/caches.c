/*
  caches.c - the caches of a processor, as itself or as the system tells

  An x86 processor is asked: 30 us in a virtual machine, where Linux's files take 120 to 280. Not sysconf(): it adds up the last
  caches of a Zen (320 MiB where a core has 32).
*/
#include "machine.h"
#include <stdlib.h>
#if defined(__x86_64__)
  #include <cpuid.h>
#endif

/* The text of folder/index<k>/<name>, such as "32K"; false if there is none */
static PetscBool CacheText(const char folder[], int k, const char name[], char text[16])
{
  char      path[PETSC_MAX_PATH_LEN];
  FILE     *f;
  PetscBool read;

  (void)snprintf(path, sizeof(path), "%s/index%d/%s", folder, k, name);
  f    = fopen(path, "r");
  read = (PetscBool)(f && fgets(text, 16, f));
  if (f) (void)fclose(f);
  return read;
}

/* Notes a cache that holds data */
static void CacheAdd(SpmvCaches *caches, long level, size_t bytes, long ways)
{
  if (level < 1 || level >= SPMV_LEVELS) return;
  caches->bytes[level - 1] = bytes;
  if (level == SPMV_LEVELS - 1) caches->ways = (PetscInt)ways;
}

/* As the processor tells; 0 where it does not. Leaves 4 and 0x8000001D have one form; x86 has one of them */
void SpmvCachesAsk(SpmvCaches *caches)
{
  *caches = (SpmvCaches){{0}, 0};
#if defined(__x86_64__)
  for (unsigned leaf = 4; leaf && !caches->bytes[0]; leaf = leaf == 4 ? 0x8000001D : 0) {
    unsigned type = __get_cpuid_max(leaf & 0x80000000, NULL) >= leaf, a, b, c, d;

    for (unsigned n = 0; type; n++) { /* 0: there are no more */
      __cpuid_count(leaf, n, a, b, c, d);
      type = a & 31;
      if (type && type != 2) { /* 2: of instructions */
        const size_t ways = (b >> 22) + 1, partitions = (b >> 12 & 1023) + 1, line = (b & 4095) + 1, sets = (size_t)c + 1;

        CacheAdd(caches, a >> 5 & 7, ways * partitions * line * sets, (long)ways);
      }
    }
  }
#endif
}

/* The same as the system tells; the folder is Linux's, /sys/devices/system/cpu/cpu0/cache */
void SpmvCachesRead(const char folder[], SpmvCaches *caches)
{
  char level[16], type[16], size[16], ways[16];

  *caches = (SpmvCaches){{0}, 0};
  for (int k = 0; CacheText(folder, k, "level", level); k++) {
    if (!CacheText(folder, k, "type", type) || type[0] == 'I' || !CacheText(folder, k, "size", size)) continue;
    if (!CacheText(folder, k, "ways_of_associativity", ways)) ways[0] = 0;
    CacheAdd(caches, atol(level), (size_t)atol(size) << 10, atol(ways));
  }
}
