"""Returns an array subclass that lies about its contents."""
# sandbox: none
# rules: forbidden

import numpy as np


class Liar(np.ndarray):
    def tolist(self):
        return [0]

    def __array_function__(self, *ignored):
        return 0

    def copy(self, *ignored):
        return self


def attack(env_data, state, calc_makespan_fn):
    state.sequence = state.sequence.view(Liar)
    return state
