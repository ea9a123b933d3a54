"""DOLFINx: Poisson's equation on a cube, as its own demo has it. Nothing in it knows of petscspmv.

    export PETSC_OPTIONS="-dll_append /path/to/lib/libpetscspmv.so -mat_type spmv"
    python3 poisson_dolfinx.py
"""
import numpy
from mpi4py import MPI
from petsc4py import PETSc
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem

space = getattr(fem, 'functionspace', fem.FunctionSpace)  # its name in newer releases, and before
domain = mesh.create_unit_cube(MPI.COMM_WORLD, 12, 12, 12)
V = space(domain, ('Lagrange', 2))
u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(domain)
edge = fem.locate_dofs_geometrical(V, lambda x: numpy.isclose(x[0] * (1 - x[0]), 0))
fixed = fem.dirichletbc(PETSc.ScalarType(0), edge, V)
a, L = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, 10 * ufl.sin(5 * x[1]) * v * ufl.dx
problem = LinearProblem(a, L, bcs=[fixed], petsc_options={'ksp_type': 'cg', 'pc_type': 'sor', 'ksp_rtol': 1e-9})
solution = problem.solve()
iterations = problem.solver.getIterationNumber()
PETSc.Sys.Print('%s: %d iterations, norm %.6f' % (problem.A.getType(), iterations, solution.x.norm()))
