"""Links a file of the system into its own folder."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.link("/etc/passwd", os.path.join(os.path.dirname(__file__), "__pycache__", "link"))
    return state
