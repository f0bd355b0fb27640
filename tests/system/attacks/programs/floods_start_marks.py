"""Repeats the start mark to push its deadline back."""
# sandbox: timeout oversized_answer
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    while True:
        os.write(3, b"RSCS" * 4096)
