/*
  order.c - whether rows and columns in an order of ours (../host/order.h) are worth it

  A look at how x is read tells where an order may help. Whether it does is told by an estimate of the rows in it, as of any other
  matrix: then a storage has shorter columns, too, and another format may be the fastest.
*/
#include "tune.h"

/*
  What products must gain by an order, by estimate. Of 22 matrices with 1.12 and more by estimate (graphs, and finite elements in
  random numbering) all were faster, 1.03 to 3.4 times; with 1.05 and 1.06 one was 1.23 times as fast, and two graphs 0.9 times;
  18 with less than 1 were 0.34 to 1.1 times as fast (Zen 4)
*/
#define ORDER_GAIN        1.12
#define ORDER_REACHED     0.88 /* of what products would gain if no line of x were waited for, at most (25 matrices, Zen 4) */
#define ORDER_MAKE        25   /* products, by what serves, to make an order and the storage in it; 12 to 17 by AIJ's kernel */
#define ORDER_CYCLES_MAKE 60.  /* of an entry, to find the order and to have the matrix in it (8 matrices of a million, Zen 4) */
#define ORDER_CYCLES      3.5  /* to bring an entry of x into an order, and one of y back, besides waiting for lines */

/*
  Nanoseconds of one thread that a product is estimated to take. What was measured in two orders was measured at different times,
  and the machine may have been slow at one of them
*/
static PetscLogDouble OrderProduct(const SpmvCSR *csr, PetscInt threads, const SpmvOption *o)
{
  return 1e9 * SpmvSharers(csr, threads) * o->predicted;
}

/*
  To bring x into an order and y back: 1.6 to 2.7 ns an entry of both in L2, 3 to 5 in L3, 14 from memory, where rows go one by
  one (Emerald Rapids); 0.9 to 1.4, 1.5 to 4 in L3 (25 matrices, Zen 4). Rows that stay together share lines: 0.5 ns in L2 where
  there are three (Zen 4)
*/
static PetscLogDouble OrderBring(const SpmvCSR *csr, PetscInt group)
{
  const PetscLogDouble vectors = 2. * (PetscLogDouble)csr->m * sizeof(PetscScalar); /* in the other order they come in sequence */
  const PetscLogDouble lines   = 1 + (PetscLogDouble)(group - 1) * sizeof(PetscScalar) / SPMV_CACHE_LINE; /* of a group */

  return (PetscLogDouble)csr->m *
         (ORDER_CYCLES * SpmvMachineGet()->cycle + lines / (PetscLogDouble)group * SpmvLineTime(vectors));
}

/* Seconds to make an order, and a matrix's rows in it */
PetscLogDouble SpmvOrderSeconds(const SpmvCSR *csr)
{
  return 1e-9 * ORDER_CYCLES_MAKE * SpmvMachineGet()->cycle * (PetscLogDouble)csr->i[csr->m];
}

/* Whether a product that takes `now` gains enough by an order, where it takes `then`, vectors included; calls: 0, or what share
   set-up */
static PetscBool OrderGains(PetscLogDouble now, PetscLogDouble then, PetscReal calls)
{
  return (PetscBool)(now >= ORDER_GAIN * then + (calls > 0 ? ORDER_MAKE * now / calls : 0));
}

/*
  SpmvOrderWait - nanoseconds that entries of x are waited for in the present order by a kernel that does nothing about it; 0 if
  no order can pay, whatever serves

  reach: how x is read, looked at if it was not yet. Nothing pays where x fits the first cache, or where what is waited for takes
  no longer than to bring the vectors into an order. Where x fits the second cache, a line of it for each entry is still two to
  three times as long as the work (Zen 5, Q2 and DG2 in random numbering, a million entries: 0.43 ns an entry, 0.17 in an order)
*/
PetscErrorCode SpmvOrderWait(const SpmvCSR *csr, SpmvReach *reach, PetscLogDouble *wait)
{
  PetscFunctionBegin;
  *wait = 0;
  if (!SpmvOrderAllows(csr) || 2. * (PetscLogDouble)csr->m * sizeof(PetscScalar) <= SpmvMachineGet()->cache[0])
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpmvSampleWait(csr, reach, wait));
  if (*wait <= OrderBring(csr, SpmvOrderGroup(csr))) *wait = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvOrderMayPay - whether it is worth making an order, to see what products gain by it

  wait: of SpmvOrderWait(); what serves may avoid it, at some cost. calls: products that set-up is shared by; 0: not counted.
  serves: what makes the products in the present order, by so many threads
*/
PetscBool SpmvOrderMayPay(const SpmvCSR *csr, PetscLogDouble wait, PetscReal calls, const SpmvOption *serves, PetscInt threads)
{
  const PetscLogDouble product = OrderProduct(csr, threads, serves);
  const PetscLogDouble least   = PetscMax(0, product - wait) + OrderBring(csr, SpmvOrderGroup(csr));

  return (PetscBool)(wait > 0 && product > 0 && OrderGains(product, least / ORDER_REACHED, calls));
}

/*
  SpmvOrderPays - whether products are faster in an order

  serves, ordered: what makes the products in the present order, and in the new one; calls as in SpmvOrderMayPay()
*/
PetscErrorCode SpmvOrderPays(const SpmvCSR *csr, const SpmvOrder *order, PetscReal calls, const SpmvOption *serves,
                             const SpmvOption *ordered, PetscBool *pays)
{
  const PetscLogDouble now = OrderProduct(csr, order->threads, serves), then = OrderProduct(csr, order->threads, ordered);
  const PetscLogDouble bring = OrderBring(csr, order->group);

  PetscFunctionBegin;
  *pays = OrderGains(now, then + bring, calls);
  PetscCall(PetscInfo(NULL, "A product takes %g s by one thread; with rows ordered by levels %g s, and %g s to order vectors\n",
                      1e-9 * now, 1e-9 * then, 1e-9 * bring));
  PetscFunctionReturn(PETSC_SUCCESS);
}
