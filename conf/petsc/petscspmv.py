"""For PETSc's configure: --download-petscspmv=/path/to/petscspmv-VERSION.tar.xz, the archive of "make dist".

Copy it to config/BuildSystem/config/packages of a PETSc source folder. The library is built after PETSc and installed
beside it, where -dll_append '${PETSC_LIB_DIR}/libpetscspmv.so' finds it. PETSc 3.18 or newer.
"""
import os
import config.package


class Configure(config.package.Package):
  def __init__(self, framework):
    config.package.Package.__init__(self, framework)
    self.download               = 'NoDefault'
    self.includes               = ['petscspmv.h']
    self.precisions             = ['single', 'double']
    self.skippackagewithoptions = 1
    self.useddirectly           = 0
    self.linkedbypetsc          = 0
    self.builtafterpetsc        = 1

  def setupDependencies(self, framework):
    config.package.Package.setupDependencies(self, framework)
    self.sharedLibraries = framework.require('PETSc.options.sharedLibraries', self)
    self.installdir      = framework.require('PETSc.options.installDir', self)

  def downLoad(self):
    if self.download == 'NoDefault':
      raise RuntimeError('Say where petscspmv is: --download-petscspmv=/path/to/petscspmv-VERSION.tar.xz')
    return config.package.Package.downLoad(self)

  def Install(self):
    if not self.checkSharedLibrariesEnabled():
      raise RuntimeError('petscspmv is loaded at run time: configure PETSc with --with-shared-libraries')
    if self.argDB['prefix'] and 'package-prefix-hash' not in self.argDB:
      prefix = os.path.abspath(os.path.expanduser(self.argDB['prefix']))
      petsc  = 'PETSC_DIR=' + prefix + ' PETSC_ARCH='
    else:
      prefix = os.path.join(self.petscdir.dir, self.arch)
      petsc  = 'PETSC_DIR=${PETSC_DIR} PETSC_ARCH=${PETSC_ARCH}'
    self.directory = prefix
    self.include   = [os.path.join(prefix, 'include')]
    # Our flags are our own, not those that PETSc's makefile exports
    make = 'env -u CFLAGS -u CPPFLAGS -u LDFLAGS ${OMAKE} '
    self.addPost(self.packageDir, [make + 'install ' + petsc + ' PREFIX=' + prefix])
    return self.installDir
