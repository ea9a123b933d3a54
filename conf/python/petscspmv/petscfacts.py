"""Which PETSc there is, and what it must have in common with the one that the library was built for."""
import os, re


def of_petsc4py():
    """PETSC_DIR and PETSC_ARCH of the installed petsc4py. Of several PETSC_ARCH chooses, otherwise the first"""
    import petsc4py
    config = petsc4py.get_config()
    archs = [arch.strip() for arch in config.get('PETSC_ARCH', '').split(os.pathsep)]
    wanted = os.environ.get('PETSC_ARCH')
    return config['PETSC_DIR'], wanted if wanted in archs else archs[0]


def facts(folder, arch):
    """what a library depends on, from PETSc's headers; None if they are not there"""
    try:
        header = {}
        for path in (folder, 'include/petscversion.h'), (folder, arch, 'include/petscconf.h'):
            with open(os.path.join(*path)) as file:
                header.update(re.findall(r'^#define\s+(\w+)\s+(\S+)', file.read(), re.M))
    except OSError:
        return None
    has = lambda word: 'PETSC_' + word in header
    return {
        'folder': os.path.join(folder, arch).rstrip('/'),
        'version': '.'.join(header['PETSC_VERSION_' + part] for part in ('MAJOR', 'MINOR')),
        'numbers': 'complex' if has('USE_COMPLEX') else 'real',
        'precision': next((word for word in ('single', '__float128') if has('USE_REAL_' + word.upper())), 'double'),
        'indices': '64-bit' if has('USE_64BIT_INDICES') else '32-bit',
        'debugging': 'yes' if has('USE_DEBUG') else 'no',
        'devices': 'yes' if has('HAVE_DEVICE') else 'no',
    }


def differences(built, used):
    """what keeps a library for one PETSc from another, in words"""
    keys = [key for key in built if key != 'folder' and used[key] != built[key]]
    return ['%s: %s, not %s' % (key, used[key], built[key]) for key in keys]
