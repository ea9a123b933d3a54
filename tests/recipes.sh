#!/bin/bash
# The recipes for Spack and conda as far as they run without these: what they say, and the make commands they give
. tests/tap
unset PETSC_OPTIONS
version=$(sed -n 's/^VERSION *:= *//p' conf/variables)
installed() { [ -s "$1/lib/libpetscspmv.so" ] && [ -s "$1/include/petscspmv.h" ]; }

# A stand-in for Spack: it writes down what the recipe says, and prints the targets
mkdir -p "$tmp/spack"
: >"$tmp/spack/__init__.py"
cat >"$tmp/spack/package.py" <<'END'
import types
said = {}
def _say(what): return lambda *words, **more: said.setdefault(what, []).extend(words)
license, version, depends_on = map(_say, ('license', 'version', 'depends_on'))
class MakefilePackage: pass
END
cat >"$tmp/recipe.py" <<'END'
import runpy, sys, types
import spack.package
recipe = runpy.run_path('conf/spack/package.py')['Petscspmv']()
recipe.prefix = sys.argv[1]
recipe.spec = {'petsc': types.SimpleNamespace(prefix=sys.argv[2])}
print(*spack.package.said['version'])
print(*recipe.build_targets)
print(*recipe.install_targets)
END
root=$PETSC_DIR${PETSC_ARCH:+/$PETSC_ARCH}
PYTHONPATH=$tmp $PYTHON "$tmp/recipe.py" "$tmp/by_spack" "$root" >"$tmp/targets"
check spack_version [ "$(sed -n 1p "$tmp/targets")" = "$version" ]
check spack_readme grep -q "petscspmv@$version" conf/spack/README.md
check spack_archive grep -q "petscspmv-$version.tar.xz" conf/spack/package.py
if [ -z "$PETSC_ARCH" ]; then # Spack's PETSc is an installed one
  check spack_builds make --no-print-directory $(sed -n 2p "$tmp/targets")
  check spack_installs make --no-print-directory $(sed -n 3p "$tmp/targets")
  check spack_files installed "$tmp/by_spack"
else echo 'ok recipes_spack_builds # SKIP this PETSc is not an installed one'; fi

cat >"$tmp/render.py" <<'END'
import os, re, sys
import jinja2, yaml
def load_file_regex(load_file, regex_pattern, from_recipe_dir):
    with open(os.path.join('conf/conda', load_file)) as file: return re.search(regex_pattern, file.read())
def compiler(name): return name + '-compiler'
def pin_compatible(name, max_pin): return name
words = {word.__name__: word for word in (load_file_regex, compiler, pin_compatible)}
with open('conf/conda/meta.yaml') as file:
    recipe = yaml.safe_load(jinja2.Template(file.read(), undefined=jinja2.StrictUndefined).render(words))
assert recipe['package'] == {'name': 'petscspmv', 'version': sys.argv[1]}, recipe['package']
assert os.path.exists(os.path.join('conf/conda', recipe['source']['path'], recipe['about']['license_file']))
assert recipe['requirements']['run'] == ['petsc'], recipe['requirements']
END
if $PYTHON -c 'import jinja2, yaml' 2>/dev/null; then check conda_renders $PYTHON "$tmp/render.py" "$version"
else echo "ok recipes_conda_renders # SKIP $PYTHON lacks jinja2 or yaml: install python3-jinja2 python3-yaml"; fi
check conda_builds env PREFIX="$tmp/by_conda" conf/conda/build.sh
check conda_files installed "$tmp/by_conda"
