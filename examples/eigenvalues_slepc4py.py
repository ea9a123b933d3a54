"""slepc4py: the largest eigenvalues of a string of beads; each step of Lanczos is a product.

    export PETSC_OPTIONS="-dll_append /path/to/lib/libpetscspmv.so -mat_type spmv"
    python3 eigenvalues_slepc4py.py
"""
import sys
import slepc4py
slepc4py.init(sys.argv)
from petsc4py import PETSc
from slepc4py import SLEPc

n = 400
A = PETSc.Mat().create()
A.setSizes(n)
A.setFromOptions()
A.setPreallocationNNZ(3)
for row in range(*A.getOwnershipRange()):
    A[row, row] = 2
    for column in (row - 1, row + 1):
        if 0 <= column < n:
            A[row, column] = -1
A.assemble()

eps = SLEPc.EPS().create()
eps.setOperators(A)
eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
eps.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
eps.setDimensions(3)
eps.setTolerances(1e-8, 1000)
eps.setFromOptions()
eps.solve()
PETSc.Sys.Print('%s: %s' % (A.getType(), ' '.join('%.6f' % eps.getEigenvalue(k).real for k in range(3))))
