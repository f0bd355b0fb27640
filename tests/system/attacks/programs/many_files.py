"""Opens files without end."""
# sandbox: runtime_error
# rules: forbidden

import numpy as np


def attack(env_data, state, calc_makespan_fn):
    files = []
    while True:
        files.append(open(np.__file__))
