#!/usr/bin/env python3
"""PETSc's tutorials, unmodified, with products and vectors on a device, on 1, 2 and 8 processes: the numbers and iterations of aij
with vectors of the host; every product is ours, and kernels do the vectors' work. On 2 alone, without $ALL; the first on 1 as well."""
import os, re, subprocess, tempfile
from petsc_examples import build, differ, petscprogram, run

# what is to be on the device, for programs that take their types from a DM and for those that do not
OPTIONS = '-mat_spmv_backend device -mat_spmv_build_after 0 -spmv_device opencl -spmv_device_view -vec_type accel -dm_vec_type accel'.split()
CASES = '''
ksp/ksp/tutorials/ex2 -mat_type TYPE -m 30 -n 30
ksp/ksp/tutorials/ex2 -mat_type TYPE -m 30 -n 30 -ksp_type cg -pc_type jacobi
ksp/ksp/tutorials/ex45 -dm_mat_type TYPE -da_grid_x 9 -da_grid_y 9 -da_grid_z 9
ksp/ksp/tutorials/ex56 -mat_type TYPE -ne 7 -alpha 1.e-3 -ksp_type cg -pc_type gamg
'''
KIND = 'bccoo'


def compare(executable, ranks, options, folder):
    counts = os.path.join(folder, 'counts')
    if os.path.exists(counts):
        os.remove(counts)
    options = options + ['-ksp_monitor_short', '-ksp_converged_reason']
    status, reference, err = run(executable, ranks, [o.replace('TYPE', 'aij') for o in options], folder)
    if status:
        return 'aij itself exits with %d: %s' % (status, err[:300])
    status, ours, err = run(executable, ranks, [o.replace('TYPE', KIND) for o in options] + ['-dll_append', os.environ['LIBRARY'], '-spmv_view_counts', counts] + OPTIONS, folder)
    if status:
        return 'exit status %d: %s' % (status, next((l for l in err.splitlines() if 'ERROR' in l and '---' not in l), err[:300]))
    view = [l for l in ours.splitlines() if re.match(r'vectors: |\w+ device \d|devices: ', l)]
    with open(counts) as f:
        line = f.read().strip()
    print('# %s\n# %s' % (line, '\n# '.join(l for l in view if 's: ' in l)))
    if ' fallbacks 0 ' not in line or ' products 0 ' in line:
        return 'products by AIJ\'s kernel: %s' % line
    kernels = [int(n) for l in view for n in re.findall(r'^vectors: (\d+) operations by kernels', l)]
    if not kernels or not kernels[0]:
        return 'no kernel worked on a vector'
    return differ(reference, '\n'.join(l for l in ours.splitlines() if l not in view), KIND)


def missing():
    """why there is no device, or None"""
    with tempfile.TemporaryDirectory() as folder:
        executable = build(CASES.split()[0], folder)
        if not executable:
            return 'PETSc\'s tutorials are not installed'
        status, _, err = run(executable, 1, '-m 2 -n 2 -mat_type bccoo'.split() + ['-dll_append', os.environ['LIBRARY']] + OPTIONS, folder)
        return 'there is no device; install pocl-opencl-icd' if status and 'this machine has none' in err else None


def main():
    skip = missing()
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(CASES.strip().splitlines()):
            for ranks in (1, 2, 8) if os.environ.get('ALL') else (2,) if number else (1, 2):
                program, *options = case.split()
                name = 'petsc_device_%s_%d_%d' % (os.path.basename(program), number, ranks)
                if skip:
                    print('ok %s # SKIP %s' % (name, skip))
                    continue
                try:
                    why = compare(build(program, folder), ranks, options, folder)
                except (petscprogram.Problem, subprocess.TimeoutExpired) as error:
                    why = str(error)[:300]
                print('%s %s%s' % ('not ok' if why else 'ok', name, ' # ' + why if why else ''), flush=True)


if __name__ == '__main__':
    main()
