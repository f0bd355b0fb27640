"""Opens its parent's memory."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    return open(f"/proc/{os.getppid()}/mem", "rb").read(1)
