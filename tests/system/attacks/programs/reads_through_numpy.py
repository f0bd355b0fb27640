"""Reads it with numpy."""
# sandbox: forbidden
# rules: forbidden

import numpy as np


def attack(env_data, state, calc_makespan_fn):
    return np.fromfile("/etc/passwd", dtype=np.uint8)
