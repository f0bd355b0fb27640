"""Returns a sequence of NaN."""
# sandbox: infeasible
# rules: pass

import numpy as np


def attack(env_data, state, calc_makespan_fn):
    state.sequence = np.full(env_data["n"], np.nan)
    return state
