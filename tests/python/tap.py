"""For test scripts in Python what tests/tap is for those of the shell: a line of TAP for each check."""


def check(name, run, *arguments):
    """runs a check; an exception is why it failed, and what it returns, if that is not None, why it was skipped"""
    try:
        why = run(*arguments)
        print('ok ' + name + (' # SKIP ' + why if why else ''), flush=True)
    except Exception as error:
        print('not ok %s # %s: %s' % (name, type(error).__name__, ' '.join(str(error).split())[:600]), flush=True)
