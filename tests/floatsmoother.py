#!/usr/bin/env python3
"""examples/floatsmoother.c: it converges as in double precision, floats serve the finest smoother, and the solver's matrix has none."""
import os, re, shlex, subprocess, sys, tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'examples')
sys.path.append(EXAMPLES)
import petscprogram

OURS = ['-dll_append', os.environ['LIBRARY'], '-mat_type', 'spmv', '-mat_spmv_build_after', '0', '-fine_mat_spmv_build_after', '0']
COMMON = '-ksp_rtol 1e-9 -da_grid_x 9 -da_grid_y 9 -da_grid_z 9 -pc_gamg_coarse_eq_limit 20 -operators_view ::ascii_info_detail'.split()
FINE = ['-fine_mat_spmv_values', 'float']
CASES = {  # name: processes, options of the solver, those of floats, do the coarse levels have some?
    'gamg': (1, [], FINE, False),
    'gamg_2': (2, [], FINE, False),
    'levels': (1, [], FINE + ['-mat_spmv_product_values', 'float'], True),
    'sor': (1, ['-mg_levels_pc_type', 'sor'], FINE + ['-fine_mat_spmv_sor_values', 'float'], False),
    'mg': (1, '-pc_type mg -pc_mg_galerkin -pc_mg_levels 2'.split(), FINE, False),
}


def run(program, ranks, options, folder):
    """iterations, residual, what is said of the solver's matrix and of the smoother's, products and sweeps by floats in all"""
    counts = os.path.join(folder, 'counts')
    if os.path.exists(counts):
        os.remove(counts)
    command = shlex.split(os.environ['MPIEXEC']) + ['-n', str(ranks), program, *COMMON, *options]
    if OURS[0] in options:
        command += ['-spmv_view_counts', counts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, 'PETSC_OPTIONS': ''})
    assert done.returncode == 0, 'exit status %d: %s' % (done.returncode, (done.stderr + done.stdout)[-500:])
    iterations, residual = re.search(r'(\d+) iterations, true residual (\S+)', done.stdout).groups()
    floats = 0
    if os.path.exists(counts):
        with open(counts) as file:
            floats = sum(int(n) for n in re.findall(r' floats (\d+)', file.read()))
    return int(iterations), float(residual), done.stdout.split('Mat Object')[1:], floats


def served(view, kind):
    """products, or sweeps, of one matrix: ours, those by AIJ's kernel"""
    found = re.search(kind + r" (\d+), by AIJ's kernel (\d+)", view)
    return [int(n) for n in found.groups()] if found else [0, 0]


def check(program, name, folder):
    ranks, solver, floats, coarse = CASES[name]
    aij, residual, _, _ = run(program, ranks, solver, folder)
    double = run(program, ranks, solver + OURS, folder)
    assert abs(double[0] - aij) <= 1 and double[3] == 0, double
    iterations, single, (A, P), counted = run(program, ranks, solver + OURS + floats, folder)
    assert aij > 3 and abs(iterations - aij) <= 1, '%d iterations instead of %d' % (iterations, aij)
    assert residual < 1e-6 and single < 1e-6, 'the residual is %g, and %g with floats' % (residual, single)
    if ranks > 1:  # PETSc's parallel view has no more than the sizes
        assert counted > 0
        return
    sweeps = '-fine_mat_spmv_sor_values' in floats
    assert 'values=float' not in A and 'as floats' not in A and 'values=float' in P and ('as floats' in P) == sweeps, A + P
    mine, fine = served(A, 'products'), served(P, 'products')
    assert mine[0] > iterations and fine[0] > iterations and mine[1] == fine[1] == 0, A + P
    # All that was counted is the finest smoother's, unless the levels below have floats as well
    expected = fine[0] + sweeps * served(P, 'sweeps')[0]
    assert counted > expected if coarse else counted == expected, '%d by floats, %d of them on the finest level' % (counted, expected)


def main():
    skip = 'this PETSc has complex numbers' if petscprogram.petsc_has('complex') else None
    with tempfile.TemporaryDirectory() as folder:
        program = None if skip else petscprogram.compiled(os.path.join(EXAMPLES, 'floatsmoother.c'), os.path.join(folder, 'floatsmoother'))
        for name in CASES:
            try:
                if not skip:
                    check(program, name, folder)
                print('ok floatsmoother_%s%s' % (name, ' # SKIP ' + skip if skip else ''), flush=True)
            except (AssertionError, AttributeError, ValueError, subprocess.SubprocessError) as error:
                print('not ok floatsmoother_%s # %s' % (name, ' '.join(str(error).split())[:600]), flush=True)


main()
