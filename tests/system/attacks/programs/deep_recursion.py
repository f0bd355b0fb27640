"""Recurses after lifting the limit."""
# sandbox: crashed out_of_memory runtime_error timeout
# rules: forbidden

import sys


def down(x):
    return list(map(down, [x]))


def attack(env_data, state, calc_makespan_fn):
    sys.setrecursionlimit(10**9)
    return down(state)
