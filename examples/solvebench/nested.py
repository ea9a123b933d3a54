"""What a run spent where, from PETSc's log of nested events (-log_view :FILE:ascii_xml).

The log is a tree: each event with what happened inside it. So nothing is counted twice: a KSPSolve that happens while a
preconditioner is set up is set-up, and a format that is built inside a product outside of any solve is set-up as well. A second
table has each event by itself, without what happened inside it. Builds and tuning are taken from there: the tree of PETSc 3.18
lacks what happens while Chebyshev's eigenvalues are estimated.
"""
import xml.etree.ElementTree

SOLVE = ('KSPSolve', 'EPSSolve')
# Not KSPSetUp: where there is a DM, the program's own assembly is inside it
SETUP = ('PCSetUp', 'PCSetUpOnBlocks', 'STSetUp', 'EPSSetUp')
KERNELS = {
    **dict.fromkeys(('MatMult', 'MatMultAdd', 'MatMultTranspose', 'MatMultTrAdd'), 'products_s'),
    'MatSOR': 'sweeps_s',
    **dict.fromkeys(('MatSolve', 'MatSolveAdd', 'MatSolveTranspos', 'MatSolveTrAdd', 'MatForwardSolve', 'MatBackwardSolve'), 'solves_s'),
}


class Node:
    def __init__(self, element, whole, parent_count):
        """Times are percents of the whole, of the slowest process; counts are those of one call of the parent"""
        number = lambda key, missing: float(element.findtext('%s/maxvalue' % key) or element.findtext('%s/value' % key) or missing)
        self.name = element.findtext('name').strip()
        self.seconds = number('time', 0) * whole / 100
        self.count = number('ncalls', 1) * parent_count
        self.inside = [Node(e, whole, self.count) for e in element.findall('events/event')]


def ours(name):
    """Is it an event of our library: a build, an update, tuning?"""
    return name.startswith('MatSpmv')


def outermost(nodes, wanted):
    """the nodes that are wanted and in no other that is"""
    found = []
    for node in nodes:
        found += [node] if wanted(node.name) else outermost(node.inside, wanted)
    return found


def seconds(nodes):
    return sum((node.seconds for node in nodes), 0.)


def kernels(nodes, times, around=None):
    """adds up what products, sweeps and solves took, each without the others inside it: Eisenstat's product is a sweep"""
    for node in nodes:
        mine = KERNELS.get(node.name, around)
        if mine != around:
            times[mine] += node.seconds
            if around:
                times[around] -= node.seconds
        kernels(node.inside, times, mine)
    return times


def read(path):
    """the numbers of a run; ValueError where the file is no such log"""
    try:
        root = xml.etree.ElementTree.parse(path).getroot().find('petscroot')
        whole = float(root.findtext('globalperformance/time/max'))
        tree = [Node(e, whole, 1) for e in root.findall('timertree/event')]
        alone = [Node(e, whole, 1) for e in root.findall('selftimertable/event')]
    except (OSError, xml.etree.ElementTree.ParseError, AttributeError, TypeError, ValueError) as problem:
        raise ValueError('%s is not a log of nested events: %s' % (path, problem))
    solves = [n for n in outermost(tree, (SOLVE + SETUP).__contains__) if n.name in SOLVE]
    products = outermost(tree, ('MatMult',).__contains__)
    return {
        'solve_s': seconds(solves),
        'with_setup_s': seconds(outermost(tree, lambda name: name in SOLVE + SETUP or ours(name))),
        **kernels(solves, dict.fromkeys(KERNELS.values(), 0.)),
        'product_s': seconds(products) / max(1, sum(n.count for n in products)),
        'build_s': seconds(n for n in alone if ours(n.name)),
        'tune_s': seconds(n for n in alone if ours(n.name) and 'Tune' in n.name),
    }
