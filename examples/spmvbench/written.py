"""Where and when a report was measured: the first sentence of each."""
import datetime, os, platform, subprocess


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


def written_by(command):
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True).stdout.strip()
    return 'Written by `%s` on %s, commit %s, on %s.' % (command, datetime.date.today(), commit, machine())
