"""Families of matrices in the tuner's report, and which of them served to find constants of the estimate.

A constant that was measured on some matrices is likely to be right for these. FITTED says of each what it was found on, as far as
comments in src/ and the messages of commits tell. Who fits a constant anew, to whatever, says so here.
"""
import csv, re

from femcases import read_cases

# What a family of real matrices is called where its kind has one of these words
WORDS = [('finite elements, flow', 'fem|cfd|mhd|magneto|elast|element|diffusion|volume|airfoil|thermal|maxwell|waveguide|reservoir'), ('optimisation', r'\blp\b|mip|kkt|qp|linear programming|least squares|bundle'),
         ('graphs', 'graph|network|web|social|road|recommender|internet|email|p2p|collaboration')]
SIZES = {'L2': 'in L2', 'L2+': 'a little larger than L2', 'L3': 'in L3', 'L3-': 'as large as L3', 'L3+': 'a little larger than L3', 'memory': 'out of cache'}
COARSE, INTERPOLATIONS, TUTORIALS = 'PETSc: GAMG, coarse levels', 'PETSc: GAMG, interpolations', "PETSc: tutorials' matrices"
REAL = r'real: '
IN, OUT = r'DOLFINx: (%s)$', r'DOLFINx: (%s), out of cache$'

# (constants, on what they were found, families: regular expressions that match their beginning)
FITTED = [
    ('cycles of `aij` and of every format', '82 real matrices', [REAL]),
    ('`pmf`: windows of 4096 rows; values that are few, one, or floats', 'real matrices', [REAL]),
    ('`bccoo`: tiles of 1x1 blocks', 'real matrices', [REAL]),
    ('`pmf`: `WINDOW_GAIN`, windows of 64 and 256 rows, `PMF_MISSES_RUN`', "GAMG's coarse levels", [COARSE]),
    ('`ORDER_GAIN`', 'P1 in the plane, Raviart-Thomas, elasticity, numbered at random', [IN % 'p1|darcy|elasticity']),
    ('whether an order pays where x fits the second cache', 'Q2 and DG2, numbered at random', [IN % 'q2|dg']),
    ('`byte` and `blocked` of Zen 5', 'edge elements, DG2, elasticity', [IN % 'curl|dg|elasticity']),
    ('`pmf`: loops for so many gathered steps', 'P1 in space, whose pattern heat has, P2, Raviart-Thomas', [IN % 'p1|heat|p2|darcy']),
    ('`sbccoo`: `PLAN_AGAIN`, `PlanBlock`; `bccoo`: blocks of eight rows', 'DG1, DG2, nodes of two to eight unknowns', [IN % 'dg', OUT % 'dg']),
    ('`AHEAD_*`, by which x is prefetched', 'P1, P2 and P3 with 30 million entries', [OUT % 'p1|p2|p3']),
    ('`sbccoo`: scalars take 1.3 times as long out of cache', 'Q2, P2 and Stokes', [OUT % 'q2|p2|stokes']),
    ('`BCCOO_CHUNKS_AHEAD`, `SBCCOO_AHEAD`', 'elasticity, DG1, P2, Q2 with 30 million entries', [OUT % 'elasticity|dg|p2|q2']),
    ('`PMF_SLOW`, `BCCOO_SLOW`, `TPSPMV_SLOW`', 'all kinds, or seven or eight of them, with 30 million entries', [OUT % '.*']),
    ('`bccoo`: `MASKED_*`', "P3, Q2, edge elements, elasticity in the plane, Stokes, GAMG's coarse levels", [IN % 'p3|q2|curl|elasticity|stokes', COARSE]),
    ('`sbccoo`: scalars by their lengths, pairs that no code tells', 'P1, P2, P3, Q2, DG, Stokes, elasticity', [IN % 'p1|p2|p3|q2|dg|stokes|elasticity']),
    ('`sbccoo`: `PLAN_WIDE`, `PLAN_MISSED`', 'graphs, saddle points, P1 and Raviart-Thomas numbered at random', [REAL + 'graphs|' + REAL + 'optimisation', IN % 'p1|darcy']),
    ('`pmf`: a piece of x that steps share takes as long as an entry', 'elasticity, DG, edge elements in the second cache', [IN % 'elasticity|dg|curl']),
    ('`SAMPLE_KEPT`, `line` of Zen 4, `ORDER_GAIN` again', 'all of DOLFINx numbered at random, real matrices', [REAL, IN % '.*']),
    ('`BCCOO_HELD`, `TPSPMV_HELD`', 'real matrices and all of DOLFINx from the last cache', [REAL, IN % '.*']),
    ('`PLAN_BLOCKED`', 'all kinds with 30 million entries', [OUT % '.*']),
    ('`TPSPMV_VECTORS_PAIR`', 'real matrices and all of DOLFINx that fit the last cache', [REAL, IN % '.*']),
    ('`pmf`: `WINDOW_GAIN` from memory; `AIJ_SLOW`, `CSRADAPTIVE_SLOW`', "all kinds with 30 million entries, GAMG's coarse levels",
     [OUT % '.*', COARSE]),
    ('rates of Granite Rapids, `ESTIMATE_HELD`', 'all of DOLFINx in the second and the last cache', [IN % '.*']),
    ('`sbccoo`: `PlanBlock` of two rows', 'elasticity in the plane, edge elements of order 2', [IN % 'elasticity|curl', OUT % 'elasticity|curl']),
    ('a line of x from a last cache behind a mesh', 'elasticity, P1 and P2 in space, numbered at random', [OUT % 'elasticity|p1|p2']),
]
UNKNOWN = '''Of these it was not written down which matrices they were found on, and they are not counted: `PMF_WAITS`, `TPSPMV_WAITS`, `BCCOO_WAITS`
(17 to 20 matrices), `BCCOO_PAIR` (4), `bccoo`'s tiles of blocks of 3x3 and more (29), `PMF_BRANCHES` (finite elements of 50,000 and a million
entries). What `measure` leaves out was settled on 150 matrices, most of these: no family is held back
from best / measure. Changes to the model were kept or not by what they did on tutorials, too.'''


def kind(word):
    """poisson3d_p2 is p2, curl_n1 is curl"""
    first, _, last = word.partition('_')
    return last if first.startswith('poisson') else re.sub(r'\d.*', '', first)


def known(index, fem_cases):
    """{name of a matrix: its families}, as far as the lists tell: the one that constants may have been fitted to, then others"""
    found = {}
    if index:
        with open(index) as file:
            for row in csv.DictReader(file, delimiter='\t'):
                found[row['name']] = ['real: ' + next((name for name, words in WORDS if re.search(words, row['kind'].lower())), 'other')]
    for case in read_cases(fem_cases) if fem_cases else []:
        found[case.matrix()] = ['DOLFINx: ' + kind(case.kind) + ', out of cache' * (case.size == 'memory'), 'DOLFINx, ' + ('random numbering' if case.numbering == 'random' else SIZES[case.size])]
    return found


def families(name, lists):
    return lists.get(name) or [INTERPOLATIONS if '-interpolation' in name else COARSE if '-coarse' in name else TUTORIALS]


def fitted(family):
    """the numbers of the lines of FITTED, from 1, with constants that were fitted to a family"""
    return [number for number, (_, _, where) in enumerate(FITTED, 1) if any(re.match(w, family) for w in where)]
