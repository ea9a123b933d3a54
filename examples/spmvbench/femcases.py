"""The finite element matrices of the benchmarks: fem.tsv says which kinds in which sizes and numberings."""
import collections, csv, os

PYTHON = '/usr/bin/python3'  # Debian's, which has DOLFINx and petsc4py

SIZES = ('L2', 'L2+', 'L3', 'L3-', 'L3+', 'memory')  # +: a little more than it has room for; -: as much
NUMBERINGS = ('natural', 'rcm', 'random')
COLUMNS = ['kind', 'size', 'n', 'numberings']


def environment():
    """for that Python: its petsc4py brings its own PETSc, whichever one is measured"""
    return {key: value for key, value in os.environ.items() if key not in ('PETSC_DIR', 'PETSC_ARCH', 'PETSC_OPTIONS')}


class Case(collections.namedtuple('Case', ('kind', 'size', 'n', 'numbering'))):
    def word(self):
        """what fem_matrices.py calls it"""
        return ':'.join([self.kind, self.n] + [self.numbering] * (self.numbering != 'natural'))

    def matrix(self):
        """its name in a CSV of spmvbench"""
        return self.word().replace(':', '-')


def read_cases(path, **wanted):
    """the cases of a list, those with kind='a,b', size='L2', numbering='rcm' where one of these is given"""
    cases = []
    with open(path) as file:
        lines = [(number, line.rstrip('\n')) for number, line in enumerate(file, 1) if line.strip() and not line.startswith('#')]
    if not lines or lines[0][1].split('\t') != COLUMNS:
        raise ValueError('%s: the first line is not the names of its columns: %s' % (path, ' '.join(COLUMNS)))
    for (number, _), cells in zip(lines[1:], csv.reader((line for _, line in lines[1:]), delimiter='\t')):
        if len(cells) != len(COLUMNS) or cells[1] not in SIZES or not cells[2].isdigit() or set(cells[3].split(',')) - set(NUMBERINGS):
            raise ValueError('%s:%d: it is not a kind, one of %s, a number, and some of %s' % (path, number, ', '.join(SIZES), ', '.join(NUMBERINGS)))
        cases += [Case(*cells[:3], how) for how in cells[3].split(',')]
    asked = {key: words.split(',') for key, words in wanted.items() if words}
    for key, words in asked.items():
        unknown = set(words) - {getattr(case, key) for case in cases}
        if unknown:
            raise ValueError('%s has no %s %s' % (path, key, ', '.join(sorted(unknown))))
    return [case for case in cases if all(getattr(case, key) in words for key, words in asked.items())]


def groups(cases):
    """(name, cases): all, those of each size, those of each numbering"""
    found = [('all', cases)]
    for key, words in ('size', SIZES), ('numbering', NUMBERINGS):
        found += [(word, [c for c in cases if getattr(c, key) == word]) for word in words]
    return [(name, mine) for name, mine in found if mine]
