"""petsc4py: a Poisson problem on a square, assembled and solved as ever; PETSC_OPTIONS alone names our type.

    export PETSC_OPTIONS="-dll_append /path/to/lib/libpetscspmv.so -mat_type spmv"
    python3 poisson_petsc4py.py
"""
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

n = 100
A = PETSc.Mat().create()
A.setSizes(n * n)
A.setFromOptions()  # here PETSc reads -mat_type
A.setPreallocationNNZ(5)
for row in range(*A.getOwnershipRange()):
    i, j = divmod(row, n)
    A[row, row] = 4
    for inside, column in ((i > 0, row - n), (i < n - 1, row + n), (j > 0, row - 1), (j < n - 1, row + 1)):
        if inside:
            A[row, column] = -1
A.assemble()

x, b = A.createVecs()
b.set(1 / n**2)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType('cg')
ksp.getPC().setType('jacobi')
ksp.setFromOptions()
ksp.solve(b, x)
PETSc.Sys.Print('%s: %d iterations, maximum %.4f' % (A.getType(), ksp.getIterationNumber(), x.max()[1]))
