"""petsc4py's createAIJ() does not read -mat_type, but -mat_seqaij_type. Poisson's equation on an interval.

    export PETSC_OPTIONS="-dll_append /path/to/lib/libpetscspmv.so -mat_seqaij_type seqaijspmv"
    python3 createaij_petsc4py.py
"""
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

n = 5000
A = PETSc.Mat().createAIJ((n, n), nnz=3, comm=PETSc.COMM_SELF)
for row in range(n):
    A[row, row] = 2.01
    for column in (row - 1, row + 1):
        if 0 <= column < n:
            A[row, column] = -1
A.assemble()

x, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create(PETSc.COMM_SELF)
ksp.setOperators(A)
ksp.setType('cg')
ksp.getPC().setType('sor')
ksp.setFromOptions()
ksp.solve(b, x)
PETSc.Sys.Print('%s: %d iterations, maximum %.4f' % (A.getType(), ksp.getIterationNumber(), x.max()[1]))
