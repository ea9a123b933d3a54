"""HTML from what our pages use of Markdown: headings, paragraphs, lists, tables, indented code, links, pictures."""
import html, re

ITEM = re.compile(r'(- |\d+\. )(.*)')
SPAN = re.compile(r'(`[^`]+`)')


def inline(text, link=lambda target: target, code=lambda text: None):
    """a line of text. link(target) says where a link leads, code(text) where a word in backquotes does, or None"""
    def words(plain):
        plain = html.escape(plain, quote=False)
        plain = re.sub(r'!\[(.*?)\]\((\S+?)\)', lambda m: '<img src="%s" alt="%s">' % (link(m[2]), m[1]), plain)
        plain = re.sub(r'\*\*(\S(?:.*?\S)?)\*\*', r'<strong>\1</strong>', plain)
        return re.sub(r'(?<![\w*])\*(\w(?:[^*]*\S)?)\*(?![\w*])', r'<em>\1</em>', plain).replace('\\|', '|')

    def span(text):
        target = code(text)
        made = '<code>%s</code>' % html.escape(text, quote=False)
        return '<a href="%s">%s</a>' % (target, made) if target else made

    made = ''.join(span(part[1:-1]) if part.startswith('`') else words(part) for part in SPAN.split(text))
    return re.sub(r'\[([^][]*)\]\((\S+?)\)', lambda m: '<a href="%s">%s</a>' % (link(m[2]), m[1]), made)


def table(lines, words):
    cells = [[cell.strip() for cell in re.split(r'(?<!\\)\|', line.strip()[1:-1])] for line in lines]
    right = [rule.endswith(':') for rule in cells[1]]

    def row(tag, line):
        made = ('<%s%s>%s</%s>' % (tag, ' class="number"' * r, words(cell), tag) for cell, r in zip(line, right))
        return '<tr>%s</tr>' % ''.join(made)

    return '<table>\n%s\n</table>' % '\n'.join([row('th', cells[0]), *(row('td', line) for line in cells[2:])])


def items(lines, words):
    """a list; what belongs to an item is indented as its text is"""
    found, kind = [], 'ul' if lines[0].startswith('-') else 'ol'
    for line in lines:
        made = ITEM.match(line)
        if made:
            width = len(made[1])
            found.append([made[2]])
        else:
            found[-1].append(line[width:] if line[:width].isspace() else line)
    made = ('<li>%s</li>' % blocks(item, words, tight=True) for item in found)
    return '<%s>\n%s\n</%s>' % (kind, '\n'.join(made), kind)


def blocks(lines, words, tight=False):
    made, k = [], 0
    while k < len(lines):
        line, first = lines[k], k
        if not line.strip():
            k += 1
        elif line.startswith('#'):
            marks, title = re.match(r'(#+) *(.*)', line).groups()
            name = re.sub(r'[^\w-]', '', title.lower().replace(' ', '-'))
            made.append('<h%d id="%s">%s</h%d>' % (len(marks), name, words(title), len(marks)))
            k += 1
        elif line.startswith('    '):
            while k < len(lines) and (lines[k].startswith('    ') or not lines[k].strip()):
                k += 1
            made.append('<pre>%s</pre>' % html.escape('\n'.join(l[4:] for l in lines[first:k]).rstrip(), quote=False))
        elif line.startswith('|'):
            while k < len(lines) and lines[k].startswith('|'):
                k += 1
            made.append(table(lines[first:k], words))
        elif ITEM.match(line):
            # An empty line ends it, unless what follows is indented
            while k < len(lines) and (lines[k].strip() or lines[k + 1:k + 2] and lines[k + 1].startswith('  ')):
                k += 1
            made.append(items(lines[first:k], words))
        else:
            while k < len(lines) and lines[k].strip() and (k == first or not re.match(r'[#|]|- ', lines[k])):
                k += 1
            text = words('\n'.join(lines[first:k]))
            made.append(text if tight else '<p>%s</p>' % text)
    return '\n'.join(made)


def page(text, **links):
    return blocks(text.split('\n'), lambda words: inline(words, **links))
