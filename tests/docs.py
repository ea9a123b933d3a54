#!/usr/bin/env python3
"""README.md and docs/: what they say of options is what -help says, what they link to is there, README.md is short.

And manual pages: all that is public has one, with all arguments and options; man and mandoc accept them; HTML is linked.
"""
import copy, glob, html.parser, importlib.machinery, importlib.util, os, re, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(ROOT, 'examples'))
sys.path.append(os.path.join(ROOT, 'conf'))
import manual, petscprogram


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
    for page in ('README.md', *('docs/%s.md' % name for name in ('choosing', 'examples', 'internals', 'devices', 'measuring', 'summary'))):
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


def quotes():
    """numbers that README.md has otherwise than the reports of solves; and some that are put right"""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader('quotes', os.path.join(ROOT, 'conf/quotes'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('quotes', loader))
    loader.exec_module(module)
    text, *sources = map(module.text_of, (module.README, module.SOLVE, module.INTEL))
    new = module.quoted(text, *sources)
    bad = []
    for number in (r'(\*\*)[\d.]+( times faster\*\*)', r'(it is )[\d.]+( times, from)'):
        wrong = re.sub(number, r'\g<1>9.87\2', text)
        if module.quoted(wrong, *sources) != new or new == wrong:
            bad.append('a wrong number is not put right')
    return bad + ['README.md: %s; conf/quotes writes %s' % pair for pair in zip(text.split('\n'), new.split('\n')) if pair[0] != pair[1]]


def pages():
    """public names, arguments and options that manual pages miss, or have twice"""
    return manual.problems(manual.pages())


def faults():
    """mistakes in pages that are not found"""
    bad = []

    def seeded(name, words, change):
        found = manual.pages()
        change({page.name: page for page in found}[name], found)
        if not any(words in problem for problem in manual.problems(found)):
            bad.append('a page of %s is not said to be wrong: %s' % (name, words))

    def rename(page, found):
        page.synopsis = page.synopsis.replace('Mat A', 'Mat B')

    def lacks(title):
        return lambda page, found: page.sections.remove(next(part for part in page.sections if part[0] == title))

    seeded('MatSpmvGetPlan', 'of the arguments', rename)
    seeded('MatSpmvGetPlan', 'of the arguments', lacks('Output Parameter'))
    seeded('MatSpmvGetPlan', 'is collective', lacks(''))
    seeded('MATPMF', 'has no Level', lacks('Level'))
    seeded('MATPMF', 'MATPMF has 0 manual pages', lambda page, found: found.remove(page))
    seeded('MATPMF', 'MATPMF has 2 manual pages', lambda page, found: found.append(copy.copy(page)))
    seeded('MATPMF', '-mat_pmf_window is described on 0', lambda page, found: page.described.remove('-mat_pmf_window'))
    seeded('MATPMF', '-mat_pmf_window is described on 2', lambda page, found: page.described.append('-mat_pmf_window'))
    seeded('MATPMF', 'names -mat_pmf_no', lambda page, found: page.sections.append(('Note', ['set -mat_pmf_no'])))
    seeded('MATPMF', 'names MatSpmvNo', lambda page, found: page.sections.append(('Note', ['see `MatSpmvNo()`'])))
    return bad


def written(option):
    """a folder with what conf/docs writes"""
    folder = tempfile.mkdtemp()
    subprocess.run([sys.executable, os.path.join(ROOT, 'conf/docs'), option, folder], check=True, timeout=120)
    return folder


def man():
    """complaints of mandoc and man about the pages for man"""
    folder, bad = written('--man'), []
    tools = [['mandoc', '-Tlint', '-Wstyle'], ['man', '--warnings', '-E', 'UTF-8', '-l']]
    for tool in [tool for tool in tools if shutil.which(tool[0])]:
        for page in sorted(glob.glob(folder + '/*')):
            env = {**os.environ, 'LC_ALL': 'C.UTF-8', 'MANWIDTH': '80'}
            done = subprocess.run(tool + [page], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
            words = done.stderr + (done.stdout if tool[0] == 'mandoc' else '' if 'NAME' in done.stdout else 'no text')
            bad += ['%s: %s' % (tool[0], line) for line in words.splitlines()]
    shutil.rmtree(folder)
    return bad


class Links(html.parser.HTMLParser):
    """the links of a page, and elements that are not closed where they must be"""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.found = [], [], []
        self.feed(text)
        self.wrong += self.open

    def handle_starttag(self, tag, attributes):
        self.found += [value for name, value in attributes if name in ('href', 'src')]
        if tag not in ('meta', 'link', 'img'):
            self.open.append(tag)

    def handle_endtag(self, tag):
        self.wrong += [] if self.open and self.open.pop() == tag else [tag]


def site():
    """pages of HTML that are broken, that nothing leads to, and links that lead nowhere"""
    folder, bad = written('--html'), []
    reached, waiting = set(), ['index.html']
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        if not os.path.exists(os.path.join(folder, page)):
            bad.append('a link leads to %s' % page)
            continue
        reached.add(page)
        if page.endswith('.html'):
            with open(os.path.join(folder, page)) as file:
                links = Links(file.read())
            bad += ['%s: <%s>' % (page, tag) for tag in links.wrong]
            local = [link.partition('#')[0] for link in links.found if '://' not in link and link[0] != '#']
            waiting += [os.path.normpath(os.path.join(os.path.dirname(page), link)) for link in local]
    files = {os.path.relpath(os.path.join(top, name), folder) for top, _, names in os.walk(folder) for name in names}
    bad += ['nothing leads to %s' % name for name in sorted(files - reached)]
    wanted = {name[:-3] + '.html' for name in glob.glob('docs/*.md', root_dir=ROOT)} | {'README.html', 'docs/solve.svg'}
    wanted |= {'manual/%s.html' % page.name for page in manual.pages()}
    bad += ['%s is missing' % name for name in sorted(wanted - files)]
    shutil.rmtree(folder)
    return bad


say('links', links())
say('manual', pages())
say('manual_faults', faults())
say('html', site())
if shutil.which('mandoc') or shutil.which('man'):
    say('man', man())
else:
    print('ok docs_man # SKIP neither mandoc nor man is there: install the package mandoc')
say('readme', long())
say('quotes', quotes())
say('names', unknown())
if petscprogram.petsc_has('complex') or petscprogram.petsc_has('real_single'):
    print('ok docs_options # SKIP: docs/options.md is of real numbers in double precision')
else:
    say('options', options())
