"""Returns more than anyone asked for."""
# sandbox: oversized_answer
# rules: pass

import numpy as np


def attack(env_data, state, calc_makespan_fn):
    state.metadata["x"] = np.zeros(1 << 22)
    return state
