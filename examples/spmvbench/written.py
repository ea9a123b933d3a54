"""What the reports share: how a CSV is read, where and when each was measured, a mean, a table, how a plot begins."""
import csv, datetime, math, os, platform, subprocess


def read(path):
    """{matrix: {type: row}}, numbers as floats, of what spmvbench timed"""
    found = {}
    with open(path) as file:
        for row in csv.DictReader(file):
            if not row['median_s']:
                continue
            for key, value in row.items():
                if key not in ('matrix', 'type', 'backend', 'plan'):
                    row[key] = float(value) if value else float('nan')
            found.setdefault(row['matrix'], {})[row['type']] = row
    return found


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float('nan')


def table(heads, rows):
    return ['| %s |' % ' | '.join(heads), '|' + '---|' * len(heads), *('| %s |' % ' | '.join(row) for row in rows), '']


def svg_begin(width, height):
    """A white sheet"""
    return ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="10">' % (width, height), '<rect width="100%" height="100%" fill="white"/>']


def cache(level):
    """Bytes of the data cache of a level, 0 if there is none"""
    folder = '/sys/devices/system/cpu/cpu0/cache'
    for index in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        look = lambda name: open(os.path.join(folder, index, name)).read().strip()
        if index.startswith('index') and look('level') == str(level) and look('type') != 'Instruction':
            return int(look('size')[:-1]) * {'K': 1 << 10, 'M': 1 << 20}[look('size')[-1]]
    return 0


def last_cache():
    return cache(4) or cache(3)


def machine():
    model = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), platform.machine())
    return '%s, %d cores, L2 %d KiB, last level %d KiB' % (model, os.cpu_count(), cache(2) >> 10, last_cache() >> 10)


def commit():
    return subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True).stdout.strip()


def written_by(command):
    return 'Written by `%s` on %s, commit %s, on %s.' % (command, datetime.date.today(), commit(), machine())
