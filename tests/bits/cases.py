"""The cases that tests/bits/compare runs: which plans of which types, on which matrices. Knobs are those of the first library that
was compared with; one that a later library has no more is reported as gone."""
import itertools

ISAS = 'scalar', 'avx2', 'avx512'
TYPES = 'bccoo', 'cmrs', 'csradaptive', 'pmf', 'sbccoo', 'tpspmv'

KNOBS = {  # of each type, the values that are tried
    'bccoo': {
        'block_height': '0 1 2 3 4 5 6 7 8', 'block_width': '0 1 2 3 4 5 6 7 8', 'columns': 'auto int32 uint16 difference', 'flag_bits': '32 8 16',
        'tile': '0 8 16 24 32 40 48 64 96 128 256 512 1024', 'bunch': '0 1 8', 'slices': '1 2 4 8 16 32', 'values': 'auto plain coded float'},
    'cmrs': {'height': '0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16', 'order': 'auto rows columns interleaved padded', 'word': '0 32 64', 'align': '1 0'},
    'csradaptive': {
        'nnz_per_wg': '8 64 500 2048 4096', 'num_rows_stream': '1 2 16 64 16384', 'nnz_multiplier': '1 2 8 64', 'long': '1 32 128 100000',
        'short': '0 1 8 32 1000'},
    'pmf': {
        'partition': 'pmf nnz rows diagonal', 'powers': '1,2,6 1,1 7 3,1,4,1,5', 'window': 'auto 8 64 256 1024 4096 16384 global', 'block': '32 16',
        'columns': 'auto int32', 'pieces': 'auto none any 2 3 4', 'values': 'auto plain coded float'},
    'sbccoo': {'block': '0 1 2 3 4 5 6 7 8', 'pairs': 'found equal near', 'exact': 'yes no'},
    'tpspmv': {
        'cache': '0 1 64 1048576', 'tile': '0 2 16 1024 4096 8192 16384 32768 65536 131072 262144 524288 1048576 2097152 1073741824',
        'slice': '0 8 64 128 256 512 1024 2048 4096 8192 16384 32768 65536', 'long': '128 8 16 32 64 255', 'remove': 'auto no yes',
        'stream': 'auto no yes', 'values': 'auto plain coded float'}}

DEVICE_KNOBS = {
    'bccoo': {
        'workgroup': '128 64 256 512 1 2 4 8 16 32', 'strategy': '0 1 2 3', 'registers': '0 -1 8 16 32', 'cache': '1 2 3 4', 'bunch': '0 1 2 4',
        'transpose': 'auto offline online', 'carry': 'kernel adjacent', 'convert': 'auto host device'},
    'cmrs': {'workgroup': '128 32 64 256 512', 'order': 'auto columns grouped rows padded', 'align': '0 32 8 1', 'part': '0 128 256 512 1024 2048 4096 8192 16384 32768'},
    'csradaptive': {
        'workgroup': '256 64 128 512 1 2 4 8 16 32', 'nnz_per_wg': '0 64 256 512 1024 1536 2048 3072 4096', 'num_rows_stream': '0 1 2 3 4 8 16',
        'nnz_multiplier': '0 1 2 3 4 8', 'reduction': 'logarithmic scalar', 'parts': 'kernel atomic'},
    'pmf': {'workgroup': '128 64 256 512 32', 'slice': '32 1 8 16 64 128', 'long': '256 32 64 128 512 1024 4096', 'cut': 'yes no', 'convert': 'auto host device'},
    'tpspmv': {'workgroup': '128 64 256 512 32', 'stage': 'auto no yes', 'convert': 'auto host device'}}

# Knobs that work on each other: all their values together
TOGETHER = {
    'bccoo': [{'block_height': '1 2 3 4 5 6 7 8', 'block_width': '1 2 3 4 5 6 7 8', 'columns': 'int32 difference', 'bunch': '1 8'}],
    'cmrs': [{'height': '1 4 7 8 16', 'order': 'rows columns interleaved padded', 'word': '32 64', 'align': '1 0'}],
    'csradaptive': [{'nnz_per_wg': '8 64 4096', 'num_rows_stream': '1 64 16384', 'nnz_multiplier': '1 64', 'long': '1 128', 'short': '0 32'}],
    'pmf': [{'partition': 'pmf nnz rows diagonal', 'window': '8 256 global', 'columns': 'auto int32', 'pieces': 'none any 3'},
            {'partition': 'diagonal', 'block': '32 16', 'powers': '1,2,6 1,1', 'columns': 'auto int32'}],
    'sbccoo': [{'block': '1 2 3 6', 'pairs': 'found equal near', 'exact': 'yes no'}],
    'tpspmv': [{'tile': '2 16 1024 1073741824', 'slice': '8 64 1024', 'long': '8 128', 'remove': 'no yes', 'stream': 'no yes'}]}

DEVICE_TOGETHER = {
    'bccoo': [{'device_strategy': '1 2 3', 'block_height': '1 2 3 8', 'block_width': '1 3'},
              {'device_strategy': '1 2 3', 'columns': 'int32 uint16 difference', 'tile': '8 32'},
              {'device_strategy': '1 2 3', 'device_carry': 'kernel', 'device_workgroup': '32 256'},
              {'device_strategy': '1 3', 'device_convert': 'device', 'columns': 'int32 uint16 difference', 'block_height': '1 2', 'block_width': '1 2'},
              {'device_strategy': '1', 'device_transpose': 'online', 'device_workgroup': '32 128', 'columns': 'int32 uint16 difference', 'block_height': '1 3'},
              {'device_strategy': '1', 'device_registers': '-1 8', 'tile': '16 32', 'block_height': '1 4'},
              {'device_strategy': '2', 'device_cache': '1 4', 'device_workgroup': '8 64'},
              {'device_strategy': '3', 'device_bunch': '1 2 4', 'block_height': '1 3', 'slices': '1 4'}],
    'cmrs': [{'device_workgroup': '32 256', 'device_order': 'columns grouped rows padded', 'height': '0 4 16'},
             {'device_order': 'columns grouped rows', 'device_align': '32 8 1', 'device_part': '128 1024'}, {'device_order': 'padded', 'device_part': '128 1024'}],
    'csradaptive': [{'device_workgroup': '16 256', 'device_nnz_per_wg': '64 1024', 'device_num_rows_stream': '1 16', 'device_reduction': 'logarithmic scalar'}],
    'pmf': [{'partition': 'pmf nnz rows diagonal', 'window': '8 global', 'device_slice': '8 32', 'device_lanes': '1 4', 'device_long': '32 256'},
            {'device_parts': '1 2', 'powers': '1,2,6', 'partition': 'pmf nnz rows diagonal', 'columns': 'auto int32'},
            {'device_parts': '1', 'powers': '5,1 1,5', 'window': '8 global', 'device_long': '32 256'},
            {'device_convert': 'device', 'partition': 'pmf nnz', 'device_slice': '1 32', 'device_lanes': '1 4', 'device_long': '32 256'}],
    'tpspmv': [{'device_stage': 'no yes', 'device_workgroup': '32 128', 'tile': '16 1024 1073741824', 'slice': '64 1024'}, {'remove': 'no yes', 'tile': '16 1024', 'long': '8 128'},
               {'device_convert': 'device', 'remove': 'no yes', 'tile': '16 1073741824', 'long': '8 128'}]}

MIRRORED = 'mirror:150:1:4', 'mirror:90:2:0', 'mirror:60:3:4', 'mirror:40:6:2', 'declared:90:1', 'declared:60:3', 'declared:40:6'  # sbccoo leaves all others to another format
SMALL = ('random:700:600:8:6', 'fem:90:2:0', 'fem:90:3:1', 'fem:60:4:1', 'grid5:36', 'grid7:11', 'grid27:8', 'random:150:3000:25:5', 'random:2500:140:3:20',
         'power:900:900:2', 'power:700:100000:3', 'unsorted:700:600:8:6')
MANY_COLUMNS = SMALL.index('power:700:100000:3')
TINY = 'random:0:0', 'random:0:50', 'random:50:0', 'random:40:40:0:0', 'random:1:500:9:0', 'random:500:1:1:0', 'dense:37:53', 'arrow:300', 'random:17:9:3:30'
MEDIUM = 'random:9000:9000:12:5', 'fem:1500:3:1', 'grid7:30', 'power:20000:150000:2', 'mirror:9000:1:4', 'mirror:1500:3:4', 'declared:1500:3'
LARGE = 'random:40000:40000:20:5', 'random:300000:300000:25:1'  # entries that caches hold no more, and that no cache holds
FILES = ('bcsstk16', 'memplus', 'rail516', 'lp_fit2d', 'well1033', 'p2p-Gnutella31', 'debian_deps', 'email-Enron', 'ibm03_netlist', 'hypre_beam_tet_dof2475',
         'raefsky6', 'lp_80bau3b')
DEVICE = 'random:700:600:8:6', 'fem:60:3:1', 'random:2500:140:3:20', 'power:300:70000:3', 'random:0:50'
PARALLEL = 'random:700:600:8:6', 'fem:90:3:1', 'grid7:11', 'power:700:100000:3', 'random:2500:140:3:20', 'random:0:50', 'random:1:500:9:0', 'mirror:90:3:4', 'declared:90:2'


def text(options):
    return ':'.join(f'{name}={value}' for name, value in options) or '-'


def singles(knobs, prefix=''):
    return [((prefix + name, value),) for name, values in knobs.items() for value in values.split()]


def products(groups):
    for group in groups:
        for values in itertools.product(*(v.split() for v in group.values())):
            yield tuple(zip(group, values))


def pairs(knobs):
    for a, b in itertools.combinations(knobs, 2):
        yield from products([{a: knobs[a], b: knobs[b]}])


OFF = (('mat_spmv_tune', 'off'),)
# What spmv is asked for, which none of the knobs is
CHOICES = [(), OFF] + [(('mat_spmv_tune_formats', names),) for names in TYPES + ('aij', 'bccoo,pmf')] + [(('mat_spmv_expected_calls', n),) for n in ('1', '100')]


def defaults(kind):
    return CHOICES if kind == 'spmv' else [(), OFF, (('mat_spmv_expected_calls', '1'),), (('mat_spmv_build_after', '2'),)]


def small(kind):
    return MIRRORED + SMALL[:3] if kind == 'sbccoo' else SMALL


def host(files):
    """Sets, matrices, types, options, ISAs, threads, backends."""
    for kind in TYPES:
        for matrix in small(kind):
            for options in singles(KNOBS[kind]):
                for isa, threads in itertools.product(ISAS, (1, 2, 3)):
                    yield 'all' if threads == 2 else 'few', matrix, kind, text(options), isa, threads, 'host'
                for isa in ISAS:
                    yield 'few', matrix, kind, text(options + OFF), isa, 1, 'host'
    for kind in TYPES:
        some = MIRRORED if kind == 'sbccoo' else SMALL
        for k, options in enumerate(itertools.chain(pairs(KNOBS[kind]), products(TOGETHER[kind]))):
            for isa, matrix in ('scalar', k), ('avx2', k + 3), ('avx512', k + 5), ('avx512', k + 10), ('avx512', MANY_COLUMNS):
                yield 'few', some[matrix % len(some)], kind, text(options + OFF), isa, 1 + k // len(some) % 3, 'host'
    for matrix in SMALL + MIRRORED + TINY + MEDIUM + LARGE + tuple('file:' + name for name in files):
        for kind in TYPES + ('spmv',):
            for options in defaults(kind) if matrix not in LARGE else [(), OFF]:
                for isa, threads in itertools.product(ISAS, (1, 2, 3)) if matrix not in LARGE else (('avx2', 1), ('auto', 1), ('auto', 2)):
                    yield 'all' if threads == 2 else 'few', matrix, kind, text(options), isa, threads, 'host'
    for matrix in TINY + MEDIUM:
        for kind in TYPES:
            for k, options in enumerate(singles(KNOBS[kind])):
                yield 'few', matrix, kind, text(options), 'auto', 1 + k % 2, 'host'


def parallel():
    for matrix in PARALLEL:
        for kind in TYPES + ('spmv',):
            for options in defaults(kind) + (singles(KNOBS[kind]) if kind != 'spmv' else []):
                yield 'all', matrix, kind, text(options), 'auto', 1 + (not options), 'host'


def parallel_device():
    for matrix in PARALLEL:
        for kind in TYPES + ('spmv',):
            yield 'all', matrix, kind, '-', 'auto', 1, 'device'


def device():
    """All matrices of a plan together, since they have a program in common."""
    for kind in DEVICE_KNOBS:
        shared = singles({'device_parts': '1 2'}) if kind == 'pmf' else []
        shared = [options + (('powers', '1,2,6'),) for options in shared]
        plans = [()] + singles(DEVICE_KNOBS[kind], 'device_') + singles(KNOBS[kind]) + list(products(DEVICE_TOGETHER[kind])) + shared
        for k, options in enumerate(dict.fromkeys(plans)):
            for matrix in DEVICE if len(options) < 2 else (DEVICE[0], DEVICE[1], DEVICE[2 + k % 2]):
                yield 'all' if len(options) < 2 else 'few', matrix, kind, text(options), 'auto', 2 if 'device_parts' in text(options) else 1, 'device'
    for options in ((), OFF):
        for matrix in DEVICE:
            yield 'all', matrix, 'spmv', text(options), 'auto', 1, 'device'


def cases(which, files):
    made = {'host': lambda: host(files), 'parallel': parallel, 'device': device, 'parallel_device': parallel_device}[which]()
    found = {}  # the fuller set of products, where a case is listed twice
    for which_products, *case in made:
        if found.get(tuple(case)) != 'all':
            found[tuple(case)] = which_products
    return [(which_products,) + case for case, which_products in found.items()]
