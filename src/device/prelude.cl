/*
  prelude.cl - scalars, real or complex, for the kernels of all APIs; the words it uses are of opencl.cl and cuda.cl

  Scalars are added with +.
*/
#if COMPLEX
  #define ZERO MakeScalar(0, 0)
INLINE SCALAR Times(SCALAR a, SCALAR b)
{
  return MakeScalar(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
#else
typedef REAL  SCALAR;
  #define ZERO ((SCALAR)0)
INLINE SCALAR Times(SCALAR a, SCALAR b)
{
  return a * b;
}
#endif
