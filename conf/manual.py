"""Manual pages, from comments in PETSc's markup above public functions and types: read, checked, and written for man.

An option without a text under "Options Database Keys" gets that of -help, as docs/options.md has it; -mat_bccoo_*
stands for all of them that begin so.
"""
import glob, os, re, textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = 'include/petscspmv.h'
COMMENT = re.compile(r'^/\*(@C?|MC|E|S)\n  (\w+) - (.*?)\n(.*?)^(?:@|M|E|S)\*/\n', re.M | re.S)
HEADING = re.compile(r'  ([A-Z][A-Za-z ]*):$')
# Names that have a page of PETSc's; VecUse...() are ours, internal
PETSC = re.compile(r'(?!VecUse)(?:(Mat|Vec|KSP|PC)[A-Z][A-Za-z0-9]*\(\)|(MAT|VEC|KSP|PC)[A-Z0-9]+)$')
KEYS = ('Options Database Keys', 'Options Database Key')


def text(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def files(pattern):
    """those of the source folder that fit, as paths from there"""
    return sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, pattern), recursive=True))


class Page:
    """name, names (those of the header that it is about), summary, group, file, synopsis

    sections: [(title, [paragraph or list])], a list being [(term, meaning)]; described: options with the text of -help
    """


def options():
    """{option: (default, meaning)} of docs/options.md"""
    found = {}
    for line in text('docs/options.md').splitlines():
        cells = [cell.strip().replace('\\|', '|') for cell in re.split(r'(?<!\\)\|', line)]
        if len(cells) == 6 and cells[1].startswith('`-'):
            name, default, meaning, values = cells[1:5]
            allowed = ' (one of: %s)' % values.replace('`', '') if values else ''
            found[name.strip('`')] = default.strip('`'), meaning + allowed
    return found


def entry(lines):
    """a line of a list as (term, meaning); a line that is continued is indented"""
    words = ' '.join(line.strip() for line in lines)[2:].strip()
    term, dash, meaning = re.match(r'(.*?)(?:\s+(-)\s+(.*))?$', words).groups()
    return term, meaning if dash else None


def sections(body):
    """[(title, [paragraph or list])]; what comes before the first title has none"""
    found = [('', [])]
    for block in re.split(r'\n\s*\n|\n(?=  [A-Z][A-Za-z ]*:\n)', body.strip('\n')):
        lines = block.split('\n')
        made = HEADING.match(lines[0])
        if made:
            found.append((made[1], []))
            lines = lines[1:]
        elif re.match(r'  Level: ', block) or block.startswith('.seealso:'):
            title, _, words = block.partition(':')
            found.append(({'.seealso': 'See Also'}.get(title, title.strip()), [' '.join(words.split())]))
            continue
        starts = [k for k, line in enumerate(lines) if re.match(r'[+.-] ', line)] + [len(lines)]
        if starts[0]:
            found[-1][1].append(textwrap.dedent('\n'.join(lines[:starts[0]])))
        if len(starts) > 1:
            found[-1][1].append([entry(lines[a:b]) for a, b in zip(starts, starts[1:])])
    return [part for part in found if part[1]]


def filled(page, known):
    """puts what -help says in the place of options without a text"""
    def fill(term, meaning):
        if meaning is not None:
            return [(term, meaning)]
        stem = term[:-1] if term.endswith('*') else None
        names = [name for name in known if (name == term if stem is None else name.startswith(stem))]
        if not names:
            raise SystemExit('%s: -help has no %s; after a change of options: make docs/options.md' % (page.file, term))
        page.described += names
        return [('%s <%s>' % (name, known[name][0]) if known[name][0] else name, known[name][1]) for name in names]

    page.described = []
    for title, blocks in page.sections:
        if title in KEYS:
            blocks[:] = [b if isinstance(b, str) else [made for term in b for made in fill(*term)] for b in blocks]


def pages():
    """all of them, in the order of their files"""
    header, known, found = text(HEADER), options(), []
    for file in [HEADER] + files('src/**/*.c'):
        source = text(file)
        for made in COMMENT.finditer(source):
            page, rest = Page(), source[made.end():]
            kind, page.name, page.summary, body = made.groups()
            page.file, page.sections = file, sections(body)
            page.names, page.synopsis = [page.name], ''
            if kind.startswith('@'):
                page.group, page.synopsis = 'functions', rest[:rest.index('\n{')] + ';'
            elif kind in 'ES':
                page.group, page.synopsis = 'data', rest[:re.search(r'}.*;', rest).end()]
            elif page.name.endswith('Options'):
                page.group = 'options'
            else:
                page.group = 'types'
                starts = '#define %s ' % page.name
                page.synopsis = next((lines for lines in header.split('\n\n') if lines.startswith(starts)), '')
                page.names = re.findall(r'#define (\w+)', page.synopsis) or page.names
            filled(page, known)
            found.append(page)
    return found


def parameters(page):
    """the names of a function's arguments"""
    inside = page.synopsis[page.synopsis.index('(') + 1:page.synopsis.rindex(')')]
    arguments = [] if inside == 'void' else inside.split(',')
    return [re.search(r'(\w+)(\[\w*\])*$', argument.strip())[1] for argument in arguments]


def problems(found):
    """what is missing or wrong, a sentence each"""
    header, known, bad = text(HEADER), options(), []
    public = re.findall(r'^#define (\w+) +"|^PETSC_EXTERN \w+ (\w+)\(|^(?:typedef enum .*)?} (\w+);', header, re.M)
    names = [name for page in found for name in page.names]
    times = [(name, names.count(name)) for name in (max(group) for group in public)]
    bad += ['%s has %d manual pages' % (name, count) for name, count in times if count != 1]
    for page in found:
        say = lambda what: bad.append('%s: the page of %s %s' % (page.file, page.name, what))
        titles = dict(page.sections)
        for title in ('Level', 'See Also'):
            if title not in titles:
                say('has no ' + title)
        if page.group == 'functions':
            lists = [block for title in titles if re.search('Parameters?$', title) for block in titles[title]]
            listed = [term for block in lists for term, _ in block]
            if sorted(listed) != sorted(parameters(page)):
                say('lists %s of the arguments %s' % (listed, parameters(page)))
            if not re.match(r'(Not|Logically )?\s*Collective', titles.get('', [''])[0]):
                say('does not say whether it is collective')
        elif page.group == 'types' and not page.synopsis:
            say('is of no type in ' + HEADER)
        parts = [block for _, blocks in page.sections for block in blocks]
        words = ' '.join(b if isinstance(b, str) else ' '.join('%s %s' % item for item in b) for b in parts)
        for name in re.findall(r'`(\w*Spmv\w*|(?:MAT|VEC)(?:SEQ|MPI)?(?:SPMV|ACCEL|\w*CCOO))(?:\(\))?`', words):
            if name not in names:
                say('names %s, which has none' % name)
        for name in re.findall(r'(?<![\w<-])-(?:mat_)?(?:spmv|bccoo|cmrs|csradaptive|tpspmv|pmf|sbccoo)_\w+', words):
            if name not in known:
                say('names %s, which -help does not' % name)
    described = [name for page in found for name in page.described]
    times = [(name, described.count(name)) for name in known]
    return bad + ['%s is described on %d manual pages' % (name, count) for name, count in times if count != 1]


def protected(lines):
    """no line of text is a request"""
    return '\n'.join('\\&' + line if line[:1] in ('.', "'") else line for line in lines)


def roff(words):
    """a piece of text for man, with what is in backquotes and options in bold"""
    words = words.replace('\\', '\\e')
    words = re.sub(r'(?<![\w<`-])-(?=[a-z]\w)', r'\\-', words)
    words = re.sub(r'`([^`]*)`', r'\\fB\1\\fR', words)
    return protected(textwrap.wrap(words, 79, break_long_words=False, break_on_hyphens=False))


def verbatim(lines):
    return '.nf\n%s\n.fi' % protected(lines.replace('\\', '\\e').split('\n'))


def man(page, version, date):
    """a page in roff's macros for manual pages"""
    lines = ['.TH %s 3 %s "petscspmv %s" petscspmv' % (page.name.upper(), date, version), '.nh', '.ad l']
    lines += ['.SH NAME', roff('%s @ %s' % (', '.join(page.names), page.summary)).replace('@', '\\-', 1)]
    lines += ['.SH SYNOPSIS', verbatim('#include <petscspmv.h>\n\n' + page.synopsis)] if page.synopsis else []
    for title, blocks in page.sections:
        lines.append('.SH ' + (title.upper() or 'DESCRIPTION'))
        for number, block in enumerate(blocks):
            if isinstance(block, str):
                lines += ['.PP'] * (number > 0) + [roff(block)]
            for term, meaning in [] if isinstance(block, str) else block:
                lines += ['.IP \\(bu 2' if term == '*' else '.TP\n.B %s' % roff(term.replace('`', '')), roff(meaning)]
    return '\n'.join(lines) + '\n'
