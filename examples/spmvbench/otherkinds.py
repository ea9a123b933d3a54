#!/usr/bin/python3
"""Finite element matrices of other kinds than those of fem_matrices.py, as PETSc binary files.

usage: otherkinds.py FOLDER KIND:N[:random|rcm] ...      (Debian: python3-dolfinx-real; run with /usr/bin/python3)

N is cells a side. Numbers are those of DOLFINx; random and rcm renumber nodes, at random and by reverse Cuthill-McKee. Values are as
assembled, without boundary conditions. `examples/spmvbench/fem --tool` runs this; otherkinds.tsv lists sizes of each kind.
"""
import os, sys

import numpy, ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc
from ufl import avg, div, dS, dx, grad, inner, jump


def box(n, cell=mesh.CellType.tetrahedron):
    return mesh.create_box(MPI.COMM_WORLD, [numpy.zeros(3), numpy.array([1.0, 0.7, 1.3])], [n, max(1, 2 * n // 3), n], cell)


def hexahedra(n):
    return box(n, mesh.CellType.hexahedron)


def rectangle(n, cell=mesh.CellType.triangle, diagonal=mesh.DiagonalType.crossed):
    return mesh.create_rectangle(MPI.COMM_WORLD, [numpy.zeros(2), numpy.array([1.0, 1.4])], [n, n], cell, diagonal=diagonal)


def quadrilaterals(n):
    return rectangle(n, mesh.CellType.quadrilateral)


def right(n):
    return rectangle(n, diagonal=mesh.DiagonalType.right)


def graded(domain):
    """cells near a wall are a thousand times thinner than others"""
    x = domain.geometry.x
    x[:, 0] = x[:, 0] ** 4 + 0.001 * x[:, 0]
    return domain


def varied(domain):
    """a material whose logarithm is normally distributed, cell by cell: six orders of magnitude"""
    material = fem.Function(fem.FunctionSpace(domain, ('DG', 0)))
    material.x.array[:] = numpy.exp(2 * numpy.random.default_rng(3).standard_normal(len(material.x.array)))
    return material


def functions(space):
    return ufl.TrialFunction(space), ufl.TestFunction(space)


def scalar(domain, degree, material=None):
    u, v = functions(fem.FunctionSpace(domain, ('CG', degree)))
    if material is None:
        x = ufl.SpatialCoordinate(domain)
        material = 1 + x[0] * x[1]
    return material * inner(grad(u), grad(v)) * dx


def elasticity(domain, degree, material=1.0):
    u, v = functions(fem.VectorFunctionSpace(domain, ('CG', degree)))
    return material * (2 * inner(ufl.sym(grad(u)), ufl.sym(grad(v))) + 3 * div(u) * div(v)) * dx


def of_varied(form, domain, degree):
    return form(domain, degree, varied(domain))


def bubbles(domain):
    cell = domain.ufl_cell()
    element = ufl.EnrichedElement(ufl.FiniteElement('CG', cell, 1), ufl.FiniteElement('Bubble', cell, domain.topology.dim + 1))
    return shifted(grad, domain, element)


def convection(domain):
    u, v = functions(fem.FunctionSpace(domain, ('CG', 1)))
    return (0.01 * inner(grad(u), grad(v)) + ufl.dot(ufl.as_vector([1.0, 2.0, -0.5]), grad(u)) * v) * dx


def mixed(domain, first, second):
    """the trial and the test functions of a space of two elements"""
    space = fem.FunctionSpace(domain, ufl.MixedElement(first, second))
    return ufl.TrialFunctions(space), ufl.TestFunctions(space)


def darcy(domain):
    cell = domain.ufl_cell()
    (s, u), (t, v) = mixed(domain, ufl.FiniteElement('BDM', cell, 1), ufl.FiniteElement('DG', cell, 0))
    return (inner(s, t) + u * div(t) + div(s) * v) * dx


def shifted(derivative, domain, element):
    """the square of a derivative of all functions of an element, and of them themselves"""
    u, v = functions(fem.FunctionSpace(domain, element))
    return (inner(derivative(u), derivative(v)) + inner(u, v)) * dx


def flow(domain):
    """Navier-Stokes, linearised: not symmetric; degrees 2 and 1"""
    cell, x = domain.ufl_cell(), ufl.SpatialCoordinate(domain)
    wind = ufl.as_vector([x[1], -x[0], 1.0][: domain.geometry.dim])
    (u, p), (v, q) = mixed(domain, ufl.VectorElement('CG', cell, 2), ufl.FiniteElement('CG', cell, 1))
    return (0.01 * inner(grad(u), grad(v)) + inner(ufl.dot(grad(u), wind), v) - p * div(v) - q * div(u)) * dx


def equal_order(domain):
    """Stokes, velocity and pressure at each node"""
    d = domain.geometry.dim
    w, z = functions(fem.VectorFunctionSpace(domain, ('CG', 1), d + 1))
    u, v = (ufl.as_vector([f[i] for i in range(d)]) for f in (w, z))
    p, q = w[d], z[d]
    return (inner(grad(u), grad(v)) - p * div(v) - q * div(u) - 0.01 * inner(grad(p), grad(q))) * dx


def species(domain, n, symmetric=False):
    """n unknowns at each node, all coupled"""
    u, v = functions(fem.VectorFunctionSpace(domain, ('CG', 1), n))
    coupling = [[1.0 + 0.1 * ((i + j if symmetric else 7 * i + 3 * j) % 5) for j in range(n)] for i in range(n)]
    return (inner(grad(u), grad(v)) + inner(ufl.as_matrix(coupling) * u, v)) * dx


def plate(domain):
    """the biharmonic operator, by C0 interior penalty"""
    u, v = functions(fem.FunctionSpace(domain, ('CG', 2)))
    n, h = ufl.FacetNormal(domain), avg(ufl.CellDiameter(domain))
    bent, kink = (lambda f: avg(div(grad(f)))), (lambda f: jump(grad(f), n))
    return div(grad(u)) * div(grad(v)) * dx - (inner(bent(u), kink(v)) + inner(kink(u), bent(v)) - 8.0 / h * inner(kink(u), kink(v))) * dS


def dg(domain, degree):
    u, v = functions(fem.FunctionSpace(domain, ('DQ' if domain.ufl_cell().cellname() == 'hexahedron' else 'DG', degree)))
    n, h = ufl.FacetNormal(domain), ufl.CellDiameter(domain)
    slope = lambda f: avg(ufl.dot(grad(f), n))
    penalty = 8 * degree**2 / avg(h) * inner(jump(u), jump(v))
    return inner(grad(u), grad(v)) * dx + (penalty - inner(slope(u), jump(v)) - inner(jump(u), slope(v))) * dS


KINDS = {
    'q1_2d': lambda n: scalar(quadrilaterals(n), 1),
    'q2_2d': lambda n: scalar(quadrilaterals(n), 2),
    'q3_2d': lambda n: scalar(quadrilaterals(n), 3),
    'p1_right': lambda n: scalar(right(n), 1),
    'p4_2d': lambda n: scalar(rectangle(n), 4),
    'q1_3d': lambda n: scalar(hexahedra(n), 1),
    'q3_3d': lambda n: scalar(hexahedra(n), 3),
    'p3_3d': lambda n: scalar(box(n), 3),
    'elasticity2d_q1': lambda n: elasticity(quadrilaterals(n), 1),
    'elasticity2d_p2': lambda n: elasticity(rectangle(n), 2),
    'elasticity_q2': lambda n: elasticity(hexahedra(n), 2),
    'elasticity_p3': lambda n: elasticity(box(n), 3),
    'bubbles2d': lambda n: bubbles(rectangle(n)),
    'bubbles3d': lambda n: bubbles(box(n)),
    'convection_p1': lambda n: convection(box(n)),
    'convection_q1': lambda n: convection(hexahedra(n)),
    'cr2d': lambda n: shifted(grad, rectangle(n), ('CR', 1)),
    'cr3d': lambda n: shifted(grad, box(n), ('CR', 1)),
    'darcy_bdm': lambda n: darcy(rectangle(n)),
    'edges_q': lambda n: shifted(ufl.curl, hexahedra(n), ('NCE', 1)),
    'faces_q': lambda n: shifted(div, hexahedra(n), ('NCF', 1)),
    'faces2d': lambda n: shifted(div, rectangle(n), ('RT', 1)),
    'faces_rt2': lambda n: shifted(div, box(n), ('RT', 2)),
    'flow2d': lambda n: flow(rectangle(n)),
    'flow_q': lambda n: flow(hexahedra(n)),
    'equal2d': lambda n: equal_order(rectangle(n)),
    'equal3d': lambda n: equal_order(box(n)),
    'species2': lambda n: species(box(n), 2),
    'species5': lambda n: species(box(n), 5),
    'species7': lambda n: species(rectangle(n), 7),
    'plate': lambda n: plate(rectangle(n)),
    'dg_q1': lambda n: dg(hexahedra(n), 1),
    'dg1_2d': lambda n: dg(rectangle(n), 1),
    'dg3_2d': lambda n: dg(rectangle(n), 3),
    'varied_p1': lambda n: of_varied(scalar, box(n), 1),
    'varied_p2': lambda n: of_varied(scalar, box(n), 2),
    'varied_q1': lambda n: of_varied(scalar, hexahedra(n), 1),
    'varied_elasticity': lambda n: of_varied(elasticity, box(n), 1),
    'varied_elasticity_p2': lambda n: of_varied(elasticity, box(n), 2),
    'graded_p2': lambda n: scalar(graded(box(n)), 2),
    'graded_q2': lambda n: scalar(graded(hexahedra(n)), 2),
    'graded_elasticity': lambda n: elasticity(graded(hexahedra(n)), 1),
    'nodes2': lambda n: species(box(n), 2, True),
    'nodes3': lambda n: species(box(n), 3, True),
    'nodes4': lambda n: species(box(n), 4, True),
    'nodes5': lambda n: species(box(n), 5, True),
    'nodes6': lambda n: species(box(n), 6, True),
    'nodes7': lambda n: species(box(n), 7, True),
    'nodes8': lambda n: species(box(n), 8, True),
}


def renumbered(A, how):
    if how == 'rcm':
        rows = A.getOrdering('rcm')[0]
    else:
        size = A.getBlockSize()
        nodes = numpy.random.default_rng(7).permutation(A.getSize()[0] // size)
        rows = PETSc.IS().createGeneral((nodes[:, None] * size + numpy.arange(size)).ravel().astype(PETSc.IntType))
    B = A.permute(rows, rows)
    B.setBlockSize(A.getBlockSize())
    return B


def main(folder, words):
    os.makedirs(folder, exist_ok=True)
    for word in words:
        kind, n, how = (word.split(':') + [''])[:3]
        if kind not in KINDS or not n.isdigit() or how not in ('', 'random', 'rcm'):
            sys.exit('otherkinds.py: %s is not KIND:N, KIND:N:random or KIND:N:rcm; kinds: %s' % (word, ' '.join(KINDS)))
        A = petsc.assemble_matrix(fem.form(KINDS[kind](int(n))))
        A.assemble()
        if how:
            A = renumbered(A, how)
        viewer = PETSc.Viewer().createBinary(os.path.join(folder, word.replace(':', '-') + '.petsc'), 'w', comm=MPI.COMM_WORLD)
        A.view(viewer)
        viewer.destroy()


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
