"""DOLFINx: Stokes' flow in a cavity, with a nested matrix of Taylor-Hood blocks, MINRES, and GAMG for the velocity.

    export PETSC_OPTIONS="-dll_append /path/to/lib/libpetscspmv.so -mat_type spmv"
    python3 stokes_dolfinx.py
"""
import numpy
from mpi4py import MPI
from petsc4py import PETSc
import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc

domain = mesh.create_unit_square(MPI.COMM_WORLD, 32, 32)
if hasattr(fem, 'VectorFunctionSpace'):
    V, Q = fem.VectorFunctionSpace(domain, ('Lagrange', 2)), fem.FunctionSpace(domain, ('Lagrange', 1))
else:
    V, Q = fem.functionspace(domain, ('Lagrange', 2, (2,))), fem.functionspace(domain, ('Lagrange', 1))
u, v, p, q = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.TrialFunction(Q), ufl.TestFunction(Q)
force, none = fem.Constant(domain, PETSc.ScalarType((0, 0))), fem.Constant(domain, PETSc.ScalarType(0))

lid = fem.Function(V)
lid.interpolate(lambda x: numpy.stack((numpy.isclose(x[1], 1), numpy.zeros(x.shape[1]))).astype(PETSc.ScalarType))
walls = fem.locate_dofs_geometrical(V, lambda x: numpy.isclose(x[0] * (1 - x[0]) * x[1] * (1 - x[1]), 0))
fixed = [fem.dirichletbc(lid, walls)]
stiffness = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
a = fem.form([[stiffness, -p * ufl.div(v) * ufl.dx], [-ufl.div(u) * q * ufl.dx, None]])
L = fem.form([ufl.inner(force, v) * ufl.dx, ufl.inner(none, q) * ufl.dx])

A = petsc.assemble_matrix_nest(a, bcs=fixed)
A.assemble()
mass = petsc.assemble_matrix(fem.form(p * q * ufl.dx))
mass.assemble()
P = PETSc.Mat().createNest([[A.getNestSubMatrix(0, 0), None], [None, mass]])
P.assemble()
b = petsc.assemble_vector_nest(L)
petsc.apply_lifting_nest(b, a, bcs=fixed)
for part in b.getNestSubVecs():
    part.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
petsc.set_bc_nest(b, fem.bcs_by_block(fem.extract_function_spaces(L), fixed))

# Pressures are known up to a constant
constant = petsc.create_vector_nest(L)
constant.getNestSubVecs()[0].set(0)
constant.getNestSubVecs()[1].set(1)
constant.normalize()
A.setNullSpace(PETSc.NullSpace().create(vectors=[constant]))

ksp = PETSc.KSP().create(domain.comm)
ksp.setOperators(A, P)
ksp.setType('minres')
ksp.setTolerances(rtol=1e-8)
pc = ksp.getPC()
pc.setType('fieldsplit')
pc.setFieldSplitType(PETSc.PC.CompositeType.ADDITIVE)
rows = P.getNestISs()[0]
pc.setFieldSplitIS(('u', rows[0]), ('p', rows[1]))
for split, kind in zip(pc.getFieldSplitSubKSP(), ('gamg', 'jacobi')):
    split.setType('preonly')
    split.getPC().setType(kind)
ksp.setFromOptions()
x = b.duplicate()
ksp.solve(b, x)
kind, velocity = A.getNestSubMatrix(0, 0).getType(), x.getNestSubVecs()[0]
PETSc.Sys.Print('%s: %d iterations, velocity %.5f' % (kind, ksp.getIterationNumber(), velocity.norm()))
