"""DOLFINx: a beam that bends by its weight, with three unknowns at a node, CG and GAMG.

    export PETSC_OPTIONS="-dll_append /path/to/lib/libpetscspmv.so -mat_type spmv"
    python3 elasticity_dolfinx.py
"""
import numpy
from mpi4py import MPI
from petsc4py import PETSc
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem

domain = mesh.create_box(MPI.COMM_WORLD, [numpy.zeros(3), numpy.array([4.0, 1.0, 1.0])], [24, 6, 6])
V = fem.VectorFunctionSpace(domain, ('Lagrange', 1)) if hasattr(fem, 'VectorFunctionSpace') else \
    fem.functionspace(domain, ('Lagrange', 1, (3,)))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
strain = lambda w: ufl.sym(ufl.grad(w))
stress = 2 * strain(u) + 1.25 * ufl.tr(strain(u)) * ufl.Identity(3)
weight = fem.Constant(domain, PETSc.ScalarType((0, 0, -0.001)))
held = fem.locate_dofs_geometrical(V, lambda x: numpy.isclose(x[0], 0))
fixed = fem.dirichletbc(numpy.zeros(3, dtype=PETSc.ScalarType), held, V)
problem = LinearProblem(ufl.inner(stress, strain(v)) * ufl.dx, ufl.dot(weight, v) * ufl.dx, bcs=[fixed],
                        petsc_options={'ksp_type': 'cg', 'pc_type': 'gamg', 'ksp_rtol': 1e-8})
solution = problem.solve()
iterations = problem.solver.getIterationNumber()
PETSc.Sys.Print('%s: %d iterations, norm %.6f' % (problem.A.getType(), iterations, solution.x.norm()))
