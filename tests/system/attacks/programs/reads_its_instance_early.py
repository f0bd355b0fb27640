"""Reads the order pipe when it is imported, before the instance was sent."""
# sandbox: timeout
# rules: forbidden

import os

early = os.read(4, 1 << 20)


def attack(env_data, state, calc_makespan_fn):
    return state
