/*
  gather.cl - entries of a vector, put side by side for the way to the host (gather.c)

  -DGATHER=n  work items of a work group
*/
KERNEL(GATHER)
void spmv_gather(GLOBAL const INDEX *RESTRICT which, GLOBAL const SCALAR *RESTRICT x, GLOBAL SCALAR *RESTRICT out, int n)
{
  if (GLOBAL_ID < (size_t)n) out[GLOBAL_ID] = x[which[GLOBAL_ID]];
}
