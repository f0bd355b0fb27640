"""Writes to the answer pipe without end."""
# sandbox: oversized_answer
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.write(3, b"A")
    while True:
        os.write(3, b"\xff" * (1 << 16))
