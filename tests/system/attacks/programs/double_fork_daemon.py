"""Tries to outlive its parent."""
# sandbox: forbidden
# rules: forbidden

import os
import time


def attack(env_data, state, calc_makespan_fn):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
    return state
