"""Programs that PETSc and SLEPc come with: where they are, and how they are compiled unmodified.

The makefile says in the environment which PETSc, which compiler and which flags.
"""
import glob, os, re, shlex, subprocess


class Problem(Exception):
    """Why there is no program"""


def petsc_has(word):
    """Was PETSc configured with it?"""
    with open(os.path.join(os.environ['PETSC_DIR'], os.environ.get('PETSC_ARCH', ''), 'include', 'petscconf.h')) as file:
        return re.search(r'#define\s+PETSC_(HAVE|USE)_%s\b' % word.upper(), file.read()) is not None


def places(path, roots=None):
    """where an example may be: in PETSc's source folder, where it is installed, and where Debian puts it"""
    petsc = os.environ['PETSC_DIR']
    roots = roots or [petsc, os.path.join(petsc, 'share/petsc/examples'), *sorted(glob.glob('/usr/share/petsc/*/share/petsc/examples'))]
    return [os.path.join(root, path) for root in roots]


def find(path, roots=None):
    """the file of an example, below PETSc's folders or others; None if it is not here"""
    return next((place for place in places(path, roots) if os.path.exists(place)), None)


def compiled(source, program, before=(), after=()):
    """compiles a source file: more flags before it, more libraries after it"""
    env = lambda key: shlex.split(os.environ[key])
    command = [*env('CC'), '-O2', '-w', *before, *env('PETSC_CC_INCLUDES'), source, '-o', program, *after, *env('PETSC_LINK'), '-lm']
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Problem('%s does not compile:\n%s' % (source, done.stdout))
    return program


def slepc():
    """the flags before and after a source of SLEPc, and the folders its examples may be in"""
    asked = subprocess.run(['pkg-config', '--variable=prefix', 'slepc'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    root = os.environ.get('SLEPC_DIR') or asked.stdout.strip()
    conf = os.path.join(root, 'include', 'slepcconf.h')
    if not root or not os.path.exists(conf):
        raise Problem('SLEPc was not found: install the package slepc-dev, or set SLEPC_DIR')
    with open(conf) as file:
        petsc = re.search(r'SLEPC_PETSC_DIR "(.*)"', file.read()).group(1)
    if os.path.realpath(petsc) != os.path.realpath(os.environ['PETSC_DIR']):
        raise Problem('the SLEPc in %s is for the PETSc in %s' % (root, petsc))
    library = next(f for f in sorted(glob.glob(os.path.join(root, 'lib', 'libslepc*.so'))) if re.fullmatch(r'libslepc(_\w+)?\.so', os.path.basename(f)))
    roots = [root, os.path.join(root, 'share/slepc/examples'), *sorted(glob.glob('/usr/share/slepc/*/share/slepc/examples'))]
    return ['-I' + os.path.join(root, 'include')], [library, '-Wl,-rpath,' + os.path.dirname(library)], roots
