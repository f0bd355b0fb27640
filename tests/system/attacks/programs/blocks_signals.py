"""Blocks every signal that can be blocked."""
# sandbox: timeout
# rules: forbidden

import signal


def attack(env_data, state, calc_makespan_fn):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass
