"""Returns an array of objects."""
# sandbox: infeasible
# rules: pass

import numpy as np


def attack(env_data, state, calc_makespan_fn):
    state.sequence = np.array([object()] * env_data["n"])
    return state
