/*
  staging.c - transfers through page-locked memory of the host

  From memory that may be paged out a driver copies to some that may not, piece by piece, before the hardware moves it, and it
  waits for that. Here the pieces are ours: while one is on its way, the next is copied to, or the one before from, another slot.
  What was sent from a slot need not be waited for, so that a product that sends x waits but once, for y; and a few sums come at
  the pace of the bus.

  The pieces have -spmv_device_staging bytes; with 0 the driver copies, and whatever has more than STAGING_PIECES. On an H100 and
  an H200 both move some 10 GB/s of vectors that may be paged out, which is what one thread of the host copies. With x and y of
  0.5 MB a product takes 0.08 ms by pieces of 0.25 MB and 0.13 ms by the driver, of 1.7 MB 0.34 and 0.30 ms, of 16 MB 3.0 and
  2.4 ms (H100).
*/
#include "device.h"

#define STAGING_PIECES 4 /* of one transfer, at most */

PetscErrorCode SpmvStagingReset(SpmvDevice *d)
{
  PetscFunctionBegin;
  for (int k = 0; k < SPMV_STAGING_SLOTS; k++) {
    if (d->slot[k].busy) SpmvReleaseDevice(d, wait, k);
    if (d->slot[k].array) SpmvReleaseDevice(d, unpin, d->slot[k].memory, d->slot[k].array);
    d->slot[k].memory = d->slot[k].array = NULL;
    d->slot[k].busy                      = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The memory of all slots, made at the first transfer. If there is none, the API copies from now on */
static PetscErrorCode StagingMake(SpmvDevice *d)
{
  PetscBool nomem = PETSC_FALSE;

  PetscFunctionBegin;
  for (int k = 0; k < SPMV_STAGING_SLOTS && !nomem; k++) {
    if (d->slot[k].array) continue;
    SpmvCallDevice(d, &nomem, pin, d->piece, &d->slot[k].memory, &d->slot[k].array);
    if (nomem) d->slot[k].array = NULL;
  }
  if (!nomem) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(NULL, "There are no %zu bytes of page-locked memory: the driver copies\n", d->piece));
  PetscCall(SpmvStagingReset(d));
  d->piece = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for what is on its way in a slot */
static PetscErrorCode StagingWait(SpmvDevice *d, int slot, PetscBool *nomem)
{
  PetscFunctionBegin;
  if (!d->slot[slot].busy) PetscFunctionReturn(PETSC_SUCCESS);
  d->slot[slot].busy = PETSC_FALSE;
  SpmvCallDevice(d, nomem, wait, slot);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StagingBegin(SpmvDevice *d, SpmvDirection direction, void *buffer, size_t offset, size_t bytes, int slot,
                                   PetscBool *nomem)
{
  PetscFunctionBegin;
  d->slot[slot].busy = PETSC_TRUE;
  SpmvCallDevice(d, nomem, begin, direction, buffer, offset, d->slot[slot].array, bytes, slot);
  if (*nomem) d->slot[slot].busy = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StagingSend(SpmvDevice *d, void *to, const char *from, size_t bytes, PetscBool wait, PetscBool *nomem)
{
  PetscFunctionBegin;
  for (size_t done = 0; done < bytes && !*nomem; done += d->piece) {
    const size_t n    = PetscMin(d->piece, bytes - done);
    const int    slot = d->next;

    d->next = (slot + 1) % SPMV_STAGING_SLOTS;
    PetscCall(StagingWait(d, slot, nomem));
    memcpy(d->slot[slot].array, from + done, n);
    if (!*nomem) PetscCall(StagingBegin(d, SPMV_TO_DEVICE, to, done, n, slot, nomem));
  }
  for (int k = 0; k < SPMV_STAGING_SLOTS && wait; k++) PetscCall(StagingWait(d, k, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A piece is copied out of its slot while the next one arrives. Whatever stops it, half says whether one was copied */
static PetscErrorCode StagingReceive(SpmvDevice *d, char *to, void *from, size_t bytes, PetscBool *nomem)
{
  const size_t pieces = (bytes + d->piece - 1) / d->piece;
  size_t       copied = 0;

  PetscFunctionBegin;
  for (size_t k = 0; k <= pieces && !*nomem; k++) {
    if (k < pieces) {
      const int slot = (int)(k % SPMV_STAGING_SLOTS);

      PetscCall(StagingWait(d, slot, nomem)); /* for what was sent from there */
      if (!*nomem)
        PetscCall(StagingBegin(d, SPMV_FROM_DEVICE, from, k * d->piece, PetscMin(d->piece, bytes - k * d->piece), slot, nomem));
    }
    if (k && !*nomem) {
      const int slot = (int)((k - 1) % SPMV_STAGING_SLOTS);

      PetscCall(StagingWait(d, slot, nomem));
      if (*nomem) break;
      memcpy(to + copied, d->slot[slot].array, PetscMin(d->piece, bytes - copied));
      copied += d->piece;
    }
  }
  if (*nomem) d->half = (PetscBool)(copied > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  SpmvStagedCopy - copies between a buffer and an array of the host

  Input Parameter:
. wait - whether what is sent must be there at the return; what is received is

  Output Parameter:
. nomem - PETSC_TRUE if memory ran out, or if the device failed and is tolerant
*/
PetscErrorCode SpmvStagedCopy(SpmvDevice *d, SpmvDirection direction, void *to, const void *from, size_t bytes, PetscBool wait,
                              PetscBool *nomem)
{
  PetscFunctionBegin;
  if (d->piece && !d->slot[SPMV_STAGING_SLOTS - 1].array) PetscCall(StagingMake(d));
  if (!d->piece || bytes > STAGING_PIECES * d->piece) {
    SpmvCallDevice(d, nomem, copy, direction, to, from, bytes);
    if (*nomem && direction == SPMV_FROM_DEVICE) d->half = PETSC_TRUE;
  } else if (direction == SPMV_TO_DEVICE) PetscCall(StagingSend(d, to, from, bytes, (PetscBool)(wait || !d->api->early), nomem));
  else PetscCall(StagingReceive(d, to, (void *)from, bytes, nomem));
  PetscFunctionReturn(PETSC_SUCCESS);
}
