#!/bin/bash
# pip install ., as somebody with petsc4py does it: in an environment of its own, with pip's isolation, without network
. tests/tap
here=$PETSC_DIR/$PETSC_ARCH
unset PETSC_OPTIONS PETSC_DIR PETSC_ARCH PYTHONPATH

ask='import petscfacts; print(*petscfacts.of_petsc4py(), sep="/")'
theirs=$(cd conf/python/petscspmv && $PYTHON -c "$ask" 2>/dev/null) ||
  skip "$PYTHON has no petsc4py: install python3-petsc4py"
[ "$(realpath "$theirs")" = "$(realpath "$here")" ] || skip "petsc4py is for the PETSc in $theirs"
$PYTHON -m venv --system-site-packages "$tmp/venv" >/dev/null 2>&1 ||
  skip "$PYTHON makes no environments: install python3-venv"
python=$tmp/venv/bin/python
pip() { "$1" -m pip --disable-pip-version-check --no-input "${@:2}"; }
install() { pip "$1" install --no-index --no-deps "${2:-.}"; }
check install install "$python"

cat >"$tmp/solve.py" <<'END'
import sys
how = sys.argv.pop(1)
import petscspmv, petsc4py
if how == 'init': petsc4py.init(petscspmv.options('bccoo', mat_spmv_build_after=0))
from petsc4py import PETSc
if how == 'load': petscspmv.load()
A = PETSc.Mat().create()
A.setSizes(9)
if how == 'load': PETSc.Options()['mat_type'] = 'pmf'
A.setFromOptions()
A.setUp()
for i in range(9): A[i, i] = 2
A.assemble()
x, y = A.createVecs()
x.set(1)
A.mult(x, y)
assert y.sum() == 18, y.sum()
print('type', A.getType())
END
cd "$tmp" || exit 1 # the folder petscspmv of the sources is out of sight
solves() { # type, how, environment
  env "${@:3}" "$python" solve.py "$2" | tee /dev/stderr | grep -qx "type $1"
}
check petsc_options solves seqaijspmv nothing PETSC_OPTIONS="$("$python" -m petscspmv)"
check init solves seqaijbccoo init A=
check load solves seqaijpmf load A=
check path [ -f "$("$python" -m petscspmv --path)" ]
printf 'include %s/conf/petscspmv\nall: ; ls $(PETSCSPMV_LIB) $(PETSCSPMV_INCLUDEDIR)/petscspmv.h\n' \
  "$("$python" -m petscspmv --folder)" >user.mk
check makefile make -f user.mk
version=$(sed -n 's/^VERSION *:= *//p' "$OLDPWD/conf/variables")
check version [ "$(pip "$python" show petscspmv | sed -n 's/^Version: //p')" = "$version" ]

# Another PETSc in petsc4py: what it has else is said
mkdir -p other/petsc4py other/petsc
cp -rL "$here/include" other/petsc/include
sed -i 's/\(VERSION_MINOR *\)[0-9]*/\1 2/' other/petsc/include/petscversion.h
echo "get_config = lambda: {'PETSC_DIR': '$tmp/other/petsc', 'PETSC_ARCH': ''}" >other/petsc4py/__init__.py
words='was built for the PETSc in .*version: 3.2, not 3.[0-9]*.*build it again'
other() { fails "$1.*$words" env PYTHONPATH="$tmp/other" "${@:2}"; }
check other_petsc other '' "$python" -m petscspmv
check other_petsc_options other 'RuntimeError: ' "$python" -c 'import petscspmv; petscspmv.options()'

check uninstall pip "$python" uninstall -y petscspmv
check nothing_left [ -z "$(find venv -name '*petscspmv*')" ]
cd "$OLDPWD" || exit 1

# What cannot be built says why
$PYTHON -m venv "$tmp/bare"
check no_petsc4py fails 'install petsc4py first, or set PETSC_DIR' install "$tmp/bare/bin/python"
check wrong_petsc_dir fails 'PETSC_DIR is /nowhere, where' eval 'PETSC_DIR=/nowhere install "$tmp/bare/bin/python"'
[ -n "$ALL" ] && is_checkout && {
  (cd conf/python && "$python" -c "import backend; backend.build_sdist('$tmp')")
  check sdist install "$python" "$tmp/petscspmv-$version.tar.gz"
}
true
