#!/usr/bin/env python3
"""docs/examples.md: each of its commands prints what the page shows. A section is a test.

usage: examples.py [--write]    --write: puts what is printed now into the page
"""
import os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, 'docs/examples.md')
sys.path.append(os.path.join(ROOT, 'examples'))
import petscprogram

NUMBER = re.compile(r'[-+]?\d+\.?\d*(?:e[-+]?\d+)?')
SHARE = 0.05  # by which numbers may differ
DEVICE = './devicevectors -mat_type spmv -mat_spmv_backend device'


def same(printed, shown):
    """but for numbers that differ a little, spaces, and times, which end with x"""
    plain = [re.sub(r'[ \t]+', ' ', re.sub(r'[\d.]+x\b', 'x', text)).strip() for text in (printed, shown)]
    if NUMBER.sub('#', plain[0]) != NUMBER.sub('#', plain[1].replace('\n ', '\n')):
        return False
    numbers = zip(*(map(float, NUMBER.findall(text)) for text in plain))
    return all(abs(a - b) <= SHARE * abs(b) for a, b in numbers)


def first_words(text):
    return [line.split()[0] for line in text.splitlines() if line.strip()]


def sections():
    """[(title, [(command, what it prints)])] of the page"""
    with open(PAGE) as file:
        parts = re.split(r'^## (.*)\n', file.read(), flags=re.M)
    shown = re.compile(r'^    \$ (.*)\n((?:    (?!\$ ).*\n)*)', re.M)
    return [(title, shown.findall(text)) for title, text in zip(parts[1::2], parts[2::2])]


def python(commands):
    """a Python with what the commands import, for the PETSc of this run, or why there is none"""
    text = ' '.join(command for command, _ in commands)
    if '.png' in text:
        found = [p for p in (sys.executable, '/usr/bin/python3') if not subprocess.run([p, '-c', 'import matplotlib'], stderr=subprocess.DEVNULL).returncode]
        return (found[0], None) if found else (None, 'matplotlib was not found: install the package python3-matplotlib')
    module = re.search(r'_(petsc4py|slepc4py|dolfinx)\.py', text)
    if not module:
        return sys.executable, None
    # petsc4py says which PETSc it takes, Debian's the one of PETSC_DIR; slepc4py has no function that tells
    ask = ('import %s as m, petsc4py, glob, re\nc = petsc4py.get_config()\nprint(c["PETSC_DIR"], c.get("PETSC_ARCH", ""))\n'
           'for name in glob.glob(m.__path__[0] + "/lib/slepc.cfg"): print(*re.findall(r"^PETSC_\\w+ *= *(.*)", open(name).read(), re.M))' % module[1])
    ours = os.path.realpath(os.path.join(os.environ['PETSC_DIR'], os.environ.get('PETSC_ARCH', '')))
    for place in (os.environ.get('PYTHON', 'python3'), '/usr/bin/python3'):
        asked = subprocess.run([place, '-c', ask], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        found = {os.path.realpath(os.path.join(*line.split())) for line in asked.stdout.splitlines()}
        if not asked.returncode and found == {ours}:
            return place, None
    return None, '%s was not found for the PETSc in %s: install the package python3-%s' % (module[1], ours, module[1])


def run(command, interpreter, folder):
    """what a command prints"""
    env = {**os.environ, 'PETSC_OPTIONS': '-dll_append ' + os.environ['LIBRARY'], 'XDG_CACHE_HOME': folder + '/cache',
           'OMPI_MCA_ess_singleton_isolated': '1', 'PYTHONDONTWRITEBYTECODE': '1', 'PYTHON': interpreter}
    done = subprocess.run(['bash', '-c', re.sub(r'\bpython3\b', interpreter, command)], cwd=folder, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240)
    said = (done.stderr + done.stdout)[-600:]
    assert done.returncode == 0, '%s: exit status %d: %s' % (command, done.returncode, said)
    return done.stdout


def write(command, printed):
    printed = printed.replace(os.path.realpath(os.environ['LIBRARY']), '/path/to/lib/libpetscspmv.so')
    with open(PAGE) as file:
        text = file.read()
    shown = re.compile('(    \\$ %s\n)(?:    (?!\\$ ).*\n)*' % re.escape(command))
    with open(PAGE, 'w') as file:
        file.write(shown.sub(lambda m: m[1] + ''.join('    %s\n' % line for line in printed.splitlines()), text))


def section(title, commands, folder):
    """the test of a section"""
    name = 'examples_' + re.sub(r'\W+', '_', title.lower())
    interpreter, why = python(commands)
    try:
        needed = any(command == DEVICE for command, _ in commands)
        if needed and 'device 0' not in run(DEVICE + ' -spmv_device_view', '', folder):
            why = 'there is no device; install pocl-opencl-icd'
        if why and not os.environ.get('ALL') and re.search('slepc4py|dolfinx', why):
            return '# %s: %s' % (name, why)  # make test installs petsc4py only; make test-all skips it
        if why:
            return 'ok %s # SKIP %s' % (name, why)
        assert commands, 'there is no command'
        for command, shown in commands:
            printed = run(command, interpreter, folder)
            if '--write' in sys.argv:
                write(command, printed)
            else:
                alike = first_words(printed) == first_words(shown) if 'spmvbench' in command else same(printed, shown)
                assert alike, '%s prints %s' % (command, printed)
    except (AssertionError, subprocess.TimeoutExpired) as problem:
        return 'not ok %s # %s' % (name, ' '.join(str(problem).split())[:900])
    return 'ok ' + name


def main():
    shown = 'ex2 took 1.25x with 84 iterations'
    others = '', shown + ' more', shown.replace('84', '90'), shown.replace('with', 'in')
    wrong = [text for text in others if same(text, shown)]
    right = same(shown.replace('84', '85').replace('1.25', '7'), shown)
    print('ok examples_compared' if right and not wrong else 'not ok examples_compared # %s' % wrong)
    if petscprogram.petsc_has('complex') or petscprogram.petsc_has('real_single'):
        print('ok examples # SKIP docs/examples.md is of real numbers in double precision')
        return
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, 'build/examples')
        os.symlink(os.path.join(ROOT, 'examples'), os.path.join(top, 'examples'))
        os.makedirs(os.path.join(top, 'build'))
        os.symlink(os.environ['SPMVBENCH'], os.path.join(top, 'build/spmvbench'))
        command = [sys.executable, os.path.join(ROOT, 'examples/compile'), '--library', os.environ['LIBRARY']]
        command += ['--folder', folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            print('not ok examples_compile # ' + ' '.join(done.stdout.split())[:900])
            return
        for title, commands in sections():
            print(section(title, commands, folder), flush=True)


main()
