"""Takes memory in compiled code."""
# sandbox: out_of_memory timeout
# rules: pass

import numba
import numpy as np


@numba.njit
def hoard(n):
    return np.ones(n).sum()


def attack(env_data, state, calc_makespan_fn):
    hoard(1 << 45)
    return state
