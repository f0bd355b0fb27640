"""Points a link of its own at a file of the system."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.symlink("/etc/passwd", os.path.join(os.path.dirname(__file__), "__pycache__", "link"))
    return state
