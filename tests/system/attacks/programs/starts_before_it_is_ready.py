"""Says at once that it is ready and searches meanwhile: the clock runs, and there is nothing to search in."""
# sandbox: timeout
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    return state


os.write(3, b"S")
while True:
    pass
