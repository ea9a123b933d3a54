#!/usr/bin/env python3
"""make tune-report: what is the best, noise, families and what was fitted to them, set-up, what is left out. spmvbench and its numbers are made up."""
import json, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, 'examples', 'spmvbench')
sys.path += [FOLDER, os.path.join(ROOT, 'tests', 'python')]
import femcases, tap, tunefamilies, tunegrid, tunehalves, written

root = tempfile.TemporaryDirectory()
# Microseconds of a product of each plan; of spmv, whose plan it is. Matrix b gains by an order, `wide` is not square, `small` fits the first
# cache; a type fails on `half`, and `broken` is not read at all
FAKE = r'''#!%s
import csv, os, sys
argument = lambda name, default='': sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default
if '-info' in sys.argv:
    print(os.environ['TOLD'])
    sys.exit()
matrix, path = os.path.basename(argument('-f')).split('.')[0], argument('-csv')
with open(os.environ['LOG'], 'a') as log:
    log.write(matrix + ' ' + argument('-types') + ' ' + argument('-seconds') + '\n')
if matrix == 'broken':
    sys.exit('spmvbench: it is broken')
rows, cols, aij = {'small': (10, 10, 1000), 'wide': (10000, 20000, 1000), 'out': (10000, 10000, 40000)}.get(matrix, (10000, 10000, 1000))
again = argument('-petsc') == 'all'
plans = {'aij': ('', aij), 'sell': ('', 700), 'pmf': ('window=4096 isa=avx512', 400), 'pmf:window=4096': ('window=4096 isa=avx512', 400), 'bccoo': ('block_height=1 isa=avx512', 500), 'bccoo:block_height=1': ('block_height=1 isa=avx512', 500), 'spmv': ('format=pmf window=4096 threads=2 isa=avx512', 440 if again else 400),
         'spmv:mat_spmv_tune=estimate': ('format=pmf window=4096 isa=avx512', 484), 'pmf:window=64': ('window=64 isa=avx512', 390 if again else 350), 'bccoo:block_height=2': ('block_height=2 isa=avx512', 380)}
if 'half-' in os.environ.get('XDG_CONFIG_HOME', ''): # rates of the other half choose another plan
    plans['spmv'] = ('format=bccoo block_height=1 isa=avx512', 500)
rowsof = []
for t in ['aij'] + ['sell'] * again + [t for t in argument('-types').split(',') if t != 'aij']:
    if matrix == 'half' and t == 'bccoo':
        continue
    if matrix == 'luck' and ('tune=measure' in t or 'tune=patient' in t): plan, time = 'format=pmf window=4096 isa=avx512', 400
    elif 'tune=measure' in t: plan, time = 'format=bccoo block_height=2 isa=avx512', 380
    elif 'tune=patient' in t: plan, time = 'format=pmf window=64 threads=2 isa=avx512', 350
    else: plan, time = plans[t.replace(':mat_spmv_order=none', '').replace(':mat_spmv_order=levels', '')]
    if t.endswith('levels'):
        plan, time = plan + ' order=levels', time * (0.5 if matrix == 'b' and t.startswith('pmf:window=64') else 2)
    setup = [2e-3, 1e-3, 2e-3] if t == 'spmv' else ['', '', '']
    rowsof.append([matrix, rows, cols, 100000, t, plan, 10**12 if matrix == 'out' else 1000, 3e-3, 1e-9, 1e-6 * time, *setup])
with open(path, 'w') as file:
    writer = csv.writer(file)
    writer.writerow('matrix,rows,cols,nnz,type,plan,bytes,build_s,min_s,median_s,choose_s,make_s,make_predicted_s'.split(','))
    writer.writerows(rowsof)
if 'tune=measure' in argument('-types'):
    print('chosen: x by measuring of 9 options, 5 measured by 31 products in 0.1 s\nchosen: y by measuring of 80 options, 60 measured by 900 products in 3 s')
'''
CALIBRATE = r'''#!%s
import os, sys
out = sys.argv[sys.argv.index('-out') + 1]
os.makedirs(os.path.dirname(out), exist_ok=True)
with open(out, 'w') as file:
    file.write(sys.argv[sys.argv.index('-f') + 1])
'''
MPIEXEC = '''#!%s
import os, subprocess, sys
with open(os.environ['LOG'] + '.mpi', 'a') as log: log.write(' '.join(sys.argv[1:]) + '\\n')
first = sys.argv[1:sys.argv.index(':')]
sys.exit(subprocess.call(first[first.index('taskset') + 3:]))
'''


def path(*names):
    return os.path.join(root.name, *names)


def write(name, text, mode=0o644):
    with open(path(name), 'w') as file:
        file.write(text)
    os.chmod(path(name), mode)
    return path(name)


def tune(matrices, *arguments, status=0, told="rates are Zen 9's", name='tune'):
    """the report, what was said, and what was run"""
    for old in 'log', 'log.mpi':
        if os.path.exists(path(old)):
            os.remove(path(old))
    command = [sys.executable, os.path.join(FOLDER, 'tune'), '--spmvbench', write('spmvbench', FAKE % sys.executable, 0o755), '--types', 'bccoo,pmf', '--work', path('work'), '--folder', path('docs'), '--command', 'make x', '--name', name]
    command += ['--index', write('index.tsv', 'name\tkind\nweb\tweb graph\n'), '--fem-cases', write('fem.tsv', '\t'.join(femcases.COLUMNS) + '\npoisson2d_p3\tL2\t3\tnatural\npoisson3d_q2\tmemory\t4\tnatural\n')]
    done = subprocess.run(command + list(arguments) + [','.join('/x/%s.petsc' % m for m in matrices)], capture_output=True, text=True, timeout=120, env={**os.environ, 'LOG': path('log'), 'TOLD': told})
    assert done.returncode == status and 'Traceback' not in done.stderr, done.stderr[-600:]
    page = path('docs', name + '.md')
    with open(page) if os.path.exists(page) else open(os.devnull) as file:
        text = file.read()
    with open(path('log')) if os.path.exists(path('log')) else open(os.devnull) as file:
        return text, done.stderr, [line.split() for line in file]


def has(text, *parts):
    for part in parts:
        assert part in text, '%s is not in %s' % (part, text)


def best():
    """the first run's best counts with its time in the last one, 390, and aij's, sell's, both of estimate's: 1000, 700, 440, 484"""
    text, _, ran = tune(['a'])
    has(text, '| all |  | 1 | 0.864 | 0.86 (a) | 1.000 | 1.00 (a) | 2.27 | 2.27 (a) | 1.59 | 1.59 (a) | 1.100 |', '| a | 100000 | `bccoo:block_height=2` | 3.800 | pmf | 0.86 | bccoo | 1.00 | 2.27 | 1.59, sell |')
    assert [(w[0], w[2]) for w in ran] == [('a', '0.02')] * 3 + [('a', '0.16')], ran
    has(text, 'plans to choose from and measured 60', '`measure` ran 31 products; `patient` had 80 ', '1 of 1 matrices.')


def luck():
    """the best is the plan that was chosen, whose other storage took longer: 1, not 400 / 440"""
    text, _, _ = tune(['luck'])
    has(text, '| luck | 100000 | `pmf:window=4096` | 4.000 | pmf | 1.00 | pmf | 1.00 | 2.27 |', '| all |  | 1 | 1.000 | 1.00 (luck) | 1.000 | 1.00 (luck) | 2.27 |')


def resumes():
    """what was measured is not measured again, and the report is the same; without --resume it is"""
    whole, _, _ = tune(['a', 'b'])
    tune(['a'])
    text, _, ran = tune(['a', 'b'], '--resume')
    assert text == whole and {w[0] for w in ran if w[0] != 'spmvbench'} == {'b'}, ran
    _, _, ran = tune(['a', 'b'], '--resume')
    assert not [w for w in ran if w[0] in 'ab'], ran
    _, _, ran = tune(['a'])
    assert [w for w in ran if w[0] == 'a'], ran
    with open(path('work', 'tune.jsonl')) as file:
        lines = file.readlines()
    write('work/tune.jsonl', ''.join([json.dumps(['0123abc', written.machine()]) + '\n'] + lines[1:]))
    _, said, ran = tune(['a'], '--resume', status=2)
    has(said, 'at commit 0123abc', 'this is commit ', 'Start anew')
    assert not [w for w in ran if w[0] == 'a'], ran


def orders():
    """the three fastest plans in both orders, for square matrices whose vectors do not fit the first cache only"""
    text, _, ran = tune(['b'])
    ordered = [plan + order for plan in ('pmf:window=64', 'bccoo:block_height=2', 'pmf:window=4096') for order in (':mat_spmv_order=none', ':mat_spmv_order=levels')]
    assert ran[2][1].split(',') == ordered, ran
    has(text, '| b | 100000 | `pmf:window=64:mat_spmv_order=levels` | 1.950 |')
    assert ran[3][1].split(',')[:2] == ['pmf:window=64:mat_spmv_order=levels', 'bccoo:block_height=2:mat_spmv_order=none'], ran
    for name in 'small', 'wide':
        text, _, ran = tune([name])
        assert len(ran) == 3 and not any('order=levels' in w[1] for w in ran), ran
        has(text, '| %s | 100000 | `bccoo:block_height=2` |' % name)


def patience():
    """300 products of aij, at least what is asked for and at most 20 seconds"""
    for name, asked, seconds in ('a', '0.1', 'seconds=0.3'), ('a', '7', 'seconds=7'), ('out', '3', 'seconds=12'), ('out', '30', 'seconds=20'):
        _, _, ran = tune([name], '--patience', asked)
        assert ran[1][1].endswith('mat_spmv_tune_' + seconds), (ran[1], seconds)


def families():
    """each in its own row and in one of two sums; by size as well"""
    text, _, _ = tune(['web', 'poisson2d_p3-3', 'poisson3d_q2-4', 'ex1-interpolation1', 'ex1-coarse1', 'ex1', 'ex2'])
    for row in ('families that constants were fitted to |  | 4 |', 'families that none was fitted to |  | 3 |', 'DOLFINx, in L2 |  | 1 |', 'DOLFINx, out of cache |  | 1 |', 'PETSc: GAMG, interpolations | no | 1 |',
                "PETSc: tutorials' matrices | no | 2 |"):
        has(text, '\n| ' + row)
    for name in 'DOLFINx: p3', 'DOLFINx: q2, out of cache', 'PETSc: GAMG, coarse levels', 'real: graphs':
        told = re.search(r'^\| %s \| yes: ([\d, ]+) \| 1 \|' % name, text, re.MULTILINE)
        assert told and [int(n) for n in told[1].split(', ')] == tunefamilies.fitted(name), (name, text)
    assert text.count('\n| families') == 2 and 'were fitted to |' not in tune(['ex1'], name='other')[0]


def halves():
    """rates are fitted to one half of the families and choose for the other: of bccoo with 500 where the best takes 380; no kind is in both"""
    names = ['poisson2d_p3-3', 'poisson3d_q2-4', 'web', 'ex1', 'ex2']
    text, _, ran = tune(names, '--calibrate', write('calibrate', CALIBRATE % sys.executable, 0o755))
    fitted = []
    for half in '01':
        with open(path('work', 'half-' + half, 'petscspmv', 'machine')) as file:
            fitted.append({os.path.basename(f).split('.')[0] for f in file.read().split(',')})
    assert fitted[0] | fitted[1] == set(names) and not fitted[0] & fitted[1] and {'ex1', 'ex2'} in ([f & {'ex1', 'ex2'} for f in fitted]), fitted
    assert [w[0] for w in ran if w[1].endswith(',spmv')] == [n for half in (1, 0) for n in names if n in fitted[half]], ran
    section = text[text.index('## Rates fitted to one half'):text.index('## Set-up')]
    assert section.count(' | 0.864 | 0.86 (') == section.count(' | 0.760 | 0.76 (') == 2, section
    assert tunehalves.group('DOLFINx: p2, out of cache') == 'DOLFINx: p2' and tunehalves.group('DOLFINx: heat, out of cache') == 'DOLFINx: p1'
    assert '## Rates fitted' not in tune(names)[0]
    assert '## Rates fitted' not in tune(['ex1', 'ex2'], '--calibrate', path('calibrate'))[0], 'of one family there are no halves'


def constants():
    """those that the lists name are in src/, and families are there that they were fitted to"""
    source = ''
    for folder, _, files in os.walk(os.path.join(ROOT, 'src')):
        for name in files:
            if name.endswith(('.c', '.h')):
                with open(os.path.join(folder, name)) as file:
                    source += file.read()
    named = re.findall(r'`([A-Z_]+)', ' '.join([f[0] for f in tunefamilies.FITTED] + [tunefamilies.UNKNOWN]))
    assert len(named) > 8 and not [n for n in named if not re.search(r'\b' + n, source)], [n for n in named if n not in source]
    there = {f[0] for f in tunefamilies.known('', os.path.join(FOLDER, 'fem.tsv')).values()} | {tunefamilies.COARSE, tunefamilies.INTERPOLATIONS, tunefamilies.TUTORIALS, 'real: graphs'}
    for constant, _, where in tunefamilies.FITTED:
        assert all(any(re.match(w, family) for family in there) for w in where), constant
    assert {tunefamilies.TUTORIALS, tunefamilies.INTERPOLATIONS} <= {f for f in there if not tunefamilies.fitted(f)} and 'DOLFINx: elasticity, out of cache' in there, there


def grid():
    """knobs as they are declared: which have three values, which shape blocks, which nobody tries"""
    os.makedirs(path('impls', 'foo', 'host'), exist_ok=True)
    write('impls/foo/foo.h', '  [A] = SPMV_CHOICES("a", "help (of A)", As, NULL, SPMV_KNOB_SHAPE), \\\n  [B] = SPMV_LIST("b", "SPMV", 1, 2)\n')
    write('impls/foo/host/foo.c', 'SPMV_RANGE("c", "x", 4, 1, 9, SPMV_KNOB_TILE),\nSPMV_RANGE( \\\n "d", "x", 4, 1, f(9)), SPMV_CHOICES("e", "y", Es, NULL, SPMV_KNOB_USERS)')
    assert tunegrid.knobs(path('impls')) == [('foo', 'CHOICES', 'a', 'SHAPE'), ('foo', 'LIST', 'b', 'USERS'), ('foo', 'RANGE', 'c', 'TILE'), ('foo', 'RANGE', 'd', 'USERS'), ('foo', 'CHOICES', 'e', 'USERS')], tunegrid.knobs(path('impls'))
    text = ' '.join(tunegrid.text(path('impls')))
    has(text, 'of a range (`foo_c`)', 'of blocks (`foo_a`)', 'turn: `foo_b`, `foo_d`, `foo_e`.')
    has(' '.join(tunegrid.text()), '`pmf_pieces`', '`pmf_block`', '`sbccoo_exact`', '`csradaptive_nnz_multiplier`', '(`bccoo_block_height`, ')


def setup():
    """choosing, making and both, in products of aij; what was predicted of making over what it took"""
    text, _, _ = tune(['a', 'out'])
    has(text, '| in cache | 1 | 2.0 | 1.0 | 1.0 (a) | 3.0 | 3.0 | 2.00 | 2.00 |', '| out of cache | 1 | 0.1 | 0.0 | 0.0 (out) | 0.1 | 0.1 | 2.00 | 2.00 |', '| all | 2 | ')
    text, _, _ = tune(['a'], told="of 16 ways, of which 0 kB are counted on: y; rates are Zen 9's")
    has(text, '| out of cache | 1 | 2.0 |', 'in the 0 MB of the last one', "ones of Zen 9.")


def left_out():
    """what fails is told and counted"""
    text, err, _ = tune(['half', 'a', 'broken', 'web'])
    has(err, '/x/half.petsc is left out: bccoo did not run', '/x/broken.petsc is left out: spmvbench: it is broken')
    has(text, '2 of 4 matrices; left out: half, broken.', '| all |  | 2 |')
    assert '| half |' not in text and '| broken |' not in text, text


def machines():
    """whose rates; another processor's report stays"""
    has(tune(['a'])[0], 'Rates: the built-in ones of Zen 9.')
    has(tune(['a'], told="rates are Zen 9's\nthe machine is as /home/x/machine says")[0], 'Rates: of this machine, as `machine` ')
    other = tune(['a'])[0].replace(written.machine(), 'Other Processor, 4 cores, L2 512 KiB, last level 0 KiB')
    write('docs/tune.md', other)
    text, err, ran = tune(['a'], status=2)
    assert text == other and not ran, text
    has(err, 'of another processor (Other Processor', 'TUNE_NAME')
    has(tune(['a'], name='tune-two')[0], '| a |')
    os.remove(path('docs', 'tune.md'))


def ranks():
    """processes of one world, each on a processor of its own"""
    write('sitecustomize.py', 'import os\nos.sched_getaffinity = lambda pid: {3, 5}\n')
    env, os.environ['PYTHONPATH'] = os.environ.get('PYTHONPATH'), root.name
    assert 'each process needs one' in tune(['a'], '--ranks', '3', status=2)[1]
    text, _, ran = tune(['a'], '--ranks', '2', '--mpiexec', write('mpiexec', MPIEXEC % sys.executable, 0o755), name='ranks')
    del os.environ['PYTHONPATH']
    os.environ.update({'PYTHONPATH': env} if env else {})
    has(text, '# What the tuner chooses, 2 processes\n', '2 processes at once, of which one is reported, 1 thread each')
    with open(path('log.mpi')) as file:
        lines = file.read().splitlines()
    assert len(lines) == len(ran) and all(l.count('-n 1 taskset -c %d ' % p) == 1 for l in lines for p in (3, 5)) and all(l.count(' -f ') == 2 for l in lines), lines


for check in best, luck, resumes, orders, patience, families, halves, constants, grid, setup, left_out, machines, ranks:
    tap.check('tunereport_' + check.__name__, check)
