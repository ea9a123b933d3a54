/*
  convert.c - what formats have in common whose storage a device makes itself, from CSR's arrays: the knob, who makes it where
  that is open, what is sent for it, and the kernels of rows that lie side by side in strips (convert.cl)

  Of rows in strips the host makes what has an element a row or a strip. Columns and values, which are nearly all bytes of a
  storage, it neither makes nor sends: on an H200 a host took ten times as long for 16 million entries as to send them as they
  are.
*/
#include "../spmvdevice.h"

#define CONVERT_GROUP   128     /* work items of a work group */
#define CONVERT_ENTRIES 4000000 /* a GPU converts a matrix of so many, or more. A guess: less does not pay for one more program */
#define CONVERT_ROOM    4       /* if it has room for so many times the bytes of CSR's arrays: these, the storage, and its fill */

const PetscInt    SpmvConverts[]     = {SPMV_CONVERT_AUTO, SPMV_CONVERT_HOST, SPMV_CONVERT_DEVICE};
const char *const SpmvConvertNames[] = {"auto", "host", "device"};

/* Bytes of SpmvConvertSources(), which a device has while it converts */
PetscLogDouble SpmvConvertNeeds(PetscInt entries)
{
  return (PetscLogDouble)entries * (PetscLogDouble)(sizeof(PetscInt) + sizeof(PetscScalar));
}

/* A value of the knob that leaves nothing open. A device counts entries, and the fill beside them, with 32 bits */
PetscInt SpmvConvertResolve(const SpmvCSR *csr, const SpmvDeviceInfo *info, PetscInt convert)
{
  const PetscInt  entries = csr->i[csr->m];
  const PetscBool many    = (PetscBool)(entries >= CONVERT_ENTRIES && entries <= INT32_MAX / 2);

  if (convert != SPMV_CONVERT_AUTO) return convert;
  return info->gpu && many && info->room >= CONVERT_ROOM * SpmvConvertNeeds(entries) ? SPMV_CONVERT_DEVICE : SPMV_CONVERT_HOST;
}

/* The arrays of a matrix that are sent for a conversion: its columns and its values. Adds them to n others */
void SpmvConvertSources(const SpmvCSR *csr, PetscInt *n, SpmvArray sources[])
{
  const size_t nz = (size_t)csr->i[csr->m];

  sources[(*n)++] = SPMV_ARRAY("csr columns", csr->j, nz, sizeof(PetscInt));
  sources[(*n)++] = SPMV_ARRAY("csr values", csr->a, nz, sizeof(PetscScalar), .is_values = PETSC_TRUE);
}

/* Adds the kernels that make the columns and values of strips, or only their values, to those of this source */
PetscErrorCode SpmvConvertStrips(const SpmvDeviceStrips *s, PetscBool values_only, SpmvDeviceProduct *product)
{
  const size_t        groups = SpmvGroups((size_t)s->nstrips * (size_t)s->height * (size_t)s->lanes, CONVERT_GROUP);
  const SpmvDeviceArg strips = SPMV_GIVE_ARRAY(s->strips), lengths = SPMV_GIVE_ARRAY(s->lengths);
  const SpmvDeviceArg starts = SPMV_GIVE_ARRAY(s->starts), bytes = SPMV_GIVE_INT((PetscInt)s->length);
  const SpmvDeviceArg nstrips = SPMV_GIVE_INT(s->nstrips), nrows = SPMV_GIVE_INT(s->nrows), height = SPMV_GIVE_INT(s->height);
  const SpmvDeviceArg lanes = SPMV_GIVE_INT(s->lanes), unit = SPMV_GIVE_INT(s->unit), end = SPMV_GIVE_INT((int32_t)s->end);

  PetscFunctionBegin;
  if (!product->options[0])
    PetscCall(SpmvAppend(product->options, sizeof(product->options), "-DCONVERT_GROUP=%d", CONVERT_GROUP));
  if (!values_only)
    SPMV_LAUNCH(product, "convert_columns", groups, CONVERT_GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("csr columns"),
                SPMV_GIVE_ARRAY(s->numbers ? s->numbers : "") /* none */, strips, lengths, starts, SPMV_GIVE_ARRAY(s->narrow),
                SPMV_GIVE_ARRAY(s->wide), bytes, nstrips, nrows, height, lanes, unit, end);
  SPMV_LAUNCH(product, "convert_values", groups, CONVERT_GROUP, PETSC_FALSE, SPMV_GIVE_ARRAY("csr values"), strips, lengths,
              starts, SPMV_GIVE_ARRAY(s->values), bytes, nstrips, nrows, height, lanes, unit, end);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char SpmvConvertSource[] =
#include "convert.cl.h"
  ;
