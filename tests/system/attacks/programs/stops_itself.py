"""Stops itself so that it never ends."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.kill(os.getpid(), 19)
