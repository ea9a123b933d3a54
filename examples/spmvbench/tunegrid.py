"""What patient tries on the host, as src/tune/search.c has it, from the knobs that formats declare in src/mat/impls."""
import glob, os, re

IMPLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'src', 'mat', 'impls')


def declared(text):
    """[(CHOICES, RANGE or LIST, name, the kind of knob)] of what a file declares"""
    found = []
    for start in re.finditer(r'SPMV_(CHOICES|RANGE|LIST)\(\s*\\?\s*"(\w+)"', text):
        end, depth = text.index('(', start.start()) + 1, 1
        while depth:
            depth += {'(': 1, ')': -1}.get(text[end], 0)
            end += 1
        told = re.search(r'SPMV_KNOB_(\w+)', text[start.start():end])
        found.append((*start.groups(), told[1] if told else 'USERS'))
    return found


def knobs(folder=IMPLS):
    """[(format, CHOICES, RANGE or LIST, name, kind)] of the host's knobs"""
    found = []
    for form in sorted(os.listdir(folder)):
        for path in sorted(glob.glob(os.path.join(folder, form, '*.h')) + glob.glob(os.path.join(folder, form, 'host', '*.c'))):
            with open(path) as file:
                found += [(form, *knob) for knob in declared(file.read())]
    return found


def text(folder=IMPLS):
    host = knobs(folder)
    listed = lambda wanted: ', '.join('`%s_%s`' % (form, name) for form, how, name, kind in host if wanted(how, kind)) or 'none'
    return ['every value of each knob that is a choice, of a range (%s) its default and, unless that is 0, a quarter and four times of it; those that make shapes of blocks (%s)' % (
                listed(lambda how, kind: how == 'RANGE' and kind != 'USERS'), listed(lambda how, kind: kind == 'SHAPE')),
            'in all combinations, the others one at a time around the best plan of each format (src/tune/search.c). Not tried are knobs that only users turn:',
            listed(lambda how, kind: kind == 'USERS') + '.']
