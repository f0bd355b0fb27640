"""Kills the process that watches it."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.kill(os.getppid(), 9)
