#!/usr/bin/env python3
"""What the default plans' kernels ask of an H100's memory for the matrix, by the emulated driver's meter.

usage: traffic.py [--allow]

Each kernel may read LIMIT times its own bytes of the matrix's arrays at most: in sectors of 32 bytes that L1 has to get, with caches
that are empty at first, and in sectors that its warps ask for, added up. x, y and work arrays are counted apart. Own bytes are
those that its work items ask for, each once, of an array whole sectors. tests/traffic/allowed.tsv lists the kernels that read more, with the numbers seen:
more than listed fails, and so does less, so that the list has what is. --allow writes it.
"""
import argparse, os, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ALLOWED = os.path.join(ROOT, 'tests/traffic/allowed.tsv')
LIMIT, SLACK = 1.1, 0.02
COMPARED = ('csr-vector', 'merge')  # measured to compare with, not ours to mend
PRODUCT = ('matrix', 'format', 'plan', 'nz', 'rows', 'columns')
KERNEL = ('matrix', 'format', 'kernel', 'nz', 'launches', 'groups', 'group', 'shared', 'residents', 'warps', 'barriers', 'syncs', 'steps', 'active', 'apart',
          'shared_requests', 'shared_passes', 'shared_least', 'others')
ARRAY = ('matrix', 'format', 'kernel', 'nz', 'array', 'role', 'kind', 'requests', 'bytes', 'distinct', 'sectors', 'lines', 'l2', 'dram')
FIELDS = {'product': PRODUCT, 'kernel': KERNEL, 'array': ARRAY}
TEXT = ('matrix', 'format', 'kernel', 'plan', 'array', 'role', 'kind')


def measure(*options):
    """{'product': [...], 'kernel': [...], 'array': [...]}, each a dictionary of its fields"""
    folder = tempfile.mkdtemp()
    try:
        done = subprocess.run([os.path.join(ROOT, 'tests/traffic/run'), '-tsv', *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, FAKE_CUDA_FOLDER=folder))
    finally:
        shutil.rmtree(folder)
    if done.returncode:
        raise RuntimeError('exit status %d\n%s' % (done.returncode, done.stderr[:2000]))
    found = {kind: [] for kind in FIELDS}
    for line in done.stdout.splitlines():
        kind, *words = line.split('\t')
        if kind == 'skip':
            print('ok traffic # SKIP %s' % words[0])
            sys.exit(0)
        if kind in FIELDS:
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


def allowed():
    with open(ALLOWED) as file:
        rows = [line.rstrip('\n').split('\t') for line in file if not line.startswith('#')]
    return {tuple(row[:3]): (float(row[3]), float(row[4])) for row in rows}


def write(seen):
    with open(ALLOWED, 'w') as file:
        file.write('# Kernels of default plans that read over %.1f of their own bytes of a matrix: sectors from L2, sectors of warps. make traffic-allow writes this\n' % LIMIT)
        for key, ratio in sorted(seen.items(), key=lambda item: (item[0][1:], item[0][0])):
            if max(ratio) > LIMIT:
                file.write('%s\t%.3f\t%.3f\n' % ('\t'.join(key), *ratio))


def wrong(key, ratio, listed):
    """What is wrong with the ratios of a kernel"""
    for number, what, limit in zip(ratio, ('from L2', 'by warps'), listed.get(key, (LIMIT, LIMIT))):
        if number > max(LIMIT, limit + SLACK):
            return '%s: %.3f of its own bytes are read %s, over %.3f' % (' '.join(key), number, what, max(LIMIT, limit))
        if key in listed and number < limit - SLACK:
            return '%s: %.3f of its own bytes are read %s, %.3f are listed: make traffic-allow' % (' '.join(key), number, what, limit)
    if key in listed and max(ratio) <= LIMIT:
        return '%s is listed and need not be: make traffic-allow' % ' '.join(key)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--allow', action='store_true')
    given = parser.parse_args()
    if not shutil.which(os.environ.get('CXX', 'c++')):
        print('ok traffic # SKIP there is no C++ compiler: install g++')
        return
    seen = ratios(measure())
    if given.allow:
        write(seen)
        return
    listed = allowed()
    for name in sorted({key[1] for key in seen}):
        problems = [wrong(key, ratio, listed) for key, ratio in seen.items() if key[1] == name]
        problems = [problem for problem in problems if problem] + ['%s is listed and was not seen: make traffic-allow' % ' '.join(key)
                                                                    for key in listed if key[1] == name and key not in seen]
        print('not ok traffic_%s # %s' % (name, problems[0]) if problems else 'ok traffic_%s' % name)
        for problem in problems:
            print('# ' + problem)
    for name in sorted({key[1] for key in listed} - {key[1] for key in seen}):
        print('not ok traffic_%s # it is listed and was not seen: make traffic-allow' % name)


if __name__ == '__main__':
    main()
