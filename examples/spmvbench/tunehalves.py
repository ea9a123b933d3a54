"""Training and reporting apart: rates that are fitted to one half of the matrices, by family, choose for the other half.

make calibrate fits the rates of a machine to matrices that it makes; here calibrate -f fits them to those of one half that are in PETSc's
binary format, which it reads: finite elements and tutorials. What else of the model was found on matrices (tunefamilies.py) is the same
for both.
"""
import os, subprocess

from written import geomean, table

SAME = {'DOLFINx: heat': 'DOLFINx: p1'}  # matrices of one pattern are in one half


def group(family):
    """what is not to be in both halves: kinds of elements of all sizes and numberings, and real matrices of one field"""
    family = family.split(', out of cache')[0]
    return SAME.get(family, family)


def halves(families):
    """two sets of groups with about as many matrices each; families: the one of each matrix"""
    groups = [group(f) for f in families]
    found, sizes = [set(), set()], [0, 0]
    for name in sorted(set(groups), key=lambda g: (-groups.count(g), g)):
        half = sizes.index(min(sizes))
        found[half].add(name)
        sizes[half] += groups.count(name)
    return found


def fit(calibrate, folder, files):
    """fits rates to these matrices; the folder is XDG_CONFIG_HOME for who is to use them"""
    done = subprocess.run([calibrate, '-f', ','.join(files), '-out', os.path.join(folder, 'petscspmv', 'machine')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise OSError('%s: %s' % (calibrate, ' '.join(done.stdout.splitlines()[-1:])))


def choices(calibrate, work, found, measured):
    """
    [(groups fitted to, groups chosen for, [(matrix, with built-in rates, with the other half's)])]: speed of what is chosen, over the best's;
    nothing if a half has no matrix to fit to

    found: [(file, family, speed with built-in rates)]; measured(file, folder): the same with rates of a folder, None where it does not run
    """
    sets, told = halves([family for _, family, _ in found]), []
    files = [[file for file, family, _ in found if group(family) in half and file.endswith('.petsc')] for half in sets]
    for half in range(2) if all(files) else ():
        folder = os.path.join(work, 'half-%d' % half)
        fit(calibrate, folder, files[half])
        speeds = [(os.path.basename(file).split('.')[0], built_in, measured(file, folder)) for file, family, built_in in found if group(family) in sets[1 - half]]
        told.append((sorted(sets[half]), sorted(sets[1 - half]), [s for s in speeds if s[2]]))
    return told


def report(told):
    rows = []
    for fitted, chosen, speeds in [t for t in told if t[2]]:
        cells = []
        for k in 1, 2:
            least = min(speeds, key=lambda s: s[k])
            cells += ['%.3f' % geomean(s[k] for s in speeds), '%.2f (%s)' % (least[k], least[0])]
        rows.append(['; '.join(chosen), '; '.join(fitted), '%d' % len(speeds), *cells])
    return rows and ['## Rates fitted to one half, choices for the other', '',
            'Families are in two halves, kinds of elements in all sizes and numberings in the same one. Rates of the machine were fitted to the matrices of one half but the real ones',
            '(`calibrate -f`), and chose for the other half, in a run of its own. Best / estimate as above.', '',
            *table(['chosen for', 'rates fitted to', 'matrices', 'built-in rates: best / estimate', 'least', 'fitted rates: best / estimate', 'least'], rows), '']
