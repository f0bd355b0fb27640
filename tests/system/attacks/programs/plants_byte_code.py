"""Plants byte code where an import of its own text would look for it."""
# sandbox: forbidden
# rules: forbidden

import importlib.util
import os


def attack(env_data, state, calc_makespan_fn):
    path = importlib.util.cache_from_source(__file__)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"evil")
    return state
