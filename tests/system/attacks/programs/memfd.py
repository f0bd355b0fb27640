"""Creates an executable in memory."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.memfd_create("evil")
    return state
