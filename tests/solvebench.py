#!/usr/bin/env python3
"""examples/solvebench: what it reads out of logs, runs, keeps, refuses and reports. No test looks at a clock.

One of PETSc's tutorials is run at a tiny size; the numbers of the report are checked with runs that are made up.
"""
import os, subprocess, sys, tempfile, xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.path.dirname(HERE), 'examples', 'solvebench')
sys.path[:0] = [FOLDER, os.path.dirname(FOLDER), os.path.join(os.path.dirname(os.path.abspath(__file__)), 'python')]
import nested, petscprogram, runs, tap

TUTORIAL = 'src/ksp/ksp/tutorials/ex2.c'
OPTIONS = '-m 12 -n 12 -ksp_type cg -pc_type icc'
root = tempfile.TemporaryDirectory()


def path(*names):
    return os.path.join(root.name, *names)


def write(name, text):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), 'w') as file:
        file.write(text)
    return path(name)


def cases(name, *lines):
    return write(name, '\n'.join(['\t'.join(runs.CASE), *lines, '']))


def case(name, group='solves', source=TUTORIAL, ranks='1', needs='', options=OPTIONS):
    return '\t'.join([name, group, source, ranks, needs, '-mat_type', options])


def call(script, *arguments, status=0):
    """runs measure or report: what it said"""
    done = subprocess.run([sys.executable, os.path.join(FOLDER, script), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=300)
    assert done.returncode == status, 'exit status %d instead of %d: %s' % (done.returncode, status, done.stdout[-600:])
    return done.stdout


def measure(folder, list_of, types='spmv', *more, status=0):
    said = call('measure', '--library', os.environ['LIBRARY'], '--cases', list_of, '--folder', path(folder), '--types', types, '--repeats', '2', '--limit', '60', *more, status=status)
    return said, runs.read_runs(path(folder, 'runs.tsv'))


def log():
    """a log with what must not be counted twice"""
    event = lambda name, percent, *inside, calls='': '<event><name>%s</name><time><value>%g</value></time>%s<events>%s</events></event>' % (name, percent, calls and '<ncalls><maxvalue>%s</maxvalue></ncalls>' % calls, ''.join(inside))
    tree = event('PCSetUp', 20, event('KSPSolve', 5, event('MatMult', 4))) + event('MatMult', 6, event('MatSpmvBuild', 4, event('MatSpmvTune', 1)))
    tree += event('KSPSetUp', 8, event('PCSetUp', 3))
    tree += event('KSPSolve', 40, event('PCApply', 15, event('KSPSolve', 12, event('MatMult', 2, calls='3'), event('MatSOR', 9))), event('MatMult', 10, event('MatSpmvBuild', 2), calls='4'), event('MatSolve', 5), event('MatResidual', 4, event('MatMult', 3, event('MatSOR', 1))))
    alone = event('MatMult', 14) + event('MatSpmvBuild', 5) + event('MatSpmvTune', 1)
    text = '<?xml version="1.0"?>\n<root><petscroot><globalperformance><time><max>2.</max></time></globalperformance><timertree>%s</timertree><selftimertable>%s</selftimertable></petscroot></root>' % (tree, alone)
    got = nested.read(write('log.xml', text))
    # of 2 seconds: 40 %; with 20 % and 3 % of PCSetUp, and 4 % of a build before
    want = {'solve_s': 0.8, 'with_setup_s': 1.34, 'products_s': 0.28, 'sweeps_s': 0.2, 'solves_s': 0.1, 'product_s': 0.5 / 10, 'build_s': 0.12, 'tune_s': 0.02}
    assert got.keys() == want.keys() and all(abs(got[k] - want[k]) < 1e-12 for k in want), got
    for broken in '', 'not xml', '<root/>', text[:300], text.replace('2.<', 'two<'):
        try:
            nested.read(write('broken.xml', broken))
        except ValueError as problem:
            assert 'broken.xml is not a log of nested events' in str(problem), problem
        else:
            raise AssertionError('it was read: ' + broken[:60])


def measured():
    """one case from start to end, and what is done again when it is called again"""
    tiny = cases('tiny.tsv', '# a comment', case('tiny'), case('other', options='-none'))
    said, found = measure('measured', tiny, 'spmv:mat_spmv_build_after=0,aij', '--search', 'tiny')
    assert [(r.case, r.type.split(':')[0], r.repeat) for r in found] == [('tiny', 'aij', 0), ('tiny', 'spmv', 0), ('tiny', 'spmv', 1), ('tiny', 'aij', 1)], said
    assert all(r.status == 'ok' and r.iterations == found[0].iterations > 1 and 0 < r.solve_s < r.with_setup_s < r.whole_s for r in found), found
    assert [r.build_s > 0 for r in found] == [False, True, True, False] and all(r.product_s > 0 and r.solves_s > 0 for r in found), found
    # A line that was cut off is made again, the others are kept
    with open(path('measured', 'runs.tsv')) as file:
        lines = file.read().splitlines(True)
    write('measured/runs.tsv', ''.join(lines[:-1]) + lines[-1][:20])
    said, again = measure('measured', tiny, 'spmv:mat_spmv_build_after=0', '--search', 'tiny')
    assert said.count('round ') == 1 and again[:3] == found[:3] and len(again) == 4, said
    # Another size is another case
    said, again = measure('measured', cases('tiny.tsv', case('tiny', options=OPTIONS + ' -ksp_rtol 1e-3')), 'spmv:mat_spmv_build_after=0')
    assert '4 runs of another library, PETSc or case are set aside' in said and len(again) == 4, said
    said = call('report', '--cases', tiny, '--runs', path('measured', 'runs.tsv'), '--types', 'spmv:mat_spmv_build_after=0', '--folder', path('docs'))
    with open(path('docs', 'solve.md')) as file:
        text = file.read()
    assert 'FAILED' not in text and '| tiny | 1 | %d |' % again[0].iterations in text, text


def failures():
    """what fails with our type only is loud; what cannot run is told"""
    listed = cases('failing.tsv', case('wrong'), case('absent', needs='nothing'), case('nowhere', source='src/none.c'), case('hopeless', options='-ksp_max_it 1'))
    said, found = measure('failing', listed, 'nosuchtype')
    why = {(r.case, r.type): (r.status, r.why) for r in found}
    assert why['wrong', 'aij'][0] == 'ok' and why['wrong', 'nosuchtype'][0] == 'failed' and 'nosuchtype' in why['wrong', 'nosuchtype'][1], found
    assert why['absent', 'aij'] == ('skipped', 'this PETSc has no nothing') and why['nowhere', 'aij'] == ('skipped', 'src/none.c is not installed'), found
    assert why['hopeless', 'aij'] == ('failed', 'a solve ended with DIVERGED_ITS') and ('hopeless', 'nosuchtype') not in why, found
    said = call('report', '--cases', listed, '--runs', path('failing', 'runs.tsv'), '--types', 'nosuchtype', '--folder', path('docs'), status=1)
    assert 'FAILED: wrong with nosuchtype' in said and 'has no case that ran' in said, said
    said, found = measure('failing', cases('slow.tsv', case('slow')), 'spmv', '--limit', '0.001')
    assert [(r.type, r.status, r.why) for r in found if r.case == 'slow'] == [('aij', 'failed', 'it took more than 0.001 s')], found


def made_up(name, times, **changes):
    """a file of runs: {(case, type): seconds of each run}"""
    lines = ['\t'.join(runs.RUN)]
    for (which, kind), seconds in times.items():
        for repeat, s in enumerate(seconds):
            ours = kind != 'aij'
            numbers = {'whole_s': s + 1, 'solve_s': s, 'with_setup_s': s, 'products_s': s / 2, 'sweeps_s': s / 4, 'solves_s': 0, 'product_s': 0.01, 'build_s': 0.1 * ours, 'tune_s': 0}
            run = {'case': which, 'type': kind, 'repeat': repeat, 'key': 'k', 'status': 'ok', 'iterations': 7, 'residual': '', 'why': '', **numbers, **changes.get('%s_%s' % (which, kind), {})}
            lines.append('\t'.join(str(run[k]) for k in runs.RUN))
    return write(name, '\n'.join(lines) + '\n')


def reported():
    listed = cases('made_up.tsv', case('one'), case('two', group='sweeps'), case('lu', group=runs.CONTROL), case('many', group=runs.UNTIMED, ranks='8'), case('gone'))
    times = {('one', 'aij'): (4, 5, 9), ('one', 'spmv'): (2, 4, 3), ('two', 'aij'): (8, 8), ('two', 'spmv'): (1, 1), ('two', 'pmf'): (2, 2), ('lu', 'aij'): (1,), ('lu', 'spmv'): (1.25,), ('many', 'aij'): (1,), ('many', 'spmv'): (1,)}
    changes = {'two_spmv': {'iterations': 8}, 'two_pmf': {'status': 'failed', 'why': 'it fell over'}, 'many_spmv': {'iterations': 9}}
    file = made_up('made_up/runs.tsv', times, **changes)
    said = call('report', '--cases', listed, '--runs', file, '--types', 'spmv,pmf', '--native', file, '--folder', path('made_up'), status=1)
    assert 'FAILED: two with pmf, this PETSc: it fell over' in said and 'FAILED: two with pmf, the second PETSc' in said, said
    with open(path('made_up', 'solve.md')) as f:
        text = f.read()
    for part in ('- **FAILED: two with `pmf`, this PETSc: it fell over**', '**4.00 times faster** than with `aij`, the geometric mean over 2 cases. The worst is 2.00 (one), the best 8.00 (two)', 'are from 0.80 to 0.80',
                 '| one | 1 | 7 | 4.00 (5.00) | 5.00 (6.00) | 2.00 (1.67) | 2.00 (1.67) | 1.67 (1.50) | 10 | 50 %, 25 %, 0 % |', '| two | 1 | 7, 8 |', '| two | 8.00 | **failed** |', '| many | 8 | 7 | 9 |  |', '- gone: it was not measured', '## Against a second PETSc', 'differ in two, many'):
        assert part in text, part + ' is not in ' + text
    bars = [e for e in xml.etree.ElementTree.parse(path('made_up', 'solve.svg')).iter() if e.get('class') == 'bar']
    assert len(bars) == 3, len(bars)
    call('report', '--cases', listed, '--runs', file, '--types', 'spmv', '--search', 'one', '--folder', path('made_up'))
    with open(path('made_up', 'solve.md')) as f:
        assert '| two |' not in f.read(), 'a case that was not asked for'


def residuals():
    """iterations, residuals and seconds of each type, where a case tells its residual"""
    listed, floats = cases('residuals.tsv', case('one'), case('silent')), 'spmv:mat_spmv_sor_values=float'
    times = {(name, kind): (s, s + 1) for name in ('one', 'silent') for kind, s in (('aij', 4), ('spmv', 3), (floats, 2))}
    file = made_up('residuals/runs.tsv', times, **{'one_aij': {'residual': 1e-9}, 'one_spmv': {'residual': 1.5e-9}, 'one_' + floats: {'residual': 2.25e-9, 'iterations': 8}})
    call('report', '--cases', listed, '--runs', file, '--types', 'spmv,' + floats, '--folder', path('residuals'), '--name', 'floats', '--title', 'Floats')
    with open(path('residuals', 'floats.md')) as f:
        text = f.read()
    for part in ('# Floats\n', '(floats.svg)', '| one | 7 | 7 | 8 | 1.0e-09 | 1.5e-09 | 2.2e-09 |' + 2 * ' 4.00 (4.50) | 3.00 (3.50) | 2.00 (2.50) |', '| case | `spmv` | `spmv` (1) |', '(1): `-mat_spmv_sor_values float`'):
        assert part in text, part + ' is not in ' + text
    assert '| silent | 7 |' not in text.split('times faster, with set-up')[0] and os.path.exists(path('residuals', 'floats.svg')), text


def malformed():
    good = case('a')
    for text, said in (('name\n', ':1: the first line is not'), (None, 'No such file'), ('\t'.join(runs.CASE) + '\na\tb\n', ':2: 2 columns instead of 7'), ('\t'.join(runs.CASE) + '\n', 'has no cases'),
                       ('\t'.join(runs.CASE) + '\n' + case('a', ranks='two') + '\n', ':2: two processes'), ('\t'.join(runs.CASE) + '\n#\n' + good + '\n' + good + '\n', ':4: a is there twice')):
        name = write('bad.tsv', text) if text is not None else path('nowhere.tsv')
        for script, more, status in ('measure', ['--library', os.environ['LIBRARY']], 1), ('report', ['--runs', path('none')], 2):
            got = call(script, '--cases', name, '--folder', path('bad'), '--types', 'spmv', *more, status=status)
            assert said in got and 'Traceback' not in got, got
    got = call('measure', '--cases', cases('good.tsv', good), '--folder', path('bad'), '--types', 'spmv', '--search', 'zzz', '--library', os.environ['LIBRARY'], status=1)
    assert 'has no case with zzz in its name' in got, got
    head = '\t'.join(runs.RUN) + '\n'
    line = '\t'.join(['a', 'aij', '0', 'k', 'ok', '1', ''] + ['1'] * len(runs.TIMES) + ['']) + '\n'
    for text, said in (('x' + head, ':1: the first line is not'), (head + 'a\taij\n', ':2: 2 columns'), (head + line + line.replace('\tok\t', '\tgood\t'), ':3: status good'), (head + line.replace('\t1\t1\t', '\t1\tx\t', 1), ':2: could not convert'), ('', ':1: the first line is not')):
        write('bad/runs.tsv', text)
        for script, more, status in ('measure', ['--library', os.environ['LIBRARY']], 1), ('report', ['--runs', path('bad', 'runs.tsv')], 2):
            got = call(script, '--cases', path('good.tsv'), '--folder', path('bad'), '--types', 'spmv', *more, status=status)
            assert said in got and 'Traceback' not in got, got
    got = call('report', '--cases', path('good.tsv'), '--runs', path('none'), '--types', 'spmv', '--folder', path('bad'), status=2)
    assert 'has no case that ran with aij' in got, got


def committed():
    """the list in the repository can be read, and its sources are there where PETSc's are"""
    root_folder = os.path.dirname(os.path.dirname(FOLDER))
    for case in runs.read_cases(os.path.join(FOLDER, 'floats.tsv')):
        assert '-ksp_view_final_residual' in case.options and (petscprogram.find(case.source, [root_folder]) or petscprogram.find(case.source)), case.name
    listed = runs.read_cases(os.path.join(FOLDER, 'cases.tsv'))
    assert {runs.CONTROL, runs.UNTIMED} < {c.group for c in listed} and len(listed) >= 30, len(listed)
    missing = [c.name for c in listed if c.source.endswith('.c') and 'slepc' not in c.needs and not petscprogram.find(c.source)]
    assert not missing, missing
    assert all(os.path.exists(os.path.join(root_folder, c.source)) for c in listed if not c.source.endswith('.c'))


def no_dolfinx():
    """a program that says SKIP is no failure, and says why"""
    write('empty/dolfinx.py', 'raise ImportError("not here")\n')
    os.environ['PYTHONPATH'] = path('empty')
    _, found = measure('fem', cases('fem.tsv', case('fem', source='examples/solvebench/fem', options='-problem p1 -n 2')))
    del os.environ['PYTHONPATH']
    assert [r.status for r in found] == ['skipped'] and 'install the package python3-dolfinx-real' in found[0].why, found


here = petscprogram.find(TUTORIAL)
for check in log, reported, residuals, malformed, committed, no_dolfinx, measured, failures:
    if here or check in (log, reported, residuals, malformed):
        tap.check('solvebench_' + check.__name__, check)
    else:
        print('ok solvebench_%s # SKIP PETSc\'s tutorials are not installed' % check.__name__)
