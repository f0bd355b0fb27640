"""Takes it all at once."""
# sandbox: out_of_memory timeout
# rules: pass

import numpy as np


def attack(env_data, state, calc_makespan_fn):
    return np.ones(1 << 40)
