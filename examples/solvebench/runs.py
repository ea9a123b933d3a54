"""The two tables of the benchmark: the cases, which are committed, and the runs, one line each, which measure writes."""
import collections, os

CASE = ('name', 'group', 'source', 'ranks', 'needs', 'type_option', 'options')
TIMES = ('whole_s', 'solve_s', 'with_setup_s', 'products_s', 'sweeps_s', 'solves_s', 'product_s', 'build_s', 'tune_s')
# residual: text, the true one of the last solve where the case asks for it (-ksp_view_final_residual), else empty
RUN = ('case', 'type', 'repeat', 'key', 'status', 'iterations', 'residual', *TIMES, 'why')
# What is no comparison of ours: time that our library has no part in, which shows the noise, and more processes than cores
CONTROL, UNTIMED = 'control', 'iterations only'
STATUS = ('ok', 'failed', 'skipped')

Case = collections.namedtuple('Case', CASE)
Run = collections.namedtuple('Run', RUN)


def table(path, columns, unfinished=False):
    """the lines of a file, split at tabs, with where each is; # begins a comment line. Unfinished: the last line may be cut off"""
    with open(path) as file:
        lines = file.read().split('\n')
    if unfinished:
        lines[-1] = ''
    if lines[0].split('\t') != list(columns):
        raise ValueError('%s:1: the first line is not the names of its columns: %s' % (path, ' '.join(columns)))
    for number, line in enumerate(lines[1:], 2):
        if line and not line.startswith('#'):
            cells = line.split('\t')
            if len(cells) != len(columns):
                raise ValueError('%s:%d: %d columns instead of %d' % (path, number, len(cells), len(columns)))
            yield '%s:%d' % (path, number), cells


def read_cases(path, search=''):
    """the cases with the word in their name"""
    cases = []
    for where, cells in table(path, CASE):
        case = Case(*cells)
        if not case.ranks.isdigit() or int(case.ranks) < 1:
            raise ValueError('%s: %s processes' % (where, case.ranks))
        if case.name in (c.name for c in cases):
            raise ValueError('%s: %s is there twice' % (where, case.name))
        cases.append(case._replace(ranks=int(case.ranks)))
    found = [case for case in cases if search in case.name]
    if not found:
        raise ValueError('%s has no case with %s in its name' % (path, search) if search else '%s has no cases' % path)
    return found


def read_runs(path):
    """the runs there are; none if there is no file"""
    found = []
    for where, cells in table(path, RUN, unfinished=True) if os.path.exists(path) else ():
        run = Run(*cells)
        try:
            numbers = {key: float(getattr(run, key)) for key in TIMES}
            float(run.residual or 0)
            run = run._replace(repeat=int(run.repeat), iterations=int(run.iterations), **numbers)
        except ValueError as problem:
            raise ValueError('%s: %s' % (where, problem))
        if run.status not in STATUS:
            raise ValueError('%s: status %s' % (where, run.status))
        found.append(run)
    return found


def write_runs(path, found):
    with open(path + '.new', 'w') as file:
        file.write('\t'.join(RUN) + '\n')
        file.writelines('\t'.join(map(str, run)) + '\n' for run in found)
    os.replace(path + '.new', path)


def append_run(path, run):
    with open(path, 'a') as file:
        file.write('\t'.join(map(str, run)) + '\n')
