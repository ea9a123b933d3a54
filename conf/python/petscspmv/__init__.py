"""Matrix types for PETSc with a faster matrix-vector product: where the library is, and how petsc4py loads it.

    import petscspmv, petsc4py
    petsc4py.init(petscspmv.options())        # before petsc4py.PETSc is imported, or
    PETSC_OPTIONS="$(python3 -m petscspmv)"   # in the shell, for any program that uses this PETSc
"""
import json, os
from . import petscfacts

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def path():
    """the library's file"""
    return os.path.join(_FOLDER, 'lib', 'libpetscspmv.so')


def folder():
    """the folder of lib, include and conf"""
    return _FOLDER


def built_for():
    """what the library needs of a PETSc, a dictionary"""
    with open(os.path.join(_FOLDER, 'built.json')) as file:
        return json.load(file)


def check():
    """RuntimeError if petsc4py has another PETSc than the library was built for"""
    try:
        used = petscfacts.facts(*petscfacts.of_petsc4py())
    except ImportError:  # programs in other languages have no use for it
        return
    wrong = petscfacts.differences(built_for(), used) if used else []  # without headers the library sees for itself
    if wrong:
        raise RuntimeError('petscspmv was built for the PETSc in %s, and petsc4py uses that in %s (%s); '
                           'build it again: pip install --force-reinstall . in the source folder of petscspmv'
                           % (built_for()['folder'], used['folder'], ', '.join(wrong)))


def options(mat_type='spmv', **more):
    """PETSc's options that load the library and choose a type (None: none), as one string, with more options by name:
    options('bccoo', mat_spmv_view=True) says -mat_type bccoo -mat_spmv_view. For PETSC_OPTIONS or petsc4py.init()"""
    check()
    words = ['-dll_append', path()]
    for name, value in dict(mat_type=mat_type, **more).items():
        if value is not None:
            words += ['-' + name] + ([] if value is True else [str(value)])
    return ' '.join(words)


def load():
    """registers the types in a PETSc that is initialised already, as by "from petsc4py import PETSc" """
    import ctypes
    check()
    error = ctypes.CDLL(path()).SpmvInitializePackage()
    if error:
        raise RuntimeError('PETSc error %d: see above' % error)
