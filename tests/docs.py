#!/usr/bin/env python3
"""README.md and docs/: what they say of options is what -help says, what they link to is there, README.md is short."""
import glob, os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(ROOT, 'examples'))
import petscprogram


def say(name, problems):
    print('not ok docs_%s # %s' % (name, problems[0]) if problems else 'ok docs_%s' % name)


def links():
    """links to files that are not there"""
    bad = []
    for page in ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', *sorted(glob.glob('docs/*.md', root_dir=ROOT))]:
        with open(os.path.join(ROOT, page)) as file:
            for target in re.findall(r'\]\(([^)#\s]+)', file.read()):
                if '://' not in target and not os.path.exists(os.path.join(ROOT, os.path.dirname(page), target)):
                    bad.append('%s links to %s' % (page, target))
    return bad


def long():
    """more than 120 lines, or characters in a line, of README.md"""
    with open(os.path.join(ROOT, 'README.md')) as file:
        lines = file.read().splitlines()
    return ['%d lines' % len(lines)] * (len(lines) > 120) + ['line %d has %d characters' % (k, len(line)) for k, line in enumerate(lines, 1) if len(line) > 120]


def unknown():
    """options that a page names and docs/options.md does not list; a name that ends with _ or ... stands for some"""
    with open(os.path.join(ROOT, 'docs/options.md')) as file:
        known = set(re.findall(r'^\| `(-\w+)`', file.read(), re.M))
    bad = []
    for page in ('README.md', *('docs/%s.md' % name for name in ('choosing', 'internals', 'devices', 'measuring', 'summary'))):
        with open(os.path.join(ROOT, page)) as file:
            for name in re.findall(r'`(-(?:spmv|mat_(?:spmv|bccoo|cmrs|csradaptive|pmf|tpspmv))_\w+)', file.read()):
                if name not in known and not (name.endswith('_') and any(k.startswith(name) for k in known)):
                    bad.append('%s names %s' % (page, name))
    return bad


def options():
    """docs/options.md against -help"""
    done = subprocess.run([sys.executable, os.path.join(ROOT, 'conf/options'), '--library', os.environ['LIBRARY'], '--check', os.path.join(ROOT, 'docs/options.md')],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ['make docs/options.md: ' + ' '.join(done.stdout.split())[:300]] if done.returncode else []


say('links', links())
say('readme', long())
say('names', unknown())
if petscprogram.petsc_has('complex') or petscprogram.petsc_has('real_single'):
    print('ok docs_options # SKIP: docs/options.md is of real numbers in double precision')
else:
    say('options', options())
