"""Reads lists of exceptions: tests/uncovered, conf/lint/accepted"""
import sys


def exceptions(path):
    """[(file, what, why)] of the lines FILE: WHAT # why; those that begin with # and empty ones are left out"""
    found = []
    with open(path) as file:
        for line in file:
            line = line.strip()
            if not line or line.startswith('#'):
                continue
            of, _, rest = line.partition(': ')
            what, mark, why = rest.rpartition(' # ')
            if not mark or not what.strip() or not why.strip():
                sys.exit('%s: "%s" is not FILE: WHAT # why' % (path, line))
            found.append((of, what.strip(), why.strip()))
    return found
