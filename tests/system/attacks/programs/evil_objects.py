"""Returns an object that equals everything and unpickles into a call."""
# sandbox: infeasible
# rules: forbidden

import os


class Evil:
    sequence = None

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __reduce__(self):
        return os.mkdir, ("@FORBIDDEN_FOLDER@/reduced",)


def attack(env_data, state, calc_makespan_fn):
    return Evil()
