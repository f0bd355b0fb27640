"""Writes nonsense as its answer."""
# sandbox: crashed
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.write(3, b"A" + bytes(range(256)))
    os._exit(0)
