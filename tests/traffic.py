#!/usr/bin/env python3
"""What kernels ask of an H100's memory, by the emulated driver's meter, and what NVRTC makes of them. Plans are those that users get
who set no knob: what the tuner's estimate chooses for an H100.

usage: traffic.py [--allow | --write]

Each kernel may read LIMIT times its own bytes of the matrix's arrays at most: in sectors of 32 bytes that L1 has to get, with caches
that are empty at first, and in sectors that its warps ask for, added up. x, y and work arrays are counted apart. Own bytes are
those that its work items ask for, each once, of an array whole sectors. tests/traffic/allowed.tsv lists the kernels that read more,
with the numbers seen: more than listed fails, and so does less, so that the list has what is.

No kernel may spill registers, and the innermost loops of those of FORMATS that read values must have FLIGHT loads under way, as
nvdisasm shows NVRTC's code for sm_90; tests/traffic/flight.tsv lists in the same way those that have fewer.

--allow writes the two lists, --write docs/devices.md as well.
"""
import argparse, os, re, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.append(os.path.join(ROOT, 'tests/traffic'))
import sass

ALLOWED, FEW, PAGE = (os.path.join(ROOT, name) for name in ('tests/traffic/allowed.tsv', 'tests/traffic/flight.tsv', 'docs/devices.md'))
LIMIT, SLACK = 1.1, 0.02
SOME = () if os.environ.get('ALL') else ('-matrix', 'p2:8,powerlaw:60000')  # what a test looks at without $ALL
FLIGHT, FORMATS = 4, ('cmrs', 'csradaptive', 'pmf', 'tpspmv')
COMPARED = ('csr-vector', 'merge')  # measured to compare with, not ours to mend
BANDWIDTHS = (('H100', 3.35e12), ('H200', 4.8e12))  # SXM, bytes a second
PROCESSORS, CLOCK = 132, 1.7e9  # of both; the clock under load
FIELDS = {
    'product': ('matrix', 'format', 'plan', 'chosen', 'nz', 'rows', 'columns'),
    'program': ('matrix', 'format', 'options'),
    'launch': ('matrix', 'format', 'kernel', 'groups', 'values'),
    'kernel': ('matrix', 'format', 'kernel', 'nz', 'launches', 'groups', 'group', 'shared', 'residents', 'warps', 'barriers', 'syncs', 'steps', 'active', 'apart',
               'shared_requests', 'shared_passes', 'shared_least', 'others', 'most'),
    'array': ('matrix', 'format', 'kernel', 'nz', 'array', 'role', 'kind', 'requests', 'bytes', 'distinct', 'sectors', 'lines', 'l2', 'dram'),
}
TEXT = ('matrix', 'format', 'kernel', 'plan', 'chosen', 'options', 'array', 'role', 'kind')


class Skip(Exception):
    """Why something cannot be done here"""


def run(*options, **arguments):
    """What the program prints"""
    done = subprocess.run([os.path.join(ROOT, 'tests/traffic/run'), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **arguments)
    if done.returncode:
        raise RuntimeError('exit status %d: %s' % (done.returncode, done.stderr[:2000]))
    if done.stdout.startswith('skip\t'):
        raise Skip(done.stdout.split('\t')[1].strip())
    return done.stdout


def measure(*options):
    """{'product': [...], 'kernel': [...], ...}, each a dictionary of its fields"""
    compiler = os.environ.get('CXX', 'c++')
    if not shutil.which(compiler):
        raise Skip('there is no C++ compiler: install g++')
    if '__clang__' in subprocess.run([compiler, '-x', 'c++', '-dM', '-E', os.devnull], stdout=subprocess.PIPE, text=True).stdout:
        raise Skip('the numbers are for the code of g++')
    found = {kind: [] for kind in FIELDS}
    with tempfile.TemporaryDirectory() as folder:
        for line in run('-tsv', *options, env=dict(os.environ, FAKE_CUDA_FOLDER=folder)).splitlines():
            kind, *words = line.split('\t')
            found[kind].append({name: word if name in TEXT else int(word) for name, word in zip(FIELDS[kind], words, strict=True)})
    return found


def ratios(found):
    """{(matrix, format, kernel): (sectors from L2, warps' sectors)}, in own bytes of the matrix"""
    sums = {}
    for a in found['array']:
        if a['role'] != 'matrix' or a['format'] in COMPARED:
            continue
        total = sums.setdefault((a['matrix'], a['format'], a['kernel']), [0, 0, 0])
        for k, amount in enumerate((-(-a['distinct'] // 32) * 32, 32 * a['l2'], 32 * a['sectors'])):
            total[k] += amount
    return {key: (l2 / own, warps / own) for key, (own, l2, warps) in sums.items()}


def code(found):
    """{(matrix, format, kernel): (registers, bytes of shared memory, bytes spilled)} of all launched

    With nvdisasm also loads under way at least, at most, one after the other.
    """
    programs, seen = {}, {}
    for p in found['program']:
        programs.setdefault((p['format'], p['options']), len(programs))
    with tempfile.TemporaryDirectory() as folder:
        run('-code', folder, input=''.join('%d\t%s\t%s\n' % (number, *key) for key, number in programs.items()))
        for key, number in programs.items():
            with open(os.path.join(folder, '%d.log' % number)) as file:
                seen[key] = sass.said(file.read())
            for kernel, body in sass.functions(os.path.join(folder, '%d.cubin' % number)).items() if sass.nvdisasm() else ():
                seen[key][kernel] += (*sass.loads(body), sass.chain(body))
    options = {(p['matrix'], p['format']): p['options'] for p in found['program']}
    return {(l['matrix'], l['format'], l['kernel']): seen[l['format'], options[l['matrix'], l['format']]][l['kernel']] for l in found['launch']}


def flights(found, seen):
    """{(format, kernel): loads under way in the innermost loop that has the fewest}, of kernels that read values"""
    least = {}
    for l in found['launch']:
        if l['values'] and l['format'] in FORMATS:
            loads = seen[l['matrix'], l['format'], l['kernel']][3]
            key = l['format'], l['kernel']
            least[key] = min(loads, least.get(key, loads))
    return least


# What tests/traffic/known.cl asks for: requests, sectors, lines, sectors from or to L2, and memory; shared memory
KNOWN = {
    ('known_copy', 'x'): (32, 256, 64, 256, 256),
    ('known_copy', 'y'): (32, 256, 64, 256, 256),
    ('known_stride', 'x'): (32, 1024, 256, 1024, 256),
    ('known_same', 'x'): (32, 32, 32, 8, 1),
    ('known_twice', 'x'): (64, 512, 128, 256, 256),
    ('known_loops', 'x'): (256, 2048, 512, 512, 64),
    ('known_loops', 'apart'): (192,),
    ('known_loops', 'most'): (10,),
    ('known_twice', 'barriers'): (8,),
    ('known_banks', 'shared'): (128, 32 * (32 + 2 + 2 + 2), 256),
}


def test_known():
    found, seen = measure('-matrix', 'unit:1024', '-format', 'known'), {}
    for a in found['array']:
        seen[a['kernel'], a['array']] = tuple(a[name] for name in ('requests', 'sectors', 'lines', 'l2', 'dram'))
    for k in found['kernel']:
        seen.update(((k['kernel'], name), (k[name],)) for name in ('apart', 'barriers', 'most'))
        seen[k['kernel'], 'shared'] = tuple(k['shared_' + name] for name in ('requests', 'passes', 'least'))
    say('traffic', 'known', ['%s: %s, not %s' % (' '.join(key), seen.get(key), counts) for key, counts in KNOWN.items() if seen.get(key) != counts])


def test_chosen():
    """A knob that is set stays; of the others bccoo's blocks are by the matrix"""
    plans = {plan: measure('-matrix', 'elasticity:16', '-format', 'bccoo', '-plan', plan)['product'][0]['plan'].split() for plan in ('', 'block_height=2')}
    say('traffic', 'chosen', ['%s: %s' % (plan, ' '.join(plans[plan])) for plan, words in (('', ('block_height=3', 'block_width=3')), ('block_height=2', ('block_height=2',)))
                              if not set(words) <= set(plans[plan])])


# A loop that loads a column, a value and what the column names; one that loads four values before it adds them; loads that wait by a
# uniform register, by a carry, and by a predicate that is the load's own; a predicate that was set again since
CODE = """
.text.one:
.L_x_0:
        /*0010*/                   LDG.E.64 R4, desc[UR4][R8.64] ;
        /*0020*/                   LDG.E R6, desc[UR4][R10.64] ;
        /*0030*/                   IMAD.WIDE R12, R6, 0x8, R14 ;
        /*0040*/                   LDG.E.64 R16, desc[UR4][R12.64] ;
        /*0050*/                   DFMA R18, R4, R16, R18 ;
        /*0060*/               @P0 BRA `(.L_x_0) ;
        /*0070*/                   STG.E.64 desc[UR4][R2.64], R18 ;
.text.four:
.L_x_1:
        /*0010*/                   LDG.E.128 R4, desc[UR4][R20.64] ;
        /*0020*/                   LDG.E.64 R8, desc[UR4][R20.64+0x10] ;
        /*0030*/              @!P1 LDG.E.64.CONSTANT R10, desc[UR4][R20.64+0x18] ;
        /*0040*/                   LDG.E.64 R12, desc[UR4][R20.64+0x20] ;
        /*0050*/                   DADD R18, R6, R18 ;
        /*0060*/                   DADD R18, R8, R18 ;
        /*0070*/                   DADD R18, R10, R18 ;
        /*0080*/                   DADD R18, R12, R18 ;
        /*0090*/               @P0 BRA `(.L_x_1) ;
.text.uniform:
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR12][R2.64] ;
        /*0020*/                   R2UR UR10, R4 ;
        /*0030*/                   UIADD3 UR4, UP2, UR10, UR6, URZ ;
        /*0040*/                   UIADD3.X UR5, UR5, UR7, URZ, UP2, !UPT ;
        /*0050*/                   IMAD.U32 R8, RZ, RZ, UR4 ;
        /*0060*/                   LDG.E.EF R6, desc[UR12][R8.64] ;
        /*0070*/                   IMAD.WIDE R10, R6, 0x8, R14 ;
        /*0080*/                   LDG.E.64.CONSTANT R12, desc[UR12][R10.64] ;
.text.carry:
        /*0010*/                   LDG.E R4, desc[UR12][R2.64] ;
        /*0020*/                   IADD3 RZ, P1, R4, UR16, RZ ;
        /*0030*/                   LEA.HI.X.SX32 R9, R0, UR5, 0x1, P1 ;
        /*0040*/                   LDG.E R6, desc[UR12][R8.64] ;
.text.predicate:
        /*0010*/                   LDG.E R4, desc[UR12][R2.64] ;
        /*0020*/                   ISETP.GE.AND P0, PT, R4, UR6, PT ;
        /*0030*/               @P0 LDG.E R6, desc[UR12][R8.64] ;
        /*0040*/              @!P0 MOV R6, RZ ;
        /*0050*/                   IMAD.WIDE R8, R6, 0x8, R10 ;
        /*0060*/                   LDG.E R7, desc[UR12][R8.64] ;
.text.again:
        /*0010*/                   LDG.E R4, desc[UR12][R2.64] ;
        /*0020*/                   ISETP.GE.AND P0, PT, R4, UR6, PT ;
        /*0030*/                   ISETP.GE.AND P0, PT, R0, UR6, PT ;
        /*0040*/               @P0 LDG.E R6, desc[UR12][R8.64] ;
"""
CODE_SEEN = {'one': (2, 2, 2), 'four': (4, 4, 1), 'uniform': (1, 1, 3), 'carry': (1, 1, 2), 'predicate': (1, 1, 3), 'again': (1, 1, 1)}


def test_sass():
    bodies = sass.parse(CODE)
    seen = {kernel: (*sass.loads(body), sass.chain(body)) for kernel, body in bodies.items()}
    say('traffic', 'sass', ['%s: %s, not %s' % (kernel, seen.get(kernel), counts) for kernel, counts in CODE_SEEN.items() if seen.get(kernel) != counts])


# ---- the lists ----


def listed(path, keys):
    with open(path) as file:
        rows = [line.rstrip('\n').split('\t') for line in file if not line.startswith('#')]
    return {tuple(row[:keys]): tuple(float(number) for number in row[keys:]) for row in rows}


def write(path, comment, rows):
    with open(path, 'w') as file:
        file.write('# %s. make traffic-allow writes this\n' % comment)
        file.writelines('\t'.join(row) + '\n' for row in rows)


def allow(found, seen):
    order = sorted(ratios(found).items(), key=lambda item: (item[0][1:], item[0][0]))
    write(ALLOWED, 'Kernels of the plans that users get that read over %.1f of their own bytes of a matrix: sectors from L2, sectors of warps' % LIMIT,
          [(*key, *('%.3f' % number for number in ratio)) for key, ratio in order if max(ratio) > LIMIT])
    write(FEW, 'Kernels of the plans that users get with fewer than %d loads under way in an innermost loop' % FLIGHT,
          [(*key, str(loads)) for key, loads in sorted(flights(found, seen).items()) if loads < FLIGHT])


# ---- tests ----


def read_wrong(key, ratio, known):
    """What is wrong with the ratios of a kernel"""
    for number, what, limit in zip(ratio, ('from L2', 'by warps'), known.get(key, (0, 0))):
        if number > max(LIMIT, limit + SLACK):
            return '%s: %.3f of its own bytes are read %s, over %.3f' % (' '.join(key), number, what, max(LIMIT, limit))
        if key in known and number < limit - SLACK:
            return '%s: %.3f of its own bytes are read %s, %.3f are listed: make traffic-allow' % (' '.join(key), number, what, limit)
    if key in known and max(ratio) <= LIMIT:
        return '%s is listed and need not be: make traffic-allow' % ' '.join(key)
    return None


def flight_wrong(key, loads, known):
    """What is wrong with the loads under way in a kernel"""
    wanted = known.get(key, (FLIGHT,))[0]
    if loads < wanted:
        return '%s: %d loads under way, under %d' % (' '.join(key), loads, wanted)
    if key in known and loads > wanted:
        return '%s: %d loads under way, %d are listed: make traffic-allow' % (' '.join(key), loads, wanted)
    return None


def say(what, name, problems):
    problems = [problem for problem in problems if problem]
    print('not ok %s_%s # %s' % (what, name, problems[0]) if problems else 'ok %s_%s' % (what, name))
    for problem in problems:
        print('# ' + problem)


def test_list(what, position, values, known, wrong):
    """A test for each format, at a position of the keys"""
    for name in sorted({key[position] for key in [*values, *known]}):
        say(what, name, [wrong(key, value, known) for key, value in values.items() if key[position] == name] +
            ['%s is listed and was not seen: make traffic-allow' % ' '.join(key) for key in known if key[position] == name and key not in values])


def test_estimate():
    """An H200, which FAKE_CUDA_GPU makes of the driver, is estimated to be faster than a GPU that tells neither clock nor bandwidth"""
    def seconds(gpu):
        lines = run('-estimate', '-matrix', 'uniform:60000', env=dict(os.environ, FAKE_CUDA_GPU=gpu)).splitlines()
        return {words[2]: float(words[3]) for words in (line.split('\t') for line in lines) if words[0] == 'estimate'}

    slow, fast = seconds(''), seconds('H200')
    say('traffic', 'estimate', ['%s: %s us by an H200, %s otherwise' % (name, fast.get(name), slow.get(name)) for name in FORMATS
                                if not fast.get(name, 1) < slow.get(name, 0)])


def test(found):
    test_known()
    test_chosen()
    test_estimate()
    test_sass()
    seen = {p['matrix'] for p in found['product']}
    say('traffic', 'matrices', ['%s was not multiplied' % matrix for matrix in (SOME[1].split(',') if SOME else ()) if matrix not in seen])
    test_list('traffic', 1, ratios(found), {key: limit for key, limit in listed(ALLOWED, 3).items() if key[0] in seen or not SOME}, read_wrong)
    try:
        seen = code(found)
    except Skip as why:
        print('ok traffic_code # SKIP %s' % why)
        return
    say('traffic', 'spills', ['%s spills %d bytes' % (' '.join(key), numbers[2]) for key, numbers in seen.items() if numbers[2]])
    if not sass.nvdisasm():
        print('ok traffic_flight # SKIP there is no nvdisasm: conf/fetch-nvdisasm')
        return
    test_list('traffic_flight', 0, flights(found, seen), listed(FEW, 2), flight_wrong)


# ---- docs/devices.md ----


def amount(found, key, level, *wanted):
    """Bytes a nonzero of the arrays of a kernel that have a role and a kind"""
    return sum(a[level] * (1 if level == 'distinct' else 32) / a['nz'] for a in found['array'] if (a['matrix'], a['format'], a['kernel']) == key and (a['role'], a['kind']) in wanted)


MATRIX, X, REST = [('matrix', 'load')], [('x', 'load')], [(role, kind) for role in ('y', 'work') for kind in ('load', 'store')]


def nanoseconds(found, k):
    """To look up a line, or go through the banks, in each cycle of the processors that have a work group; to move bytes"""
    key = k['matrix'], k['format'], k['kernel']
    lines = sum(a['lines'] for a in found['array'] if (a['matrix'], a['format'], a['kernel']) == key)
    bytes_moved = k['nz'] * amount(found, key, 'dram', *MATRIX, *X, *REST)
    times = [(lines + k['shared_passes']) / CLOCK / min(PROCESSORS, k['groups'])] + [bytes_moved / rate for _, rate in BANDWIDTHS]
    return ['%.0f' % (1e9 * time) for time in times]


def row(found, k, seen):
    key = k['matrix'], k['format'], k['kernel']
    gathers = [a for a in found['array'] if (a['matrix'], a['format'], a['kernel']) == key and a['role'] == 'x']
    registers, shared, _, least, most, chain = seen[key]
    return [
        k['kernel'] + (', %d launches' % k['launches'] if k['launches'] > 1 else ''), *('%.2f' % amount(found, key, level, *MATRIX) for level in ('distinct', 'l2', 'sectors')),
        *('%.2f' % amount(found, key, level, *X) for level in ('dram', 'l2')),
        '%.1f' % (sum(a['lines'] for a in gathers) / sum(a['requests'] for a in gathers)) if gathers else '',
        *('%.2f' % amount(found, key, level, *REST) for level in ('dram', 'l2')),
        '%.2f (%.2f)' % (k['shared_passes'] / k['nz'], k['shared_least'] / k['nz']) if k['shared_passes'] else '',
        ', '.join('%.0f%s' % (k[name] / k[among], of) for name, among, of in (('barriers', 'groups', ''), ('syncs', 'warps', ' w')) if k[name]),
        '%.0f %%' % (100 * k['apart'] / max(k['steps'], 1)), '%d' % k['groups'], '%d' % registers,
        '%.0f %%' % (100 * sass.occupancy(registers, shared, k['group'])), '%d' % least if least == most else '%d to %d' % (least, most),
        '%d' % chain, '%d' % k['most'],
        *nanoseconds(found, k)
    ]


TIMES = ('ns from L1', *('ns on %s' % name for name, _ in BANDWIDTHS))
HEADS = ('kernel', 'matrix: own', 'matrix: L1 misses', 'matrix: asked by warps', 'x: memory', 'x: L1 misses', 'x: lines a load', 'y, work: memory', 'y, work: L1 misses',
         'passes', 'barriers', 'divergent', 'groups', 'registers', 'occupancy', 'loads', 'chain', 'longest warp', *TIMES)


def summary(found):
    """Bytes of memory of all kernels, a row for each matrix"""
    moved = {}
    for k in found['kernel']:
        place = k['matrix'], k['format']
        moved[place] = moved.get(place, 0) + amount(found, (*place, k['kernel']), 'dram', *MATRIX, *X, *REST)
    formats = list(dict.fromkeys(name for _, name in moved))
    lines = ['### All kernels together: bytes to and from memory for each nonzero', '', '| matrix | %s |' % ' | '.join(formats), '|---%s|' % ('|--:' * len(formats))]
    for matrix in dict.fromkeys(matrix for matrix, _ in moved):
        lines.append('| %s | %s |' % (matrix, ' | '.join('%.2f' % moved[matrix, name] for name in formats)))
    return [*lines, '']


def tables(found, seen):
    lines = summary(found)
    for matrix in dict.fromkeys(p['matrix'] for p in found['product']):
        products = [p for p in found['product'] if p['matrix'] == matrix]
        chosen = ''.join(' The estimate chooses for %s: `%s`.' % (p['format'], p['chosen'].replace(' ', '`, `')) for p in products if p['chosen'])
        lines += ['### %s' % matrix, '', '%d rows, %d columns, %d nonzeros.%s' % (products[0]['rows'], products[0]['columns'], products[0]['nz'], chosen), '',
                  '| type | %s |' % ' | '.join(HEADS), '|---|---%s|' % ('|--:' * (len(HEADS) - 1))]
        for p in products:
            kernels = [k for k in found['kernel'] if (k['matrix'], k['format']) == (matrix, p['format'])]
            rows = [row(found, k, seen) for k in kernels]
            if len(rows) > 1:
                rows.append(['**all**'] + [''] * (len(HEADS) - 1 - len(TIMES)) + ['**%d**' % sum(int(r[k]) for r in rows) for k in range(-len(TIMES), 0)])
            lines += ['| %s | %s |' % ('' if number else p['format'], ' | '.join(cells)) for number, cells in enumerate(rows)]
        lines.append('')
    return '\n'.join(lines)


def document(found, seen):
    with open(PAGE) as file:
        page = file.read()
    page, count = re.subn(r'(<!-- make device-traffic -->\n).*(<!-- end -->\n)', lambda part: part[1] + '\n' + tables(found, seen) + part[2], page, flags=re.S)
    if count != 1:
        sys.exit('traffic.py: docs/devices.md has no place for the tables')
    with open(PAGE, 'w') as file:
        file.write(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--allow', action='store_true')
    parser.add_argument('--write', action='store_true')
    given = parser.parse_args()
    try:
        found = measure(*(() if given.allow or given.write else SOME))
        if not given.allow and not given.write:
            test(found)
            return
        if not sass.nvdisasm():
            raise Skip('there is no nvdisasm: conf/fetch-nvdisasm')
        seen = code(found)
        allow(found, seen)
        if given.write:
            document(found, seen)
    except Skip as why:
        if given.allow or given.write:
            sys.exit('traffic.py: %s' % why)
        print('ok traffic # SKIP %s' % why)


if __name__ == '__main__':
    main()
