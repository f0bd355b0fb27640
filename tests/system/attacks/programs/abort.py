"""Aborts."""
# sandbox: crashed
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.abort()
