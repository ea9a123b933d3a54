#!/usr/bin/env python3
"""The finite element matrices of make bench: which are made, and what the reports say of them. Numbers and the tool are made up."""
import ast, os, subprocess, sys, tempfile

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'examples', 'spmvbench')
sys.path += [FOLDER, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'python')]
import femcases, tap

root = tempfile.TemporaryDirectory()
HEAD = '\t'.join(femcases.COLUMNS) + '\n'
LIST = HEAD + '# a comment\np1\tL2\t3\tnatural,rcm\np1\tmemory\t9\tnatural,random\nq2\tL3\t5\tnatural\n'
# fem_matrices.py as far as files go; it makes no q2
TOOL = '''
import os, sys
folder, word = sys.argv[1:]
assert 'PETSC_DIR' not in os.environ
os.makedirs(folder, exist_ok=True)
if word.startswith('q2'): sys.exit('no such element')
open(os.path.join(folder, word.replace(':', '-') + '.petsc'), 'w').write(word)
open(os.path.join(folder, word.replace(':', '-') + '.petsc.info'), 'w').write('-matload_block_size 3')
'''


def path(*names):
    return os.path.join(root.name, *names)


def write(name, text):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), 'w') as file:
        file.write(text)
    return path(name)


def call(script, *arguments, status=0, **env):
    """runs a script: its standard output and its standard error"""
    done = subprocess.run([sys.executable, os.path.join(FOLDER, script), *arguments], capture_output=True, text=True, timeout=120, env={**os.environ, **env})
    assert done.returncode == status, 'exit status %d instead of %d: %s' % (done.returncode, status, (done.stdout + done.stderr)[-600:])
    assert 'Traceback' not in done.stderr, done.stderr
    return done.stdout, done.stderr


def listed():
    """the cases of a list, and what is wrong with one"""
    file = write('list.tsv', LIST)
    assert [c.word() for c in femcases.read_cases(file)] == ['p1:3', 'p1:3:rcm', 'p1:9', 'p1:9:random', 'q2:5']
    assert [c.matrix() for c in femcases.read_cases(file, size='L2,memory', kind='', numbering='rcm,random')] == ['p1-3-rcm', 'p1-9-random']
    for text, asked, words in (('kind\n', {}, 'bad.tsv: the first line is not the names'), ('', {}, 'the first line'), (LIST + 'p2\tL4\t3\tnatural\n', {}, 'bad.tsv:6: it is not a kind'), (LIST + 'p2\tL2\tx\tnatural\n', {}, ':6: '),
                               (LIST + 'p2\tL2\t3\trandom,best\n', {}, ':6: '), (LIST + 'p2\tL2\n', {}, ':6: '), (LIST, {'size': 'L2,l3'}, 'has no size l3'), (LIST, {'kind': 'p7'}, 'has no kind p7')):
        try:
            femcases.read_cases(write('bad.tsv', text), **asked)
        except ValueError as problem:
            assert words in str(problem), problem
        else:
            raise AssertionError('it was read: %s' % text)


def committed():
    """each kind of the list in the repository has all sizes; those that fit a cache have all numberings"""
    cases = femcases.read_cases(os.path.join(FOLDER, 'fem.tsv'))
    assert len({c.matrix() for c in cases}) == len(cases), 'a case is there twice'
    for kind in {c.kind for c in cases}:
        assert {(c.size, c.numbering) for c in cases if c.kind == kind} >= {(s, n) for s in ('L2', 'L3') for n in femcases.NUMBERINGS} | {(s, 'natural') for s in femcases.SIZES}, kind


def others():
    """otherkinds.tsv has two sizes of each kind that otherkinds.py makes"""
    cases = femcases.read_cases(os.path.join(FOLDER, 'otherkinds.tsv'))
    assert len({c.matrix() for c in cases}) == len(cases), 'a case is there twice'
    with open(os.path.join(FOLDER, 'otherkinds.py')) as file:
        kinds = {key.value for node in ast.parse(file.read()).body if isinstance(node, ast.Assign) and node.targets[0].id == 'KINDS' for key in node.value.keys}
    assert {c.kind for c in cases} == kinds, {c.kind for c in cases} ^ kinds
    for kind in kinds:
        assert {(c.size, c.numbering) for c in cases if c.kind == kind} >= {(s, 'natural') for s in ('L2', 'L3')}, kind


def made():
    """what is missing is made, once; what cannot be made is told and left out"""
    write('modules/dolfinx.py', '')
    arguments = ['--cases', write('list.tsv', LIST), '--folder', path('made'), '--tool']
    out, err = call('fem', *arguments, path('nowhere.py'))
    assert out == '\n' and '5 of 5 finite element matrices are left out: %s is not there' % path('nowhere.py') in err, (out, err)
    tool = write('tool.py', TOOL)
    out, err = call('fem', *arguments, tool, '--size', 'L2', PYTHONPATH=path('modules'))
    assert out == ','.join(path('made', n) for n in ('p1-3.petsc', 'p1-3-rcm.petsc')) + '\n' and err.count('making') == 2, (out, err)
    out, err = call('fem', *arguments, tool, PYTHONPATH=path('modules'))
    assert out.count('.petsc') == 4 and err.count('making') == 3 and 'q2-5 was not made: no such element' in err, (out, err)
    assert sorted(os.listdir(path('made'))) == sorted('p1-%s.petsc%s' % (name, end) for name in ('3', '3-rcm', '9', '9-random') for end in ('', '.info')), os.listdir(path('made'))
    # Without DOLFINx those that are there serve
    write('modules/dolfinx.py', 'raise ImportError("not here")')
    out, err = call('fem', *arguments, tool, PYTHONPATH=path('modules'))
    assert out.count('.petsc') == 4 and '1 of 5 finite element matrices are left out: DOLFINx was not found' in err, (out, err)
    _, err = call('fem', *arguments, tool, '--kind', 'p7', status=1)
    assert 'has no kind p7' in err, err


def csv_of(name, rows, threads=1):
    """a CSV of {(matrix, type): (ns an entry, bytes an entry, plan)}, 1000 entries each"""
    head = 'matrix,rows,cols,nnz,type,backend,plan,threads,ranks,bytes,build_s,min_s,median_s,gflops,gbs,gbs_csr,read_bw_fraction,ratio_to_aij,ratio_to_best_petsc,error,eta_minus,eta_plus\n'
    lines = ['%s,100,100,1000,%s,host,%s,%d,1,%g,1e-3,1e-6,%.9g,1,1,1,0.5,1,1,1,1,1\n' % (matrix, kind, plan, threads, 1000 * size, 1e-6 * ns) for (matrix, kind), (ns, size, plan) in rows.items()]
    return write(name, head + ''.join(lines))


def rows():
    """p1-9-random is not symmetric: another format serves"""
    own = {('p1-3', 'bccoo'): (0.5, 10, 'b'), ('p1-3', 'sbccoo'): (2, 5, 'block=1'), ('p1-9', 'bccoo'): (2, 10, 'b'), ('p1-9', 'sbccoo'): (1, 5, 'block=1'), ('p1-9-random', 'bccoo'): (2, 10, 'b'), ('p1-9-random', 'sbccoo'): (2, 10, 'format=bccoo')}
    theirs = {(m, t): v for m in ('p1-3', 'p1-9', 'p1-9-random') for t, v in (('aij', (4, 12.5, '')), ('sell', (3, 12.5, '')))}
    return {**theirs, **own}


def reported():
    """the section of make bench: 3 ns over 0.5, 1 and 2; bccoo over sbccoo 0.25 and 2; at 5 GB/s sell takes max(3, 2.5), bccoo 2, sbccoo max(2, 1)"""
    file = csv_of('runs.csv', rows())
    arguments = ['--folder', path('report'), '--types', 'bccoo,sbccoo', '--fem-cases', write('list.tsv', LIST), '--fem']
    call('performance', *arguments, file, file)
    with open(path('report', 'performance.md')) as f:
        text = f.read()
    for part in ('| all | 3 | 3.000 | 1.50 (p1-9-random) | 2 | 0.707 | 0.25 (p1-3) | 1.500 | 1.50 (p1-9) | 1.000 |', '| L2 | 1 | 6.000 | 6.00 (p1-3) | 1 | 0.250 | 0.25 (p1-3) |  |  |  |', '| memory | 2 | 2.121 |', '| natural | 2 | 4.243 |',
                 '| random | 1 | 1.500 | 1.50 (p1-9-random) | 0 |  |  | 1.500 |', '| p1 | 6.00, 0.25 | 3.00, 2.00 | 1.50, - |', '| p1-9 | 1000 | sbccoo | 5.00 | 1.000 | sell | 12.50 | 3.000 | 3.00 | 2.00 | 2.000 | 3.000 | 1.50 |', '3 of the 5 matrices of the list'):
        assert part in text, part + ' is not in ' + text
    # The best is chosen in the first run
    other = {**rows(), ('p1-9', 'sbccoo'): (5, 5, 'block=1')}
    call('performance', *arguments, file, csv_of('second.csv', other))
    with open(path('report', 'performance.md')) as f:
        assert '| p1-9 | 1000 | sbccoo | 5.00 | 5.000 | sell | 12.50 | 3.000 | 0.60 | 0.40 |' in f.read()
    call('performance', *arguments, path('none.csv'), path('none.csv'))
    with open(path('report', 'performance.md')) as f:
        assert 'None was measured' in f.read()


def together():
    """with the other matrices, the section is one of several"""
    file = csv_of('runs.csv', {**rows(), ('x', 'aij'): (2, 12, ''), ('x', 'bccoo'): (1, 10, 'b')})
    call('performance', '--folder', path('report'), '--types', 'bccoo,sbccoo', '--debian', file, file, '--fem-cases', write('list.tsv', LIST), '--fem', file, file)
    with open(path('report', 'performance.md')) as f:
        text = f.read()
    assert [line for line in text.splitlines() if line.startswith('## ')][:3] == ['## Finite elements', '## Our fastest type', '## Each type by itself'] and '| x | 1000 | bccoo |' in text, text


def raced():
    """the section of make bench-mkl: MKL's best type of each matrix"""
    mkl = {(m, t): v for m in ('p1-3', 'p1-9') for t, v in (('mkl', (2.5, 12.5, '')), ('mkl:block_size=3', (2, 9, '')))}
    file = csv_of('mkl.csv', {**rows(), **mkl}, threads=2)
    out, _ = call('race', '--types', 'bccoo,sbccoo', '--fem-cases', write('list.tsv', LIST), '--fem', file)
    assert '## Finite elements against MKL, 2 threads' in out and '| best against MKL |' in out and '| all | 2 | 2.828 | 2.00 (p1-9) | 2 |' in out, out
    out, _ = call('race', '--types', 'bccoo,sbccoo', '--fem-cases', path('list.tsv'), '--fem', csv_of('runs.csv', rows()), path('none.csv'))
    assert out.count('None was measured') == 2, out


for check in listed, committed, others, made, reported, together, raced:
    tap.check('fembench_' + check.__name__, check)
