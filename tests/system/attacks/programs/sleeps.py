"""Sleeps for ever without using the processor."""
# sandbox: timeout
# rules: forbidden

import time


def attack(env_data, state, calc_makespan_fn):
    time.sleep(1e6)
