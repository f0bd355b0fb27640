"""Makes many small files instead of a large one."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    for number in range(1 << 20):
        path = os.path.join(os.path.dirname(__file__), "__pycache__", str(number))
        with open(path, "wb") as file:
            file.write(bytes(1 << 10))
    return state
