"""Loops in compiled code, where Python sees no signal."""
# sandbox: timeout
# rules: pass

import numba


@numba.njit
def spin(x):
    while x >= 0:
        x = (x * 5 + 1) % 1000
    return x


def attack(env_data, state, calc_makespan_fn):
    spin(1)
    return state
