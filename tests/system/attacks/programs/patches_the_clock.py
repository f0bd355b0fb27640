"""Stops the clocks of its process."""
# sandbox: none
# rules: forbidden

import time


def attack(env_data, state, calc_makespan_fn):
    time.perf_counter = time.monotonic = time.time = lambda: 0.0
    return state
