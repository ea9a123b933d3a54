/*
  formats.h - every storage format, one line each: SPMV_FORMAT(name)

  A line makes the types seqaij<name>, mpiaij<name> and <name>, their options -mat_<name>_<knob>, a candidate for spmv, and
  their tests.
  The format itself is `const SpmvFormat SpmvFormat_<name>` in mat/impls/<name>/<name>.c; see spmvimpl.h.
*/
SPMV_FORMAT(bccoo)
SPMV_FORMAT(cmrs)
SPMV_FORMAT(csradaptive)
SPMV_FORMAT(tpspmv)
SPMV_FORMAT(pmf)
SPMV_FORMAT(sbccoo)
