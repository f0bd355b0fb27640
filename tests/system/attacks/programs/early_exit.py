"""Leaves through SystemExit."""
# sandbox: crashed
# rules: forbidden

import sys


def attack(env_data, state, calc_makespan_fn):
    sys.exit(0)
