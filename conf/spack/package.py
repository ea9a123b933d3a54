"""Spack's recipe. conf/spack/README.md says how to use it."""
import os

from spack.package import *

try:  # Spack 1.0 and newer
    from spack_repo.builtin.build_systems.makefile import MakefilePackage
except ImportError:
    pass


class Petscspmv(MakefilePackage):
    """Matrix types for PETSc with faster matrix-vector products, SOR sweeps and ILU/ICC solves.
    Programs load it at run time: -dll_append <prefix>/lib/libpetscspmv.so -mat_type spmv"""

    # The archive of "make dist", in the folder where spack is called
    url = "file://{0}/petscspmv-0.1.0.tar.xz".format(os.getcwd())
    manual_download = True

    license("BSD-2-Clause")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python", type="build")
    depends_on("petsc@3.18: +shared")

    def _petsc(self):
        return ["PETSC_DIR=" + str(self.spec["petsc"].prefix), "PETSC_ARCH="]

    @property
    def build_targets(self):
        return ["lib"] + self._petsc()

    @property
    def install_targets(self):
        return ["install", "PREFIX=" + str(self.prefix)] + self._petsc()

    def setup_run_environment(self, env):
        env.set("PETSCSPMV_DIR", str(self.prefix))
