/*
  meter.h - what meter.c has counted, for cuda.c and emulate.c, which feed it, and for programs, which find MeterTaken() and
  MeterForget() in libcuda.so.1
*/
#pragma once
#include <stddef.h>
#include <stdint.h>

#define METER_ARGS    64
#define METER_KERNELS 256

typedef enum { METER_LOAD, METER_STORE, METER_KINDS } MeterKind;

/* Loads or stores of one argument of a kernel, over all its launches */
typedef struct {
  uint64_t requests; /* of warps */
  uint64_t bytes;    /* asked for, by all work items */
  uint64_t distinct; /* of these, different ones in a launch */
  uint64_t sectors;  /* of 32 bytes that a warp's request touches, added up */
  uint64_t lines;    /* of 128 bytes, likewise */
  uint64_t l2;       /* sectors that L1 has not: they come from L2, or are stored to it */
  uint64_t dram;     /* sectors that L2 has not; stored ones: that leave it */
} MeterCount;

typedef struct {
  char       name[64]; /* of the kernel */
  int        nargs;
  char       arg[METER_ARGS][64];
  MeterCount count[METER_ARGS][METER_KINDS];
  uint64_t   launches, groups, warps;
  unsigned   group, shared;        /* work items of a work group, bytes of shared memory, of the last launch */
  unsigned   residents;            /* work groups on a processor at a time, as far as work items and shared memory allow */
  uint64_t   barriers, syncs;      /* of a work group, of a warp: each counted once for all that wait */
  uint64_t   steps, active, apart; /* basic blocks that warps came to, work items in them, those without some of the warp */
  uint64_t   shared_requests, shared_passes,
    shared_least;  /* passes: times that the banks are gone through; least: without conflicts */
  uint64_t most;   /* requests of the warp that makes the most */
  uint64_t others; /* loads and stores of global memory that no argument points to */
} MeterKernel;

#define METER_SECTOR 32
#define METER_LINE   4           /* sectors of a line */
#define METER_SHARED (228 << 10) /* bytes of shared memory of a processor, with 1 KiB for each work group */

/* The requests of a warp, one after the other: argument << 16 | kind << 8 | sectors, then the sectors */
typedef struct {
  uint32_t *word;
  size_t    n, room, at;
  uint64_t  requests;
} MeterRequests;

extern void MeterCaches(MeterKernel *kernel, MeterRequests *requests, unsigned groups, unsigned warps);

/* Those launched since MeterForget() */
extern const MeterKernel *MeterTaken(int *n);
extern void               MeterForget(void);

/* emulate.c and cuda.c */
extern int  MeterOn(void);
extern void MeterLoads(void);
extern void MeterModule(const char *shared, const char *shared_end);
extern void MeterLaunch(const char *name, int nargs, const char (*names)[64], const uint64_t *pointer, const uint64_t *bytes,
                        const char *arena, unsigned grid, unsigned block);
extern void MeterItem(int item);
extern void MeterWait(int first, int last, int whole, int shows);
extern void MeterGroupEnds(void);
extern void MeterLaunchEnds(void);
