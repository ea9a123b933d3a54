"""The code that NVRTC makes for sm_90: registers and spills as ptxas says them, loads under way as nvdisasm shows them."""
import os, re, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REGISTERS, WARPS, GROUPS, SHARED = 65536, 64, 32, 228 << 10  # of a processor of sm_90
LINE = re.compile(r'\s*/\*([0-9a-f]+)\*/\s+(?:@!?U?P\w+\s+)?(\S+)\s*([^;]*);')


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
    """{kernel: [(labels, operation, operands), ...]}"""
    found, label = {}, []
    for line in text.splitlines():
        name, code = re.match(r'\.text\.(\w+):', line), LINE.match(line)
        if name:
            body, label = found.setdefault(name[1], []), []
        elif re.match(r'\.L_x?_?\w+:', line):
            label.append(line.rstrip(':'))
        elif code:
            body.append((label, code[2], code[3]))
            label = []
    return found


def loops(body):
    """[(first, last), ...] instructions of the innermost loops: a branch back and what it goes to"""
    where = {label: k for k, (labels, _, _) in enumerate(body) for label in labels}
    found = []
    for k, (_, operation, operands) in enumerate(body):
        target = re.search(r'`\((\.\w+)\)', operands) if operation.startswith('BRA') else None
        if target and where.get(target[1], len(body)) < k:
            found.append((where[target[1]], k))
    return [loop for loop in found if not any(other != loop and loop[0] <= other[0] and other[1] <= loop[1] for other in found)]


def registers(operation, operands):
    """(registers written, registers read) by an instruction; of a pair the first one is enough for what reads it"""
    parts = operands.split(',')
    stores = re.match(r'ST|RED|BAR|BRA|EXIT|MEMBAR|BSSY|BSYNC|ISETP|DSETP|FSETP|PLOP|WARPSYNC|NANOSLEEP', operation)
    target = re.match(r'\s*(R\d+)\b', parts[0]) if not stores else None
    used = {int(number) for part in (parts[1:] if target else parts) for number in re.findall(r'\bR(\d+)\b', part)}
    if not target:
        return set(), used
    first, wide = int(target[1][1:]), re.search(r'\.(128|64|WIDE)\b|^D(ADD|MUL|FMA)|^CS2R', operation)
    return set(range(first, first + (4 if wide and wide[1] == '128' else 2 if wide else 1))), used


def flight(code):
    """Loads of global memory that were asked for before what one of them brings is used, at most"""
    waiting, most = [], 0
    for _, operation, operands in code:
        written, used = registers(operation, operands)
        if any(load & used for load in waiting):
            most = max(most, len(waiting))
        waiting = [load for load in waiting if not load & (used | written)]
        if re.match(r'LDG|LD\.', operation):
            waiting.append(written)
    return most


def chain(body):
    """Loads of global memory that wait for one another, one after the other, at most; of loops one pass"""
    depth, most = {}, 0
    for _, operation, operands in body:
        written, used = registers(operation, operands)
        here = max((depth.get(register, 0) for register in used), default=0) + bool(re.match(r'LDG|LD\.', operation))
        most = max(most, here)
        depth.update((register, here) for register in written)
    return most


def loads(body):
    """Loads under way, at least and at most over the innermost loops that read the matrix (STREAM() is .EF); without such loops of the whole kernel"""
    inner = [body[first:last + 1] for first, last in loops(body)]
    inner = [code for code in inner if any(re.match(r'LDG\S*\.EF\b', operation) for _, operation, _ in code)]
    counts = [flight(code + code) for code in inner] or [flight(body)]
    return min(counts), max(counts)
