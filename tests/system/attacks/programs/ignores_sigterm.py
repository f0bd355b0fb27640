"""Ignores polite signals."""
# sandbox: timeout
# rules: forbidden

import signal


def attack(env_data, state, calc_makespan_fn):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGXCPU):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass
