"""Lists the user's files."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.listdir("@HOME@")
    return state
