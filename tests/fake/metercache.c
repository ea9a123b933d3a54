/*
  metercache.c - the caches of meter.c: requests of warps are run through L1 of PROCESSORS and the L2 that they share

  Work groups go to processors in turn, as many at a time as work items and shared memory allow, the next when one has ended. Each
  warp of them makes one request after the other, all warps in turn. Caches are empty when a kernel begins.
*/
#include "meter.h"
#include <stdlib.h>
#include <string.h>

#define PROCESSORS      132
#define PROCESSOR_BYTES (256 << 10) /* L1 and shared memory */
#define L2_BYTES        (50 << 20)

typedef struct {
  uint32_t line;
  int      newer, older, chain;
  uint8_t  has, dirty; /* a bit for each sector */
} CacheLine;

/* Lines from the one used last to the one used longest ago, and chains of those of one hash */
typedef struct {
  CacheLine *l;
  int       *head, n, room, newest, oldest, nheads;
} Cache;

static void CacheEmpty(Cache *c, size_t bytes)
{
  const int lines = (int)(bytes / (METER_SECTOR * METER_LINE));

  if (lines > c->room) {
    for (c->nheads = 1; c->nheads < lines;) c->nheads *= 2;
    c->l    = realloc(c->l, sizeof(CacheLine) * (size_t)lines);
    c->head = realloc(c->head, sizeof(int) * (size_t)c->nheads);
    if (!c->l || !c->head) abort();
  }
  c->room   = lines;
  c->n      = 0;
  c->newest = c->oldest = -1;
  memset(c->head, 0xff, sizeof(int) * (size_t)c->nheads);
}

static int *CacheHead(Cache *c, uint32_t line)
{
  return &c->head[(line * 2654435761u >> 8) & (unsigned)(c->nheads - 1)];
}

static void CacheUnlink(Cache *c, int k)
{
  if (c->l[k].newer >= 0) c->l[c->l[k].newer].older = c->l[k].older;
  else c->newest = c->l[k].older;
  if (c->l[k].older >= 0) c->l[c->l[k].older].newer = c->l[k].newer;
  else c->oldest = c->l[k].newer;
}

static void CachePush(Cache *c, int k)
{
  c->l[k].newer = -1;
  c->l[k].older = c->newest;
  if (c->newest >= 0) c->l[c->newest].newer = k;
  else c->oldest = k;
  c->newest = k;
}

/* The line, used now; if it is not there NULL, or a new one in the place of the one used longest ago */
static CacheLine *CacheUse(Cache *c, uint32_t line, int make)
{
  int k = *CacheHead(c, line);

  while (k >= 0 && c->l[k].line != line) k = c->l[k].chain;
  if (k < 0 && !make) return NULL;
  if (k >= 0) CacheUnlink(c, k);
  else {
    if (c->n < c->room) k = c->n++;
    else {
      int *link;

      k = c->oldest;
      CacheUnlink(c, k);
      for (link = CacheHead(c, c->l[k].line); *link != k;) link = &c->l[*link].chain;
      *link = c->l[k].chain;
    }
    c->l[k]             = (CacheLine){.line = line, .chain = *CacheHead(c, line)};
    *CacheHead(c, line) = k;
  }
  CachePush(c, k);
  return &c->l[k];
}

static Cache l1[PROCESSORS], l2;

static void Access(int processor, MeterCount count[], int kind, uint32_t sector)
{
  const uint32_t line = sector / METER_LINE;
  const uint8_t  bit  = (uint8_t)(1 << sector % METER_LINE);
  CacheLine     *l    = CacheUse(&l1[processor], line, kind == METER_LOAD);

  if (kind == METER_LOAD && l->has & bit) return;
  if (l && kind == METER_LOAD) l->has |= bit; /* what is stored goes through L1, and changes it where it is there */
  count[kind].l2++;
  l = CacheUse(&l2, line, 1);
  if (kind == METER_LOAD) {
    if (!(l->has & bit)) count[kind].dram++;
  } else {
    if (!(l->dirty & bit)) count[kind].dram++;
    l->dirty |= bit;
  }
  l->has |= bit;
}

/* One request of a warp; 0: it has no more */
static int RequestRun(MeterKernel *now, int processor, MeterRequests *r)
{
  uint32_t head;

  if (r->at == r->n) return 0;
  head = r->word[r->at++];
  for (uint32_t k = 0; k < (head & 0xff); k++) Access(processor, now->count[head >> 16], head >> 8 & 0xff, r->word[r->at++]);
  return 1;
}

/* The requests of a launch: counts what L1 and L2 do not have */
void MeterCaches(MeterKernel *now, MeterRequests *requests, unsigned groups, unsigned warps)
{
  const size_t left = PROCESSOR_BYTES - (size_t)now->residents * (now->shared ? now->shared + 1024 : 0);
  const int    n    = (int)now->residents;
  unsigned     next = 0, ended = 0, resident[PROCESSORS][32]; /* group + 1, 0: none */

  memset(resident, 0, sizeof(resident));
  CacheEmpty(&l2, L2_BYTES);
  for (int p = 0; p < PROCESSORS; p++) CacheEmpty(&l1[p], left);
  for (int k = 0; k < n; k++) {
    for (int p = 0; p < PROCESSORS && next < groups; p++) resident[p][k] = ++next;
  }
  while (ended < groups) {
    for (int p = 0; p < PROCESSORS; p++) {
      for (int k = 0; k < n; k++) {
        int more = 0;

        if (!resident[p][k]) continue;
        for (unsigned w = 0; w < warps; w++) more |= RequestRun(now, p, &requests[(size_t)(resident[p][k] - 1) * warps + w]);
        if (more) continue;
        ended++;
        resident[p][k] = next < groups ? ++next : 0;
      }
    }
  }
}
