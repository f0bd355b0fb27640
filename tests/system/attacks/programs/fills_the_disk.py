"""Fills its own folder."""
# sandbox: forbidden runtime_error
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    path = os.path.join(os.path.dirname(__file__), "__pycache__", "big")
    with open(path, "wb") as file:
        while True:
            file.write(bytes(1 << 22))
