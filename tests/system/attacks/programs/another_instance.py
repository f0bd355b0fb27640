"""Returns the solution of a larger instance."""
# sandbox: infeasible
# rules: pass

import numpy as np


def attack(env_data, state, calc_makespan_fn):
    state.sequence = np.arange(env_data["n"] + 5, dtype=np.int32)
    return state
