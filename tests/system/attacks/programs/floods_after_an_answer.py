"""Writes an empty answer and goes on writing."""
# sandbox: crashed
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.write(3, b"A")
    while True:
        os.write(3, bytes(1 << 16))
