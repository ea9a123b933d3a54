"""The section of a report on finite element matrices: by size and numbering, then matrix by matrix.

Two columns are computed, not measured: what an entry costs where all cores of a socket are busy, so that a core reads 5 GB/s. It is
the larger one of what an entry of this kind costs the same type within L2, and the time for its bytes at that rate.
"""
from femcases import NUMBERINGS, SIZES, Case, groups
from written import geomean, table

HALF = 'sbccoo'
FULL_SOCKET = 5e9  # bytes a second for one core
EXPLAINED = '''Assembled by DOLFINx, values as assembled. `FEM_CASES` lists them (`examples/spmvbench/fem.tsv` if not set), and `FEM_TOOL` makes
them. Sizes: some 60,000 entries (L2), 200,000 (L2+), a million (L3), 2 million (L3-), 6 million (L3+), 12 or 30 million (memory). Numberings: DOLFINx's own
(natural), reverse Cuthill-McKee, random.

- **best** is the fastest of our types, chosen in the first run and reported from the second, against the fastest of Debian's `aij`
  (with `-mat_no_inode`, too, where rows share columns), `aijperm`, `aijsell`, `sell`, and `baij` with every size of block that divides
  the matrix and does not store more zeros than entries.
- **half** is `sbccoo` over the best of our other types, where half of the matrix served the products.
- **bytes** are those of the storage for each entry of the matrix, `x` and `y` not counted. `aij`: 12, and 4 for a row; `aijperm`: 4 more
  for a row; `sell`: 12 for each place of slices of 8 rows, zeros that fill them included; `baij`: 8 for each place of a block, 4 for a
  block, 4 for a row of blocks. Ours: what the storage says.
- **full socket** is *computed, not measured*: ns an entry, the larger one of what the same type takes for an entry of the same kind
  within L2, and of bytes / 5 GB/s, which is what a core has where all cores of a socket work. The least of our types over the least of the
  others. Not for sizes in L2, which each core has for itself.'''


class Section:
    """One run to choose in, one to report, each {matrix: {type: row of the CSV}}"""

    def __init__(self, cases, choose, report, ours, rivals=()):
        self.choose, self.report, self.ours, self.rivals = choose, report, ours, rivals
        self.cases = [c for c in cases if self.complete(c)]
        self.in_l2 = {(c.kind, c.numbering): c for c in self.cases if c.size == 'L2'}

    def complete(self, case):
        m = case.matrix()
        return m in self.report and m in self.choose and any(t in self.choose[m] for t in self.mine(case)) and bool(self.others(case))

    def mine(self, case):
        return [t for t in self.report[case.matrix()] if t.split(':')[0] in self.ours]

    def others(self, case):
        """all that are not ours, or those asked for"""
        return [t for t in self.report[case.matrix()] if t.split(':')[0] not in self.ours and (not self.rivals or t.split(':')[0] in self.rivals)]

    def row(self, case, kind):
        return self.report[case.matrix()][kind]

    def chosen(self, case, kinds):
        """the fastest in the run that chooses"""
        return min((t for t in kinds if t in self.choose[case.matrix()]), key=lambda t: self.choose[case.matrix()][t]['median_s'])

    def best(self, case):
        return self.chosen(case, self.mine(case))

    def rival(self, case):
        return min(self.others(case), key=lambda t: self.row(case, t)['median_s'])

    def halved(self, case):
        """did half of the matrix serve? Where it does not, the plan is another format's"""
        mine = self.mine(case)
        return len(mine) > 1 and HALF in mine and not self.row(case, HALF)['plan'].startswith('format=')

    def rest(self, case):
        """our types but the half"""
        return [t for t in self.mine(case) if t != HALF]

    def ns(self, case, kind):
        row = self.row(case, kind)
        return 1e9 * row['median_s'] / row['nnz']

    def bytes(self, case, kind):
        row = self.row(case, kind)
        return row['bytes'] / row['nnz']

    def to_best(self, case):
        return self.ns(case, self.rival(case)) / self.ns(case, self.best(case))

    def half(self, case):
        return self.ns(case, self.chosen(case, self.rest(case))) / self.ns(case, HALF)

    def full(self, case, kinds):
        """computed ns an entry on a full socket, the least of some types"""
        small = self.in_l2.get((case.kind, case.numbering)) or self.in_l2.get((case.kind, 'natural'))
        cache = lambda t: self.ns(small, t) if small and t in self.report[small.matrix()] else 0
        return min(max(cache(t), 1e9 * self.bytes(case, t) / FULL_SOCKET) for t in kinds)

    def full_ratio(self, case):
        return self.full(case, self.others(case)) / self.full(case, self.mine(case))

    def full_half(self, case):
        return self.full(case, self.rest(case)) / self.full(case, [HALF])


def mean_and_least(cases, ratio, name):
    """the geometric mean, and the least with its name"""
    if not cases:
        return ['', '']
    least = min(cases, key=ratio)
    return ['%.3f' % geomean(map(ratio, cases)), '%.2f (%s)' % (ratio(least), name(least))]


def means(section, rival):
    rows, name = [], Case.matrix
    for label, cases in groups(section.cases):
        halved, large = [c for c in cases if section.halved(c)], [c for c in cases if c.size != 'L2']
        rows.append([label, '%d' % len(cases), *mean_and_least(cases, section.to_best, name), '%d' % len(halved), *mean_and_least(halved, section.half, name),
                     *mean_and_least(large, section.full_ratio, name), *mean_and_least([c for c in large if c in halved], section.full_half, name)[:1]])
    return table(['', 'matrices', 'best against %s' % rival, 'least', 'by half', 'half against our best other', 'least', 'full socket (computed): best', 'least', 'half'], rows)


def by_kind(section):
    """the ratio of each kind by size and numbering"""
    column = [(size, how) for size in SIZES for how in NUMBERINGS if any((c.size, c.numbering) == (size, how) for c in section.cases)]
    rows = []
    for kind in dict.fromkeys(c.kind for c in section.cases):
        cases = {(c.size, c.numbering): c for c in section.cases if c.kind == kind}
        rows.append([kind] + ['%.2f, %s' % (section.to_best(cases[at]), '%.2f' % section.half(cases[at]) if section.halved(cases[at]) else '-') if at in cases else '' for at in column])
    return table(['kind'] + ['%s %s' % at for at in column], rows)


def by_matrix(section, size):
    rows = []
    for case in section.cases:
        if case.size != size:
            continue
        best, rival = section.best(case), section.rival(case)
        full = ['%.3f' % section.full(case, section.mine(case)), '%.3f' % section.full(case, section.others(case)), '%.2f' % section.full_ratio(case)] if size != 'L2' else []
        rows.append([case.matrix(), '%d' % section.row(case, best)['nnz'], best, '%.2f' % section.bytes(case, best), '%.3f' % section.ns(case, best), rival, '%.2f' % section.bytes(case, rival), '%.3f' % section.ns(case, rival),
                     '%.2f' % section.to_best(case), '%.2f' % section.half(case) if section.halved(case) else '', *full])
    heads = ['matrix', 'entries', 'our type', 'bytes', 'ns an entry', "Debian's best", 'bytes', 'ns an entry', 'times it', 'half']
    return table(heads + (['full socket (computed): ours', 'theirs', 'times it'] if size != 'L2' else []), rows)


def none_measured():
    return ['## Finite elements', '', 'None was measured: DOLFINx or the tool that assembles them (`FEM_TOOL`) is missing.', '']


def against(cases, rows, ours, rival, name):
    """the lines about one run against a library: our best of that run as the library's"""
    made = Section(cases, rows, rows, ours, [rival])
    if not made.cases:
        return none_measured()
    threads = max(int(made.row(c, t)['threads']) for c in made.cases for t in made.mine(c))
    return ['## Finite elements against %s, %d thread%s' % (name, threads, 's' * (threads > 1)), '', 'The matrices and columns of [performance.md](performance.md).', '', *means(made, name)]


def section(cases, choose, report, ours):
    """the lines of the section"""
    made = Section(cases, choose, report, ours)
    if not made.cases:
        return none_measured()
    text = ['## Finite elements', '', EXPLAINED, '', *means(made, "Debian's best"), "Each kind: our best against Debian's best, and half against our best other:", '', *by_kind(made)]
    for size in SIZES:
        if any(c.size == size for c in made.cases):
            text += ['### Size: %s' % size, '', *by_matrix(made, size)]
    return text + (['%d of the %d matrices of the list were measured.' % (len(made.cases), len(cases)), ''] if len(made.cases) < len(cases) else [])
