"""Leaves its folder through dots."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    return open(os.path.join(os.path.dirname(__file__), *[".."] * 40, "etc/passwd")).read()
