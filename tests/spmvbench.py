#!/usr/bin/env python3
"""spmvbench: what it reads, generates, refuses and reports. No test looks at a clock; -seconds 0 times nothing.

A matrix that was read comes back through -matrix_view binary:FILE, PETSc's own format, which is decoded here. "make test"
builds the program and says where it is (SPMVBENCH). Matrices in $SHARED/matrices are compared with its INDEX.tsv.
"""
import csv, fcntl, gzip, os, re, shlex, struct, subprocess, sys, tempfile
import xml.etree.ElementTree

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'python'))
import tap

PROGRAM = os.environ.get('SPMVBENCH', 'build/spmvbench')
FORMATS = os.environ['FORMATS'].split()
COLUMNS = 'matrix,rows,cols,nnz,type,backend,plan,threads,ranks,bytes,build_s,min_s,median_s,gflops,gbs,gbs_csr,read_bw_fraction,ratio_to_aij,ratio_to_best_petsc,error,eta_minus,eta_plus,choose_s,make_s,make_predicted_s'
folder = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(folder.name, name)


def write(name, content):
    """a file; compressed if its name says so"""
    data = content if isinstance(content, bytes) else content.encode()
    with open(path(name), 'wb') as file:
        file.write(gzip.compress(data) if name.endswith('.gz') else data)
    return path(name)


def bench(*arguments, seconds='0', status=0):
    """runs spmvbench: its standard output, its standard error, and the lines of its CSV"""
    out = path('out.csv')
    if os.path.exists(out):
        os.remove(out)
    command = [PROGRAM, *arguments, '-seconds', seconds, '-csv', out, '-malloc_dump']
    env = {**os.environ, 'PETSC_OPTIONS': ''}
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=600, stdin=subprocess.DEVNULL, env=env)
    assert done.returncode == status, 'exit status %d instead of %d: %s' % (done.returncode, status, (done.stderr + done.stdout)[-600:])
    # PETSc's report of memory that was not freed has lines of the form "[ 0]32 bytes MatCreate() line 1 in ..."
    assert ' bytes ' not in done.stderr or status, 'a leak: ' + done.stderr[:300]
    lines = []
    if os.path.exists(out):
        with open(out) as file:
            assert file.readline() == COLUMNS + '\n'
            file.seek(0)
            lines = list(csv.DictReader(file))
    said = ''.join(l for l in done.stderr.splitlines(True) if l.startswith('spmvbench: '))  # not progress, nor what MPI and hwloc tell
    return done.stdout, said, lines


def decoded(data):
    """[(rows, columns, {(row, column): value})] of a file in PETSc's binary format"""
    width, code, found = (8, '>%dq', []) if WIDE else (4, '>%di', [])
    while data:
        _, m, n, nz = struct.unpack_from(code % 4, data)
        lengths = struct.unpack_from(code % m, data, 4 * width)
        columns = struct.unpack_from(code % nz, data, (4 + m) * width)
        start = (4 + m + nz) * width
        numbers = struct.unpack_from('>%dd' % (nz * (2 if COMPLEX else 1)), data, start)
        values = [complex(*numbers[2 * k:2 * k + 2]) for k in range(nz)] if COMPLEX else numbers
        rows = [r for r, length in enumerate(lengths) for _ in range(length)]
        found.append((m, n, dict(zip(zip(rows, columns), values))))
        assert len(found[-1][2]) == nz, 'an entry is there twice'
        data = data[start + 8 * len(numbers):]
    return found


def matrices(*arguments):
    """all matrices of a run"""
    out = path('matrices.bin')
    if os.path.exists(out):
        os.remove(out)
    bench(*arguments, '-matrix_view', 'binary:%s::append' % out)
    with open(out, 'rb') as file:
        return decoded(file.read())


def matrix(*arguments):
    """the only matrix of a run"""
    found, = matrices(*arguments)
    return found


def widths():
    """(has this PETSc 64-bit indices? complex numbers?)"""
    bench('-generate', 'permutation:2', '-matrix_view', 'binary:' + path('first.bin'))
    with open(path('first.bin'), 'rb') as file:
        data = file.read()
    wide = data[:4] == bytes(4)
    return wide, len(data) - (8 if wide else 4) * (4 + 2 + 2) == 2 * 16


# ---- Matrix Market ----

READ = {  # name: first line's last three words, sizes and entries, what it is (rows and columns from 1)
    'real_general': ('coordinate real general', '2 3 3\n1 1 1.5\n2 3 -2e1\n1 2 0.25\n', {(1, 1): 1.5, (2, 3): -20, (1, 2): 0.25}),
    'real_symmetric': ('coordinate real symmetric', '3 3 3\n1 1 2\n3 1 -1\n2 2 4\n', {(1, 1): 2, (3, 1): -1, (1, 3): -1, (2, 2): 4}),
    'real_symmetric_upper': ('coordinate real symmetric', '3 3 2\n1 3 -1\n2 2 4\n', {(3, 1): -1, (1, 3): -1, (2, 2): 4}),
    'real_skew': ('coordinate real skew-symmetric', '3 3 2\n3 1 -1\n2 1 5\n', {(3, 1): -1, (1, 3): 1, (2, 1): 5, (1, 2): -5}),
    'real_hermitian': ('coordinate real hermitian', '2 2 2\n1 1 3\n2 1 7\n', {(1, 1): 3, (2, 1): 7, (1, 2): 7}),
    'integer_general': ('coordinate integer general', '2 2 2\n1 2 -3\n2 1 4\n', {(1, 2): -3, (2, 1): 4}),
    'integer_symmetric': ('coordinate integer symmetric', '2 2 1\n2 1 4\n', {(1, 2): 4, (2, 1): 4}),
    'integer_skew': ('coordinate integer skew-symmetric', '2 2 1\n2 1 4\n', {(1, 2): -4, (2, 1): 4}),
    'pattern_general': ('coordinate pattern general', '2 3 2\n1 3\n2 1\n', {(1, 3): 1, (2, 1): 1}),
    # CHOLMOD's default for this one is degree + 1 on the diagonal and -1 elsewhere
    'pattern_symmetric': ('coordinate pattern symmetric', '3 3 4\n1 1\n2 2\n2 1\n3 1\n', {(1, 1): 1, (2, 2): 1, (2, 1): 1, (1, 2): 1, (3, 1): 1, (1, 3): 1}),
    'complex_general': ('coordinate complex general', '2 2 2\n1 2 1 -2\n2 1 0 3\n', {(1, 2): 1 - 2j, (2, 1): 3j}),
    'complex_symmetric': ('coordinate complex symmetric', '2 2 2\n1 1 1 1\n2 1 0 3\n', {(1, 1): 1 + 1j, (2, 1): 3j, (1, 2): 3j}),
    'complex_skew': ('coordinate complex skew-symmetric', '2 2 1\n2 1 2 3\n', {(2, 1): 2 + 3j, (1, 2): -2 - 3j}),
    'complex_hermitian': ('coordinate complex hermitian', '2 2 2\n1 1 1 0\n2 1 2 3\n', {(1, 1): 1, (2, 1): 2 + 3j, (1, 2): 2 - 3j}),
    'array_general': ('array real general', '2 3\n1\n2\n3\n4\n0\n6\n', {(1, 1): 1, (2, 1): 2, (1, 2): 3, (2, 2): 4, (2, 3): 6}),
    'array_symmetric': ('array integer symmetric', '2 2\n1\n2\n3\n', {(1, 1): 1, (2, 1): 2, (1, 2): 2, (2, 2): 3}),
    'array_skew': ('array real skew-symmetric', '3 3\n1\n2\n3\n', {(2, 1): 1, (3, 1): 2, (3, 2): 3, (1, 2): -1, (1, 3): -2, (2, 3): -3}),
    'array_complex': ('array complex hermitian', '2 2\n1 0\n2 5\n3 0\n', {(1, 1): 1, (2, 1): 2 + 5j, (1, 2): 2 - 5j, (2, 2): 3}),
    'duplicates_add': ('coordinate real general', '2 2 3\n1 2 3\n2 1 1\n1 2 4\n', {(1, 2): 7, (2, 1): 1}),
    'explicit_zero': ('coordinate real general', '1 2 2\n1 1 0\n1 2 4\n', {(1, 1): 0, (1, 2): 4}),
    'empty_rows': ('coordinate real general', '5 4 1\n3 2 1\n', {(3, 2): 1}),
    'capitals': ('COORDINATE Real GENERAL', '1 1 1\n1 1 1\n', {(1, 1): 1}),
    'windows_lines': ('coordinate real general', '2 2 2\r\n1 1 1.5\r\n\r\n2 2 2\r\n', {(1, 1): 1.5, (2, 2): 2}),
    'no_last_newline': ('coordinate pattern general', '2 2 1\n2 1', {(2, 1): 1}),
    'comments_blanks': ('coordinate real general', '% a comment\n\n  \n' + '%' + 'x 1 ' * 2000 + '\n2 2 2\n% in between\n\n1 1   1\n\t2 2\t2 \n\n% at the end\n', {(1, 1): 1, (2, 2): 2}),
}


def read_all():
    """{name: its matrix, or what was said about it}, plain and compressed in one run"""
    files, got = [], {}
    for name, (header, body, _) in READ.items():
        files += [write(name + ending, '%%MatrixMarket matrix ' + header + '\n' + body) for ending in ('.mtx', '.mtx.gz')]
    readable = [f for f in files if COMPLEX or 'complex' not in f]
    for file, found in zip(readable, matrices('-f', ','.join(readable), '-types', 'aij')):
        got[os.path.basename(file)] = found
    if not COMPLEX:
        _, err, lines = bench('-f', ','.join(f for f in files if 'complex' in f) + ',' + readable[0], '-types', 'aij')
        assert {l['matrix'] for l in lines} == {list(READ)[0]}, 'the next file was not measured'
        for line in err.splitlines():
            got[os.path.basename(line.split(': ')[1])] = line
    return got


def read(name, got):
    header, body, expected = READ[name]
    for ending in '.mtx', '.mtx.gz':
        if ' complex ' in header and not COMPLEX:
            assert got[name + ending].endswith(': a complex matrix needs a complex PETSc (skipped)'), got[name + ending]
            continue
        m, n, entries = got[name + ending]
        sizes = next(l for l in body.splitlines() if l.strip() and not l.startswith('%')).split()
        assert [m, n] == [int(s) for s in sizes[:2]], (m, n)
        assert {(r + 1, c + 1): v for (r, c), v in entries.items()} == expected, entries


G = '%%MatrixMarket matrix coordinate real general\n'
BROKEN = {  # name: the file, the line in which it is wrong (0: not a matter of lines), words of the reason
    'empty': ('', 1, 'not a Matrix Market file'),
    'no_banner': ('2 2 1\n1 1 1\n', 1, 'does not begin with %%MatrixMarket'),
    'short_banner': ('%%MatrixMarket matrix coordinate\n', 1, '3 words instead of five'),
    'long_banner': ('%%MatrixMarket' + 2000 * 'x' + '\n', 1, 'longer than 1024'),
    'object': ('%%MatrixMarket vector coordinate real general\n', 1, "'vector', not a matrix"),
    'format': ('%%MatrixMarket matrix sparse real general\n', 1, "'sparse', neither coordinate nor array"),
    'field': ('%%MatrixMarket matrix coordinate rational general\n', 1, "'rational', none of real, integer"),
    'symmetry': ('%%MatrixMarket matrix coordinate real upper\n', 1, "'upper', none of general"),
    'pattern_skew': ('%%MatrixMarket matrix coordinate pattern skew-symmetric\n', 1, 'a pattern has no values'),
    'pattern_array': ('%%MatrixMarket matrix array pattern general\n', 1, 'cannot be an array'),
    'no_sizes': (G + '% only this\n', 2, 'ends before its sizes'),
    'two_sizes': (G + '%\n2 2\n', 3, 'expected three sizes'),
    'four_sizes': (G + '2 2 1 -1\n1 1 1\n', 2, 'expected three sizes'),
    'negative_size': (G + '2 -2 1\n1 1 1\n', 2, 'expected three sizes'),
    'huge_size': (G + '99999999999999999999 2 1\n1 1 1\n', 2, 'expected three sizes'),
    'huge_array': ('%%MatrixMarket matrix array real general\n9999999999 9999999999\n1\n', 2, 'are too many'),
    'not_square': ('%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n', 2, 'only a general matrix need not be square'),
    'array_not_square': ('%%MatrixMarket matrix array real symmetric\n255555555555555 2\n1\n', 2, 'only a general matrix need not be square'),
    'ends_early': (G + '2 2 3\n1 1 1\n2 2 1\n', 4, 'ends after 2 of 3 entries'),
    'too_many': (G + '2 2 1\n1 1 1\n2 2 1\n', 4, 'comes after the last of 1 entries'),
    'no_value': (G + '2 2 2\n1 1 1\n2 2\n', 4, "expected row, column, value, found '2 2'"),
    'three_values': (G + '2 2 1\n1 1 1 5\n', 3, 'expected row, column, value'),
    'pattern_value': ('%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 3\n', 3, 'expected row, column, found'),
    'word': (G + '2 2 2\n\n1 1 one\n2 2 1\n', 4, "found '1 1 one'"),
    'glued': (G + '2 2 1\n1 1 1.0x\n', 3, 'expected row, column, value'),
    'fraction': (G + '2 2 1\n1.5 1 1\n', 3, 'expected row, column, value'),
    'row_0': (G + '2 2 2\n1 1 1\n0 1 1\n', 4, 'row 0 is not in 1 to 2'),
    'row_3': (G + '2 2 2\n1 1 1\n3 1 1\n', 4, 'row 3 is not in 1 to 2'),
    'column_4': (G + '2 3 1\n1 4 1\n', 3, 'column 4 is not in 1 to 3'),
    'nan': (G + '2 2 1\n1 1 nan\n', 3, 'is not finite'),
    'infinite': (G + '2 2 1\n1 1 1e999\n', 3, 'is not finite'),
    'skew_diagonal': ('%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 1\n2 2 5\n', 4, 'row 2 has an entry on its diagonal'),
    'both_triangles': ('%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n', 4, 'line 3 has one below it'),
    'array_short': ('%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n', 5, 'ends after 3 of 4 entries'),
    'array_two': ('%%MatrixMarket matrix array real general\n1 1\n1 2\n', 3, 'expected a value'),
    'zeros': (b'%%MatrixMarket matrix coordinate real general\n2 2 1\n\0\0\0', 3, 'expected row, column, value'),
    'nearly_infinite': (G + '2 2 1\n1 1 1.5e308\n', 0, 'is not finite'),  # CHOLMOD's idea of infinity
}


def broken_all():
    """what is said about each broken file, in one run that measures a good one at its end"""
    files = [write(name + '.mtx', content) for name, (content, _, _) in BROKEN.items()]
    _, err, lines = bench('-f', ','.join(files + [write('good.mtx', G + '1 1 1\n1 1 1\n')]), '-types', 'aij', status=1)
    assert {l['matrix'] for l in lines} == {'good'}, 'the next file was not measured'
    return err.splitlines()


def broken(name, said):
    _, line, words = BROKEN[name]
    where = 'spmvbench: %s:%s ' % (path(name + '.mtx'), '%d:' % line if line else '')
    mine = [l for l in said if '/' + name + '.mtx' in l]
    assert len(mine) == 1 and mine[0].startswith(where) and words in mine[0], mine


def no_file():
    _, err, _ = bench('-f', path('nowhere.mtx') + ',' + path('nowhere.petsc') + ',' + folder.name + ',' + write('text', 'x'), status=1)
    assert err.count('No such file or directory') == 2 and 'Is a directory' in err and 'neither a PETSc binary matrix nor a name that ends in .mtx' in err, err


def no_entries():
    out, err, _ = bench('-f', write('none.mtx', G + '2 2 0\n'))
    assert 'none.mtx: no entries, so there is nothing to measure (skipped)' in err and '0 matrices measured, 1 skipped, 0 broken' in out, err


def compressed_broken():
    whole = gzip.compress(os.urandom(3000).hex().encode())
    for name, data, words in ('cut.mtx.gz', whole[:len(whole) // 2], 'cut off'), ('crc.mtx.gz', whole[:-8] + b'\1\2\3\4' + whole[-4:], 'incorrect data check'), ('bits.mtx.gz', whole[:20] + bytes(200) + whole[220:], 'invalid'):
        with open(path(name), 'wb') as file:
            file.write(data)
        _, err, _ = bench('-f', path(name), status=1)
        assert 'spmvbench: %s: ' % path(name) in err and words in err, err


# ---- PETSc binary ----

def binary():
    want = matrix('-generate', 'powerlaw:100')
    os.rename(path('matrices.bin'), path('a.petsc'))
    assert matrix('-f', path('a.petsc')) == want
    with open(path('a.petsc'), 'rb') as file:
        data = file.read()
    width, code = (8, '>%dq') if WIDE else (4, '>%di')
    rows, _, entries = struct.unpack_from(code % 3, data, width)
    start = (4 + rows) * width  # of the columns
    cases = [
        ('short', data[:len(data) // 2], 1, 'the file ends early'),
        ('header', data[:3 * width], 1, 'the file ends early'),
        ('column', data[:start] + struct.pack(code % 1, 100000) + data[start + width:], 1, 'has an entry in column 100001, which is not in 1 to 100'),
        ('negative', data[:start] + struct.pack(code % 1, -1) + data[start + width:], 1, 'has an entry in column 0, which'),
        ('length', data[:4 * width] + struct.pack(code % 1, 1000000) + data[5 * width:], 1, 'row 1 has 1000000 entries, of'),
        ('lengths', data[:4 * width] + bytes(rows * width) + data[start:], 1, 'the rows have 0 entries instead of'),
        ('rows', data[:width] + struct.pack(code % 1, -5) + data[2 * width:], 1, '-5 rows and 100 columns'),
        ('dense', data[:3 * width] + struct.pack(code % 1, -1) + data[4 * width:], 0, 'a dense PETSc matrix'),
    ]
    if not COMPLEX:
        cases.append(('complex', data + bytes(8 * entries), 0, 'a complex matrix needs a complex PETSc'))
    other = struct.pack(('>%dq' if width == 4 else '>%di') % (4 + rows + entries), *struct.unpack_from(code % (4 + rows + entries), data)) + data[start + entries * width:]
    assert matrix('-f', write('width.petsc', other)) == want, 'indices of the other width'
    assert matrix('-f', write('vector.petsc', data + bytes(48))) == want, 'something comes after the matrix'
    _, err, lines = bench('-f', write('two.petsc', 2 * data), '-types', 'aij')
    assert {l['matrix'] for l in lines} == {'two'} and 'the first matrix of this file is measured, no other' in err, err
    _, err, _ = bench('-f', write('one.petsc', data), '-types', 'aij')
    assert 'the first matrix' not in err, err
    # The size of blocks that PETSc wrote beside it, where it divides the matrix: baij without a size of its own goes by it
    for size, blocks in (5, 5), (3, 1), ('x', 1):
        write('a.petsc.info', '-matload_block_size %s\n' % size)
        _, _, lines = bench('-f', path('a.petsc'), '-types', 'baij,baij:block_size=5')
        b = {l['type']: l['bytes'] for l in lines}
        assert (b['baij'] == b['baij:block_size=5']) == (blocks == 5), b
    os.remove(path('a.petsc.info'))
    _, _, lines = bench('-f', write('packed.petsc.gz', data))
    assert {l['matrix'] for l in lines} == {'packed'}
    for name, content, status, words in cases:
        _, err, _ = bench('-f', write(name + '.petsc', content), status=status)
        assert words in err, '%s: %s' % (name, err)


# ---- generators ----

def sizes(kind, rows, cols, nnz):
    _, _, lines = bench('-generate', kind, '-types', 'bccoo')
    assert {(l['matrix'], l['rows'], l['cols'], l['nnz']) for l in lines} == {(kind, str(rows), str(cols), str(nnz))}, lines[0]


def generator_sizes():
    sizes('dense:200', 200, 200, 40000)
    sizes('laplace7:9', 729, 729, 7 * 729 - 6 * 81)
    sizes('laplace7var:9', 729, 729, 7 * 729 - 6 * 81)
    sizes('laplace27:9', 729, 729, 25 ** 3)
    sizes('elasticity:5', 375, 375, 9 * 13 ** 3)
    sizes('p2:3', 343, 343, 7525)
    sizes('longrow:1000', 21, 1000, 1100)
    sizes('longrow:7', 1, 7, 7)
    sizes('qcd:8', 49152, 49152, 1916928)
    sizes('permutation:1001', 1001, 1001, 1001)
    sizes('dense:1', 1, 1, 1)
    sizes('laplace7:1', 1, 1, 1)


def close(a, b):
    return abs(a - b) <= 1e-5 * max(1, abs(a), abs(b))


def symmetric(a):
    return all(close(v, a[c, r]) for (r, c), v in a.items())


def generator_values():
    m, _, a = matrix('-generate', 'laplace7:5')
    assert set(a.values()) == {6, -1} and symmetric(a)
    m, _, a = matrix('-generate', 'laplace27:4')
    assert set(a.values()) == {26, -1} and symmetric(a)
    m, _, a = matrix('-generate', 'laplace7var:5')
    assert len(set(a.values())) > 300 and symmetric(a)
    assert close(sum(a.get((62, c), 0) for c in range(m)), 0)  # the middle: nothing is added to the diagonal there
    m, _, a = matrix('-generate', 'elasticity:4')
    assert symmetric(a)
    for d in range(3):  # moving all of it strains nothing, turning it neither
        assert all(close(sum(a.get((r, c), 0) for c in range(d, m, 3)), 0) for r in range(m))
    turn = [(-(k // 3 // 4 % 4), k // 3 % 4, 0)[k % 3] for k in range(m)]
    assert all(close(sum(a.get((r, c), 0) * turn[c] for c in range(m)), 0) for r in range(m))
    m, _, a = matrix('-generate', 'p2:2')
    rows = [sorted(c for q, c in a if q == r) for r in range(m)]
    assert all((c, r) in a for r, c in a) and len(rows[62]) == 65 and rows[9] == [2, 3, 4, 8, 9, 14, 33, 34, 39, 64]
    m, _, a = matrix('-generate', 'qcd:3')
    rows = [sorted(c for q, c in a if q == r) for r in range(12)]  # the first site
    assert all(len(cols) == 39 and cols == [c + k for c in cols[::3] for k in range(3)] and cols[0] % 3 == 0 for cols in rows)
    m, n, a = matrix('-generate', 'permutation:50')
    assert sorted(r for r, _ in a) == sorted(c for _, c in a) == list(range(50)) and set(a.values()) == {1}
    m, n, a = matrix('-generate', 'lpwide:700')
    per_column = [0] * n
    for _, c in a:
        per_column[c] += 1
    assert (m, n) == (400, 700) and 2 <= min(per_column) and max(per_column) <= 14
    m, n, a = matrix('-generate', 'powerlaw:2000')
    per_row = [0] * m
    for r, _ in a:
        per_row[r] += 1
    assert 0.2 < per_row.count(0) / m < 0.3 and max(per_row) > 40 > 3 * sum(per_row) / m
    assert matrix('-generate', 'powerlaw:2000') == (m, n, a), 'not the same again'
    m, n, a = matrix('-generate', 'uniform:3000')
    per_row, per_tenth = [0] * m, [0] * 10
    for r, c in a:
        per_row[r] += 1
        per_tenth[c // 300] += 1
    assert (m, n) == (3000, 3000) and max(per_row) == 8 and sum(per_row) > 7.9 * m and min(per_tenth) > 2200 and max(per_tenth) < 2600, per_tenth
    assert matrix('-generate', 'uniform:3000') == (m, n, a), 'not the same again'


def generator_errors():
    for kind, words in ('qcd:2', 'choose 3 or more'), ('laplace7:3000', 'too large'), ('foo:3', 'is none of dense, laplace7'), ('dense', 'is none of'), ('dense:x', 'is not a number'), ('dense:0', 'is not a number'), ('dense:5x', 'is not a number'), ('elasticity:1', 'choose 2 or more'):
        if kind == 'laplace7:3000' and WIDE:
            continue
        _, err, lines = bench('-generate', kind + ',dense:2', status=1)
        assert 'spmvbench: -generate %s: ' % kind in err and words in err and {l['matrix'] for l in lines} == {'dense:2'}, err


def values_random():
    file = write('ones.mtx', '%%MatrixMarket matrix coordinate pattern symmetric\n4 4 4\n1 1\n2 1\n3 1\n4 3\n')
    _, _, a = matrix('-f', file, '-values', 'random')
    signs = {v.real > 0 for v in a.values()}
    assert len(set(a.values())) == len(a) == 7 and signs == {True, False}, a
    assert matrix('-f', file, '-values', 'random')[2] == a, 'not the same again'


# ---- types and results ----

NODELESS = 'aij:mat_no_inode=yes'


def always():
    _, _, lines = bench('-generate', 'dense:3')
    assert [l['type'] for l in lines if 'baij' not in l['type']] == ['aij', 'aijperm', 'aijsell', 'sell', NODELESS, 'spmv', *FORMATS], lines
    _, _, lines = bench('-generate', 'dense:840', '-types', 'bccoo')
    assert [l['type'] for l in lines] == ['aij', 'aijperm', 'aijsell', 'sell', NODELESS] + ['baij:block_size=%d' % k for k in range(2, 9)] + ['bccoo']
    _, _, lines = bench('-generate', 'elasticity:4,laplace7:10', '-types', 'aij,baij:block_size=2')
    assert [l['type'] for l in lines if l['matrix'] == 'elasticity:4' and 'baij' in l['type']] == ['baij:block_size=2', 'baij:block_size=3', 'baij:block_size=4', 'baij:block_size=6', 'baij:block_size=8']
    # aij with and without inodes only where it has some
    assert [l['type'] for l in lines if l['matrix'] == 'elasticity:4' and 'aij:' in l['type'] and 'baij' not in l['type']] == [NODELESS]
    assert [l['type'] for l in lines if l['matrix'] == 'laplace7:10'] == ['aij', 'aijperm', 'aijsell', 'sell', 'baij:block_size=2']  # 4, 5 and 8 are more than half fill


def bytes_of_petsc():
    i, s = (8 if WIDE else 4), (16 if COMPLEX else 8)
    _, _, lines = bench('-generate', 'elasticity:4', '-types', 'aij')
    b = {l['type']: int(l['bytes']) for l in lines}
    assert b['aij'] == 9 * 1000 * (s + i) + 192 * i and b['aijperm'] == b['aij'] + 192 * i, b
    assert b['baij:block_size=3'] == 1000 * (9 * s + i) + 64 * i, b
    assert b['sell'] == b['aijsell'] >= 9 * 1000 * (s + i), b


def type_options():
    types = 'bccoo,bccoo:block_height=3:block_width=2,bccoo:mat_spmv_isa=scalar:block_height=1:block_width=1,aij:mat_no_inode=1'
    _, _, lines = bench('-generate', 'elasticity:4', '-types', types)
    plan = {l['type']: l['plan'].split() for l in lines}
    blocks, scalar = types.split(',')[1:3]
    assert all(t in plan for t in types.split(',')), plan
    assert {'block_height=3', 'block_width=2'} <= set(plan[blocks]) and 'isa=scalar' in plan[scalar], plan
    for t, words in ('nosuch', 'Unknown Mat type'), ('bccoo:block_hieght=3', 'type bccoo has no option -mat_bccoo_block_hieght'), ('bccoo:block_height=99', 'set -mat_bccoo_block_height to one of them'), ('bccoo:block_height', 'has no value'), ('baij:block_size=x', 'is not a number'):
        out, err, lines = bench('-generate', 'dense:3', '-types', t, status=2)
        assert 'spmvbench: -types: type %s cannot be measured: ' % t in err and words in err and 'measured' not in out and not lines, err


WRONG = '''
#include <petscmat.h>
#include <math.h>
static PetscErrorCode right(Mat A, Vec x, Vec y) { PetscCall(VecSet(y, 0)); return MatMultAdd(A, x, y, y); }
static PetscErrorCode set(Vec y, PetscInt k, double factor, double add)
{
  PetscScalar *a;
  PetscCall(VecGetArray(y, &a));
  a[k] = a[k] * (PetscReal)factor + (PetscReal)add;
  return VecRestoreArray(y, &a);
}
static PetscErrorCode nothing(Mat A, Vec x, Vec y) { return 0; }
static PetscErrorCode little(Mat A, Vec x, Vec y) { PetscCall(right(A, x, y)); return set(y, 0, 1 + 40 * PETSC_MACHINE_EPSILON, 0); }
static PetscErrorCode empty(Mat A, Vec x, Vec y) { PetscCall(right(A, x, y)); return set(y, 1, 1, 1e-30); }
static PetscErrorCode fails(Mat A, Vec x, Vec y) { SETERRQ(PETSC_COMM_SELF, PETSC_ERR_USER, "it does not want to"); }
static PetscErrorCode later(Mat A, Vec x, Vec y) { static int n = 0; PetscCall(right(A, x, y)); return ++n %% 2 ? 0 : set(y, 0, 2, 1); }
%s
PETSC_EXTERN __attribute__((visibility("default"))) PetscErrorCode PetscDLLibraryRegister_wrong(void)
{
  %s
  return 0;
}
'''


def wrong_products():
    names = ['right', 'nothing', 'little', 'empty', 'fails', 'later']
    create = ''.join('static PetscErrorCode create_%s(Mat A) { PetscCall(MatSetType(A, MATSEQAIJ)); return MatSetOperation(A, MATOP_MULT, (void (*)(void))%s); }\n' % (n, n) for n in names)
    write('wrong.c', WRONG % (create, ' '.join('PetscCall(MatRegister("%s", create_%s));' % (n, n) for n in names)))
    command = shlex.split(os.environ['COMPILE']) + ['-w', '-shared', path('wrong.c'), '-o', path('libwrong.so')] + shlex.split(os.environ['PETSC_LINK'])
    subprocess.run(command, check=True, capture_output=True)
    file = write('two.mtx', G + '3 3 2\n1 1 3\n3 2 5\n')  # row 2 is empty
    for name in names:
        out, err, lines = bench('-f', file, '-types', name, '-dll_append', path('libwrong.so'), status={'right': 0, 'fails': 2}.get(name, 1))
        if name == 'fails':
            assert 'type fails cannot be measured: it does not want to' in err, err
        else:
            wrong = [l['type'] for l in lines if float(l['error']) > 32]
            assert wrong == [name] * (name != 'right') and out.count('FAIL') == len(wrong) == err.count('a product of type %s is wrong' % name), out + err
            assert name not in ('nothing', 'empty') or lines[-1]['error'] == 'inf', lines


def timed():
    """numbers of a short run agree with each other"""
    i, s, flops = (8 if WIDE else 4), (16 if COMPLEX else 8), (8 if COMPLEX else 2)
    out, _, lines = bench('-generate', 'laplace7:12,elasticity:5', '-types', 'bccoo', seconds='0.001')
    for name in 'laplace7:12', 'elasticity:5':
        mine = {l['type']: l for l in lines if l['matrix'] == name}
        median = {t: float(l['median_s']) for t, l in mine.items()}
        best = min(v for t, v in median.items() if t != 'bccoo')
        for t, l in mine.items():
            near = lambda column, value: abs(float(l[column]) - value) <= 1e-3 * abs(value) + 1e-4
            nnz, vectors = int(l['nnz']), s * (int(l['rows']) + int(l['cols']))
            assert 0 < float(l['min_s']) <= median[t] and float(l['build_s']) >= 0 and float(l['read_bw_fraction']) > 0, l
            assert near('gflops', flops * nnz / median[t] / 1e9) and near('gbs', (int(l['bytes']) + vectors) / median[t] / 1e9), l
            assert near('gbs_csr', ((s + i) * nnz + i * int(l['rows']) + vectors) / median[t] / 1e9), l
            assert near('ratio_to_aij', median['aij'] / median[t]) and near('ratio_to_best_petsc', best / median[t]), l
            assert (l['backend'], l['threads'], l['ranks']) == ('host', '1', '1'), l
            read = float(l['gbs']) / float(l['read_bw_fraction'])
            assert abs(float(l['eta_plus']) * read / float(l['gbs_csr']) - 1) < 0.02, l
            assert abs(float(l['eta_minus']) / float(l['eta_plus']) / (((s + i) * nnz + i * int(l['rows']) + s * (int(l['rows']) + nnz)) / ((s + i) * nnz + i * int(l['rows']) + vectors)) - 1) < 0.02, l
    summary = out[out.index('\nsummary'):].splitlines()
    assert [l.split()[0] for l in summary if l.startswith('  ')][-1] == 'bccoo' and '2 matrices measured, 0 skipped, 0 broken' in out, out


def goes_on():
    """a type that fails for one matrix is said, and the others are timed"""
    _, err, lines = bench('-generate', 'laplace7:4,dense:10', '-types', 'baij:block_size=5,bccoo', '-petsc', 'aij', seconds='0.001', status=1)
    assert 'laplace7:4: type baij:block_size=5 cannot be measured: blocks of 5 do not divide 64 x 64' in err, err
    timed = [(l['matrix'], l['type']) for l in lines if float(l['median_s']) > 0]
    assert timed == [('laplace7:4', 'aij'), ('laplace7:4', 'bccoo')] + [('dense:10', t) for t in ('aij', 'baij:block_size=5', 'bccoo')], timed


def operations():
    for operation in 'product', 'transpose', 'refresh', 'columns:3':
        _, err, lines = bench('-generate', 'laplace7:6', '-types', ','.join(FORMATS), '-operation', operation, seconds='0.001')
        assert {l['type'] for l in lines} >= {'aij', *FORMATS} and all(float(l['median_s']) > 0 for l in lines), (operation, err)
    for operation in 'columns', 'columns:0', 'products', 'product:2':
        done = subprocess.run([PROGRAM, '-generate', 'dense:2', '-operation', operation], capture_output=True, text=True, env={**os.environ, 'PETSC_OPTIONS': ''})
        assert done.returncode and '-operation %s is not one that can be timed' % operation in done.stderr, done.stderr


def devices():
    # A type of the host has no kernels to be timed alone
    _, err, _ = bench('-generate', 'laplace7:6', '-types', 'bccoo', '-operation', 'kernels', status=2)
    assert 'type bccoo cannot be measured: The products of this matrix are not run by a device' in err, err
    for type in 'cusparse', 'cusparse_alg2':
        done = subprocess.run([PROGRAM, '-generate', 'laplace7:6', '-types', type, '-seconds', '0'], capture_output=True, text=True, env={**os.environ, 'PETSC_OPTIONS': ''})
        reason = 'type %s cannot be measured: there is no CUDA driver (libcuda.so.1)' % type
        assert (done.returncode == 2 and reason in done.stderr) or (done.returncode == 0 and ' PASS' in done.stdout), done.stderr
    # ... and on a device, if there is one, which -operation product finds out
    type = 'bccoo:mat_spmv_backend=device'
    _, _, lines = bench('-generate', 'laplace7:6', '-types', type, '-petsc', 'aij')
    assert [l['type'] for l in lines] == ['aij', type], lines
    if lines[1]['backend'] == 'host':
        return
    assert 'device=' + lines[1]['backend'] in lines[1]['plan'] and lines[0]['backend'] == 'host', lines
    _, _, lines = bench('-generate', 'laplace7:6', '-types', type, '-operation', 'kernels', seconds='0.001')
    assert [l['type'] for l in lines] == ['aij', type] and float(lines[1]['median_s']) > 0 and float(lines[1]['error']) < 8, lines


def brief():
    """what the short report says of a matrix follows from its times, of which it does not matter what they are"""
    kinds = ['elasticity:5', 'laplace7:9', 'powerlaw:300', 'dense:1'] if os.environ.get('ALL') else ['powerlaw:300', 'dense:1']
    out, _, lines = bench('-generate', ','.join(kinds), '-threads', '2', seconds='0.001')
    assert re.search(r'^  sbccoo: \w+ ', out, re.M), 'the matrix of powerlaw is not symmetric'
    parts = re.findall(r'^(\S+): \d+ x \d+, \d+ nonzeros, \d+ rounds\n(.*?)\n(?=\n)', out, re.M | re.S)
    assert [name for name, _ in parts] == kinds and '%d matrices measured' % len(kinds) in out, out
    for name, text in parts:
        mine = {l['type']: l for l in lines if l['matrix'] == name}
        median = {t: float(l['median_s']) for t, l in mine.items()}
        for t, l in mine.items():  # the table: times faster than aij, MB
            chosen = re.match('format=(\\w+)', l['plan'])
            row = re.search('^  %s +(.*)' % re.escape(t + (': ' + chosen[1] if chosen else '')), text, re.M)[1].split()
            assert abs(float(row[0]) - median['aij'] / median[t]) < 0.006 and abs(float(row[2]) - 1e-6 * int(l['bytes'])) < 6e-4, (t, row, l)
            kind = chosen[1] if chosen else t
            added = 'instead' if t == 'sell' or 'baij' in t else 0 if kind in ('aij', NODELESS, 'csradaptive') else 1e-6 * int(l['bytes']) - (1e-6 * int(mine['aij']['bytes']) if kind == 'aijperm' else 0)
            assert row[3] == added or abs(float(row[3]) - added) < 6e-4, (t, row, added)
        fastest = min(median, key=lambda t: median[t])
        near = [t for t in ('aij', 'spmv') if median[t] <= 1.03 * median[fastest]]
        best = (near + [fastest])[0]
        words = text.split('  best:    ')[1]
        if best == 'aij':
            assert words == 'aij: nothing else is faster\n  type:    nothing', words
            continue
        said = re.match(r'([^\s,]+?)(?:, which chooses \w+)?: ([\d.]+) times faster than aij', words)
        assert said[1] == best and abs(float(said[2]) - median['aij'] / median[best]) < 0.006, (words, median)
        typed = re.search('  type:    (.*)', words)[1].split()
        if best in ('spmv', *FORMATS):
            assert typed == ['./app', '-dll_append', os.path.realpath(os.environ['LIBRARY']), '-mat_type', best, '-mat_spmv_threads', '2'], typed
        else:
            kind, _, size = best.partition(':block_size=')
            assert typed == ['./app', '-mat_type', kind] + (['-mat_block_size', size] if size else []), typed
    # Who asks for types, or for something else than products, gets the long one
    for options in ['-types', 'pmf'], ['-operation', 'transpose']:
        out, _, _ = bench('-generate', 'laplace7:5', *options, seconds='0.001')
        assert 'per nnz' in out and 'best:' not in out, out


def progress():
    file = write('small.mtx', G + '2 2 2\n1 1 1\n2 2 1\n')
    command = [PROGRAM, '-f', file, '-generate', 'laplace7:5', '-types', 'pmf', '-seconds', '0.001', '-progress', '0']
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, 'PETSC_OPTIONS': ''})
    for words in '1 of 2, %s: reading' % file, '1 of 2, %s: 0 MB read' % file, '1 of 2, small: building pmf', '2 of 2, laplace7:5: generating', '2 of 2, laplace7:5: round 1, 0 % of the time':
        assert re.search(r'^\[\d+ s\] %s$' % re.escape(words), done.stderr, re.M), words + ': ' + done.stderr


PLOT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'examples', 'spmvbench', 'plot')


def shapes(text, name):
    return sum(e.tag.endswith(name) for e in xml.etree.ElementTree.fromstring(text).iter())


def plot():
    _, _, lines = bench('-generate', 'laplace7:6,elasticity:3', seconds='0.001')
    for options, dots in ([], len(lines)), (['--types', 'bccoo,sell', '--best'], 4):
        done = subprocess.run([sys.executable, PLOT, path('out.csv')] + options, capture_output=True, text=True, check=True)
        assert shapes(done.stdout, 'circle') == dots, done.stdout[:300]
    # One matrix: two bars for each type; sheet and legend are rectangles as well
    out, _, lines = bench('-generate', 'laplace7:6', '-plot', path('one.svg'), seconds='0.001')
    with open(path('one.svg')) as file:
        text = file.read()
    assert shapes(text, 'rect') == 2 * len(lines) + 3 and 'drawn: ' + path('one.svg') in out, text[:300]
    assert all('>%s</text>' % l['type'] in text and '>%.2f</text>' % float(l['ratio_to_aij']) in text for l in lines), text
    bench('-generate', 'dense:2')
    done = subprocess.run([sys.executable, PLOT, path('out.csv')], capture_output=True, text=True)
    assert done.returncode == 1 and 'no times of any type' in done.stderr, done.stderr


def plot_refused():
    """nothing is measured for a file that cannot be drawn"""
    write('matplotlib.py', 'raise ImportError("it is not here")')
    here = {'PYTHONPATH': folder.name}
    cases = [(path('x.png'), here, 'x.png needs Matplotlib (it is not here): install it (Debian: python3-matplotlib), set PYTHON'),
             (path('x.svg'), {'PYTHON': '/nowhere/python'}, '/nowhere/python: No such file or directory: install python3, or set PYTHON'),
             ('/nowhere/x.svg', {}, 'the folder /nowhere is not there')]
    for name, env, words in cases:
        done = subprocess.run([PROGRAM, '-generate', 'dense:2', '-plot', name], capture_output=True, text=True, env={**os.environ, 'PETSC_OPTIONS': '', **env})
        assert done.returncode == 2 and words in done.stderr and 'measured' not in done.stdout, done.stderr
    _, err, _ = bench('-generate', 'dense:2', '-plot', path('x.svg'), status=2)
    assert '-plot draws times, and -seconds 0 takes none' in err, err


def plot_png():
    """by a Python that has Matplotlib"""
    found = [p for p in (sys.executable, '/usr/bin/python3') if not subprocess.run([p, '-c', 'import matplotlib'], capture_output=True).returncode]
    if not found:
        return 'there is no Matplotlib; install python3-matplotlib'
    for kinds in 'laplace7:6', 'laplace7:6,dense:5':
        done = subprocess.run([PROGRAM, '-generate', kinds, '-seconds', '0.001', '-plot', path('x.png')], capture_output=True, text=True, env={**os.environ, 'PETSC_OPTIONS': '', 'PYTHON': found[0]})
        assert done.returncode == 0, done.stderr
        with open(path('x.png'), 'rb') as file:
            data = file.read()
        width, height = struct.unpack('>ii', data[16:24])
        assert data[:8] == b'\x89PNG\r\n\x1a\n' and width > 1000 and height > 300, data[:24]
        os.remove(path('x.png'))
    done = subprocess.run([PROGRAM, '-generate', 'dense:2', '-plot', path('x.picture')], capture_output=True, text=True, env={**os.environ, 'PETSC_OPTIONS': '', 'PYTHON': found[0]})
    assert done.returncode == 2 and 'x.picture does not end in one of .' in done.stderr and '.png' in done.stderr, done.stderr


def usage():
    _, err, _ = bench(status=2)
    assert 'no matrix; give -f' in err, err
    env = {**os.environ, 'PETSC_OPTIONS': ''}
    done = subprocess.run([PROGRAM, '-generate', 'dense:2', '-csv', '/nowhere/x'], capture_output=True, text=True, env=env)
    assert done.returncode == 2 and '-csv /nowhere/x cannot be written' in done.stderr, done.stderr
    done = subprocess.run([PROGRAM, '-help'], capture_output=True, text=True, env=env)
    assert '-generate K:N' in done.stdout, done.stdout[:300]


def setup():
    """a set-up has two parts; what is not chosen by estimate has no prediction, and PETSc's types tell nothing"""
    _, _, lines = bench('-generate', 'elasticity:5', '-types', 'spmv,bccoo:mat_spmv_tune=off', '-petsc', 'aij', seconds='0.001')
    told = {l['type']: [bool(l[c]) for c in ('choose_s', 'make_s', 'make_predicted_s')] for l in lines}
    assert told == {'aij': [False] * 3, 'spmv': [True] * 3, 'bccoo:mat_spmv_tune=off': [True, True, False]}, told
    mine = next(l for l in lines if l['type'] == 'spmv')
    assert all(float(mine[c]) > 0 for c in ('choose_s', 'make_s', 'make_predicted_s')), mine
    _, _, lines = bench('-generate', 'dense:3', '-types', 'spmv')
    assert not any(l[c] for l in lines for c in ('choose_s', 'make_s', 'make_predicted_s')), lines


def together():
    """two processes: the first one reports, once"""
    command = shlex.split(os.environ['MPIEXEC']) + ['-n', '2', PROGRAM, '-generate', 'laplace7:4,dense:9', '-types', 'bccoo', '-petsc', 'aij', '-seconds', '0.001', '-csv', path('two.csv')]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, 'PETSC_OPTIONS': ''})
    assert done.returncode == 0 and done.stdout.count('2 matrices measured') == 1, done.stdout + done.stderr
    with open(path('two.csv')) as file:
        lines = [(l['matrix'], l['type'], l['ranks']) for l in csv.DictReader(file)]
    assert lines == [(m, t, '2') for m in ('laplace7:4', 'dense:9') for t in ('aij', 'bccoo')], lines
    done = subprocess.run(command[:-1] + ['/nowhere/x'], capture_output=True, text=True, timeout=120, env={**os.environ, 'PETSC_OPTIONS': ''})
    assert done.returncode == 2 and done.stderr.count('-csv /nowhere/x cannot be written') == 1, done.stderr


def turns():
    """who waits for the file of -turns goes on once nobody else has it alone; without PETSc's types there are no ratios"""
    command = [PROGRAM, '-generate', 'laplace7:4', '-types', 'bccoo', '-petsc', 'none', '-seconds', '0.001', '-turns', path('turns'), '-csv', path('turns.csv')]
    with open(path('turns'), 'w') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waits = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, 'PETSC_OPTIONS': ''})
        try:
            waits.wait(timeout=3)
            raise AssertionError('it did not wait: ' + waits.communicate()[0])
        except subprocess.TimeoutExpired:
            fcntl.flock(file, fcntl.LOCK_UN)
    out = waits.communicate(timeout=120)[0]
    assert waits.returncode == 0, out
    with open(path('turns.csv')) as file:
        lines = list(csv.DictReader(file))
    assert [(l['type'], l['ratio_to_aij']) for l in lines] == [('bccoo', '')] and float(lines[0]['median_s']) > 0, lines
    out, _, _ = bench('-generate', 'laplace7:4', '-petsc', 'none', seconds='0.001')
    assert 'best:' not in out and 'times aij' not in out.split('summary')[0], out
    done = subprocess.run(shlex.split(os.environ['MPIEXEC']) + ['-n', '2'] + command, capture_output=True, text=True, timeout=120, env={**os.environ, 'PETSC_OPTIONS': ''})
    assert done.returncode and 'is for programs of one process each' in done.stderr, done.stderr


def shared(where):
    """real matrices, the small ones unless $ALL: the sizes of the index, all products right"""
    with open(os.path.join(where, 'INDEX.tsv')) as file:
        index = {r['name']: r for r in csv.DictReader(file, delimiter='\t')}
    index = {name: row for name, row in index.items() if os.environ.get('ALL') or os.path.getsize(os.path.join(where, name + '.mtx.gz')) < 100000}
    assert index, 'no matrix is small'
    _, err, lines = bench('-f', ','.join(os.path.join(where, name + '.mtx.gz') for name in index), '-types', 'bccoo')
    got = {l['matrix']: [l['rows'], l['cols'], l['nnz']] for l in lines}
    for name, row in index.items():
        if row['field'] == 'complex' and not COMPLEX:
            assert name not in got and name + '.mtx.gz: a complex matrix needs' in err
        else:
            assert got[name] == [row['rows'], row['cols'], row['nnz']], (name, got[name])


WIDE, COMPLEX = widths()
for group, everything, run in (READ, read_all, read), (BROKEN, broken_all, broken):
    result = []
    tap.check('spmvbench_' + everything.__name__, lambda: result.append(everything()))
    for case in group:
        tap.check('spmvbench_%s_%s' % (run.__name__, case), run, case, result[0] if result else {})
for check in no_file, no_entries, compressed_broken, binary, generator_sizes, generator_values, generator_errors, values_random, always, bytes_of_petsc, type_options, wrong_products, timed, goes_on, operations, devices, brief, progress, plot, plot_refused, plot_png, usage, setup, together, turns:
    tap.check('spmvbench_' + check.__name__, check)
real = os.path.join(os.environ.get('SHARED', '../shared'), 'matrices')
if os.path.exists(os.path.join(real, 'INDEX.tsv')):
    tap.check('spmvbench_shared', shared, real)
else:
    print('ok spmvbench_shared # SKIP there is no %s/INDEX.tsv' % real)
