/*
  known.cl - kernels whose requests can be counted by hand, to test the meter. 8 work groups of 128 work items; n is 1024
*/
#define LANE (LOCAL_ID % 32)

/* Four lanes share a sector: 8 sectors and 2 lines a request */
KERNEL(128)
void known_copy(GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *y)
{
  y[GLOBAL_ID] = x[GLOBAL_ID];
}

/* Each lane has a sector of its own; x is gone through four times */
KERNEL(128)
void known_stride(GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *out, int n)
{
  out[GLOBAL_ID] = x[GLOBAL_ID * 4 % n];
}

/* All lanes ask for one sector, which L1 of each processor gets once */
KERNEL(128)
void known_same(GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *out, int n)
{
  out[GLOBAL_ID] = x[n / 2];
}

/* Each work group goes through its part of x twice; the second time L1 has it */
KERNEL(128)
void known_twice(GLOBAL const volatile SCALAR *x, GLOBAL SCALAR *out)
{
  SCALAR sum = x[GLOBAL_ID];

  BARRIER;
  out[GLOBAL_ID] = sum + x[GLOBAL_ID];
}

/* One to four steps in a loop in a loop of two: all lanes begin each of the two together */
KERNEL(128)
void known_loops(GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *out)
{
  const int lane = LANE;

  for (int p = 0; p < 2; p++) {
    SCALAR sum = ZERO;

    for (int k = 0; k <= lane % 4; k++) sum = sum + x[p * 128 + k * 32 + lane];
    out[GLOBAL_ID + p * 1024] = sum;
  }
}

/* A column of a local array, all in one bank: 16 passes for 16 lanes; then one with an odd length of row, without conflicts */
KERNEL(128)
void known_banks(GLOBAL SCALAR *out)
{
  LOCAL SCALAR even[32 * 32], odd[32 * 33];

  even[LANE * 32] = LANE;
  odd[LANE * 33]  = LANE;
  BARRIER;
  out[GLOBAL_ID] = even[LANE] + odd[LANE];
}
