"""What "pip install ." calls (PEP 517): make builds the library, and here it becomes a wheel.

The library is for one PETSc: that of PETSC_DIR and PETSC_ARCH if they are set, otherwise that of petsc4py.
"""
import base64, hashlib, io, json, os, re, subprocess, sys, sysconfig, tarfile, tempfile, zipfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
PACKAGE = os.path.join(FOLDER, 'petscspmv')
sys.path.insert(0, PACKAGE)
import petscfacts


def text(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


VERSION = re.search(r'^VERSION *:= *(\S+)', text('conf/variables'), re.M).group(1)
NAME = 'petscspmv-' + VERSION
METADATA = """Metadata-Version: 2.1
Name: petscspmv
Version: %s
Summary: Matrix types for PETSc with a faster matrix-vector product
License: BSD-2-Clause
Requires-Python: >=3.8
Description-Content-Type: text/markdown

%s""" % (VERSION, text('README.md'))
TAG = 'py3-none-' + re.sub(r'[-.]', '_', sysconfig.get_platform())
WHEEL = 'Wheel-Version: 1.0\nGenerator: petscspmv\nRoot-Is-Purelib: false\nTag: %s\n' % TAG


def which_petsc():
    """PETSC_DIR and PETSC_ARCH. pip hides what is installed from us, and not from another Python"""
    if os.environ.get('PETSC_DIR'):
        return os.environ['PETSC_DIR'], os.environ.get('PETSC_ARCH', '')
    env = {key: value for key, value in os.environ.items() if key not in ('PYTHONPATH', 'PYTHONNOUSERSITE')}
    ask = 'import petscfacts; print(*petscfacts.of_petsc4py(), sep="\\n")'
    asked = subprocess.run([sys.executable, '-c', ask], cwd=PACKAGE, env=env, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if asked.returncode:
        raise SystemExit(
            'petscspmv is built for the PETSc of petsc4py, which %s does not find: install petsc4py first, or set '
            'PETSC_DIR (and PETSC_ARCH), or, if it is there, pip install --no-build-isolation' % sys.executable)
    return asked.stdout.split('\n')[:2]


def make(stage, folder, arch):
    """the library, stripped, in a folder; what the compiler says goes where pip wants it"""
    env = dict(os.environ, PETSC_DIR=folder, PETSC_ARCH=arch)
    command = ['make', '--no-print-directory', 'install-lib', 'DESTDIR=', 'LIBDIR=' + stage]
    if subprocess.run(command, cwd=ROOT, env=env).returncode:
        raise SystemExit('petscspmv was not built for the PETSc in %s %s: see above' % (folder, arch))
    with open(os.path.join(stage, 'libpetscspmv.so'), 'rb') as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder, arch = which_petsc()
    with tempfile.TemporaryDirectory() as stage:
        library = make(stage, folder, arch)
    # As in the source folder, so that conf/petscspmv finds the others
    modules = sorted(name for name in os.listdir(PACKAGE) if name.endswith('.py'))
    files = {'petscspmv/' + name: text('conf/python/petscspmv/' + name) for name in modules}
    files['petscspmv/built.json'] = json.dumps(petscfacts.facts(folder, arch), indent=2)
    files['petscspmv/lib/libpetscspmv.so'] = library
    files['petscspmv/include/petscspmv.h'] = text('include/petscspmv.h')
    files['petscspmv/conf/petscspmv'] = text('conf/petscspmv')
    files.update({'%s.dist-info/%s' % (NAME, name): content for name, content in
                  {'METADATA': METADATA, 'WHEEL': WHEEL, 'LICENSE': text('LICENSE')}.items()})
    wheel, record = '%s-%s.whl' % (NAME, TAG), '%s.dist-info/RECORD' % NAME
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), 'w', zipfile.ZIP_DEFLATED) as archive:
        lines = []
        for name, content in files.items():
            content = content if isinstance(content, bytes) else content.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
            lines.append('%s,sha256=%s,%d\n' % (name, digest, len(content)))
            archive.writestr(name, content)
        archive.writestr(record, ''.join(lines) + record + ',,\n')
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """what make dist packs, as Python wants it"""
    command = ['git', 'archive', '--format=tar', '--prefix=%s/' % NAME, 'HEAD']
    packed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE)
    if packed.returncode:
        raise SystemExit('a source distribution packs the last commit, and %s is no checkout of git' % ROOT)
    sdist = NAME + '.tar.gz'
    path = os.path.join(sdist_directory, sdist)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as source, tarfile.open(path, 'w:gz') as target:
        for member in source:
            target.addfile(member, source.extractfile(member) if member.isfile() else None)
        info = tarfile.TarInfo(NAME + '/PKG-INFO')
        info.size = len(METADATA.encode())
        target.addfile(info, io.BytesIO(METADATA.encode()))
    return sdist
