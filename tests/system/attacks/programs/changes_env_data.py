"""Shrinks the problem it was given."""
# sandbox: infeasible
# rules: pass

import numpy as np


def attack(env_data, state, calc_makespan_fn):
    env_data["n"] = 3
    state.sequence = np.arange(3, dtype=np.int32)
    return state
