"""The code that NVRTC makes for sm_90: registers and spills as ptxas says them, loads under way as nvdisasm shows them."""
import os, re, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REGISTERS, WARPS, GROUPS, SHARED = 65536, 64, 32, 228 << 10  # of a processor of sm_90
LINE = re.compile(r'\s*/\*[0-9a-f]+\*/\s+(?:@!?(U?P\w+)\s+)?(\S+)\s*([^;]*);')
NAME = re.compile(r'\b(U?)(R|P)(\d+)\b(?:\.reuse)?(\.64)?')


def nvdisasm():
    """The disassembler's path, None if it is not there"""
    done = subprocess.run([os.path.join(ROOT, 'conf/fetch-nvdisasm'), '--known'], stdout=subprocess.PIPE, text=True)
    return done.stdout.strip() or None


def said(log):
    """{kernel: (registers, bytes of shared memory, bytes spilled or on the stack, as arrays are whose indices are not known)}"""
    found = {}
    for part in log.split("Compiling entry function '")[1:]:
        spills = sum(int(number) for number in re.findall(r'(\d+) bytes (?:spill|stack)', part))
        shared = re.search(r'(\d+) bytes smem', part)
        found[part.split("'")[0]] = (int(re.search(r'Used (\d+) registers', part)[1]), int(shared[1]) if shared else 0, spills)
    return found


def occupancy(registers, shared, group):
    """Warps that a processor has at a time, of those that it can have"""
    warps = -(-group // 32)
    by_registers = REGISTERS // 4 // (-(-registers * 32 // 256) * 256) * 4 // warps
    return warps * min(WARPS // warps, GROUPS, by_registers, SHARED // (shared + 1024)) / WARPS


def functions(cubin):
    return parse(subprocess.run([nvdisasm(), '-c', cubin], stdout=subprocess.PIPE, text=True, check=True).stdout)


def parse(text):
    """{kernel: [(labels, predicate that it depends on or '', operation, operands), ...]}"""
    found, label = {}, []
    for line in text.splitlines():
        name, code = re.match(r'\.text\.(\w+):', line), LINE.match(line)
        if name:
            body, label = found.setdefault(name[1], []), []
        elif re.match(r'\.L_x?_?\w+:', line):
            label.append(line.rstrip(':'))
        elif code:
            body.append((label, code[1] or '', code[2], code[3]))
            label = []
    return found


def loops(body):
    """[(first, last), ...] instructions of the innermost loops: a branch back and what it goes to"""
    where = {label: k for k, (labels, *_) in enumerate(body) for label in labels}
    found = []
    for k, (_, _, operation, operands) in enumerate(body):
        target = re.search(r'`\((\.\w+)\)', operands) if operation.startswith('BRA') else None
        if target and where.get(target[1], len(body)) < k:
            found.append((where[target[1]], k))
    return [loop for loop in found if not any(other != loop and loop[0] <= other[0] and other[1] <= loop[1] for other in found)]


def names(text):
    """Registers and predicates in some operands: R4, UR4, P0, UP0; two of an address"""
    found = {uniform + kind + number for uniform, kind, number, _ in NAME.findall(text)}
    return found | {'%sR%d' % (uniform, int(number) + 1) for uniform, kind, number, pair in NAME.findall(text) if pair and kind == 'R'}


def registers(predicate, operation, operands):
    """(registers and predicates written, those read) by an instruction; of a pair the first one is enough for what reads it"""
    parts = [part.strip() for part in operands.split(',')]
    used = names(predicate)
    if re.match(r'ST|RED\b|BAR|BRA|BRX|EXIT|MEMBAR|BSSY|BSYNC|WARPSYNC|NANOSLEEP', operation):
        return set(), used | names(operands)
    written, wide = set(), re.search(r'\.(128|64|WIDE)\b|^D(ADD|MUL|FMA)|^CS2R', operation)
    if re.match(r'U?[A-Z]*SETP|U?PLOP3', operation):  # two predicates
        return names(','.join(parts[:2])), used | names(','.join(parts[2:]))
    if parts and re.fullmatch(r'U?PT|U?P\d+', parts[0]):  # whether a lane, or an exchange, was there
        written |= names(parts.pop(0))
    target = re.fullmatch(r'(U?R)(\d+)', parts[0]) if parts else None
    if parts and re.fullmatch(r'U?R(\d+|Z)', parts[0]):
        parts.pop(0)
    if target:
        count = 4 if wide and wide[1] == '128' else 2 if wide else 1
        written |= {'%s%d' % (target[1], int(target[2]) + k) for k in range(count)}
    carries = 2 if re.match(r'U?IADD3', operation) else 1 if re.match(r'U?(LEA|IMAD|VOTE)', operation) else 0
    while carries and parts and re.fullmatch(r'U?PT|U?P\d+', parts[0]):
        written |= names(parts.pop(0))
        carries -= 1
    return written, used | names(','.join(parts))


def flight(code):
    """Loads of global memory that were asked for before what one of them brings is used, at most"""
    waiting, most = [], 0
    for _, predicate, operation, operands in code:
        written, used = registers(predicate, operation, operands)
        if any(load & used for load in waiting):
            most = max(most, len(waiting))
        waiting = [load for load in waiting if not load & (used | written)]
        if re.match(r'LDG|LD\.', operation):
            waiting.append(written)
    return most


def chain(body):
    """Loads of global memory that wait for one another, one after the other, at most; of loops one pass"""
    depth, most = {}, 0
    for _, predicate, operation, operands in body:
        written, used = registers(predicate, operation, operands)
        here = max((depth.get(register, 0) for register in used), default=0) + bool(re.match(r'LDG|LD\.', operation))
        most = max(most, here)
        depth.update((register, max(here, depth.get(register, 0)) if predicate else here) for register in written)
    return most


def loads(body):
    """Loads under way, at least and at most over the innermost loops that read the matrix (STREAM() is .EF); without such loops of the whole kernel"""
    inner = [body[first:last + 1] for first, last in loops(body)]
    inner = [code for code in inner if any(re.match(r'LDG\S*\.EF\b', operation) for _, _, operation, _ in code)]
    counts = [flight(code + code) for code in inner] or [flight(body)]
    return min(counts), max(counts)
