"""Writes to the standard error stream and its descriptor."""
# sandbox: none
# rules: forbidden

import os
import sys


def attack(env_data, state, calc_makespan_fn):
    for _ in range(2_000):
        sys.stderr.write("flood " * 100)
        os.write(2, b"flood " * 100)
    return state
