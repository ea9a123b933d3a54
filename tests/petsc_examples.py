#!/usr/bin/env python3
"""A part of PETSc's own tests, unmodified, under aij and under each of our types: same exit, same text, same numbers.

Each line of CASES runs twice: with aij, then with the type. The type's products come from our kernels from the first one
on (-mat_spmv_build_after 0), and none may have fallen back to AIJ's. The programs are PETSc's; they are found in
PETSC_DIR/src or in Debian's package libpetsc3.18-dev-examples, and are skipped where they are not.
"""
import os, re, shlex, subprocess, sys, tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'examples'))
import petscprogram

TYPES = ['bccoo']
# program, ranks, options; with + only if $ALL is set; TYPE is replaced, and VEC by standard, then by accel: vectors on a device, if there is one
CASES = '''
mat/tests/ex30 1 -mat_type TYPE
+mat/tests/ex89 1 -mat_type TYPE
+mat/tests/ex123 1 -mat_type TYPE
mat/tests/ex123 2 -mat_type TYPE -localapi
mat/tests/ex128 1 -mat_type TYPE
ksp/ksp/tests/ex47 1 -mat_type TYPE -pc_type fieldsplit
+ksp/ksp/tutorials/ex2 1 -mat_type TYPE -ksp_monitor_short -m 15 -n 15 -pc_type ilu
ksp/ksp/tutorials/ex2 2 -mat_type TYPE -ksp_monitor_short -m 15 -n 15 -pc_type asm -ksp_type bcgs
ksp/ksp/tutorials/ex4 1 -mat_type TYPE -ksp_converged_reason -pc_type hmg
ksp/ksp/tutorials/ex45 2 -dm_mat_type TYPE -ksp_monitor_short -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin both -da_refine 1
ksp/ksp/tutorials/ex49 1 -mat_type TYPE -dm_mat_type TYPE -mx 10 -my 10 -elas_ksp_view_final_residual
ksp/ksp/tutorials/ex56 1 -mat_type TYPE -ne 5 -alpha 1.e-3 -ksp_type cg -pc_type gamg -ksp_monitor_short
+ksp/ksp/tutorials/ex56 8 -mat_type TYPE -ne 5 -alpha 1.e-3 -ksp_type cg -pc_type gamg -ksp_monitor_short
snes/tutorials/ex5 2 -dm_mat_type TYPE -snes_monitor_short -da_refine 2 -pc_type gamg
+snes/tutorials/ex19 1 -dm_mat_type TYPE -da_refine 2 -snes_monitor_short -ksp_monitor_short
snes/tutorials/ex19 2 -dm_mat_type TYPE -da_refine 2 -snes_monitor_short -ksp_monitor_short -pc_type bjacobi -sub_pc_type lu
ts/tutorials/ex3 1 -mat_type TYPE -nox -ksp_monitor_short
tao/unconstrained/tutorials/eptorsion2 2 -dm_mat_type TYPE -mat_type TYPE -tao_smonitor -tao_type nls
ksp/ksp/tutorials/ex2 1 -mat_type TYPE -vec_type VEC -ksp_monitor_short -m 15 -n 15 -ksp_type gmres -pc_type jacobi
+ksp/ksp/tutorials/ex2 2 -mat_type TYPE -vec_type VEC -ksp_monitor_short -m 15 -n 15 -pc_type asm -ksp_type bcgs
+ksp/ksp/tutorials/ex45 2 -dm_mat_type TYPE -dm_vec_type VEC -ksp_monitor_short -pc_type mg -pc_mg_levels 2 -pc_mg_galerkin both -da_refine 1
snes/tutorials/ex19 2 -dm_mat_type TYPE -dm_vec_type VEC -da_refine 2 -snes_monitor_short -ksp_monitor_short -pc_type bjacobi -sub_pc_type lu
'''
NUMBER = re.compile(r'[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?')


def is_complex():
    """whether this PETSc has complex numbers"""
    folders = [f[2:] for f in shlex.split(os.environ['PETSC_CC_INCLUDES']) if f.startswith('-I')]
    files = [os.path.join(f, 'petscconf.h') for f in folders]
    return any('define PETSC_USE_COMPLEX' in open(f).read() for f in files if os.path.exists(f))


def build(program, folder):
    """the executable, or None if PETSc's source is not here"""
    source = petscprogram.find('src/' + program + '.c')
    target = os.path.join(folder, program.replace('/', '_'))
    if source and not os.path.exists(target):
        petscprogram.compiled(source, target)
    return source and target


def run(program, ranks, options, folder):
    command = shlex.split(os.environ['MPIEXEC']) + ['-n', str(ranks), program] + options
    env = {**os.environ, 'PETSC_OPTIONS': ''}
    done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=300, stdin=subprocess.DEVNULL, cwd=folder, env=env)
    return done.returncode, done.stdout, done.stderr


def differ(reference, ours, kind):
    """why two outputs differ, '' if they do not"""
    def plain(text):
        return [l.rstrip() for l in re.sub(r'\b(seq|mpi)?(aij)?(%s|aij)\b' % kind, 'T', text).splitlines() if l.strip() and 'type:' not in l]
    a, b = plain(reference), plain(ours)
    if len(a) != len(b):
        return '%d lines instead of %d' % (len(b), len(a))
    for x, y in zip(a, b):
        close = all(abs(float(u) - float(v)) <= 2e-3 * max(abs(float(u)), abs(float(v))) + 1e-9 for u, v in zip(NUMBER.findall(x), NUMBER.findall(y)))
        if NUMBER.sub('#', x) != NUMBER.sub('#', y) or not close:
            return '"%s" instead of "%s"' % (y, x)
    return ''


def compare(executable, ranks, options, kind, folder):
    counts = os.path.join(folder, 'counts')
    with open(counts, 'w'):
        pass
    status, reference, err = run(executable, ranks, [o.replace('TYPE', 'aij').replace('VEC', 'standard') for o in options], folder)
    if status:
        return 'aij itself exits with %d: %s' % (status, err[:300])
    status, ours, err = run(executable, ranks, [o.replace('TYPE', kind).replace('VEC', 'accel') for o in options] + ['-dll_append', os.environ['LIBRARY'], '-mat_spmv_build_after', '0', '-spmv_view_counts', counts], folder)
    if status:
        return 'exit status %d: %s' % (status, next((l for l in err.splitlines() if 'ERROR' in l and '---' not in l), err[:300]))
    with open(counts) as f:
        line = f.read().strip()
    print('# %s' % line)
    if ' fallbacks 0 ' not in line:
        return 'products by AIJ\'s kernel: %s' % line
    return differ(reference, ours, kind)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for kind in TYPES:
            for number, case in enumerate(CASES.strip().splitlines()):
                if case[0] == '+' and not os.environ.get('ALL'):
                    continue
                program, ranks, *options = case.lstrip('+').split()
                name = 'petsc_%s_%s_%d' % (kind, program.replace('/', '_'), number)
                if program.startswith('tao/') and is_complex():
                    print('ok %s # SKIP PETSc has no TAO with complex numbers' % name)
                    continue
                try:
                    executable = build(program, folder)
                    why = compare(executable, int(ranks), options, kind, folder) if executable else None
                except (petscprogram.Problem, subprocess.TimeoutExpired) as error:
                    why = str(error)[:300]
                if why is None:
                    print('ok %s # SKIP PETSc\'s %s.c is not installed' % (name, program))
                else:
                    print('%s %s%s' % ('not ok' if why else 'ok', name, ' # ' + why if why else ''), flush=True)


if __name__ == '__main__':
    main()
