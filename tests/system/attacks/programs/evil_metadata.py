"""Hides such an object in the metadata."""
# sandbox: none
# rules: forbidden

import os


class Evil:
    def __reduce__(self):
        return os.mkdir, ("@FORBIDDEN_FOLDER@/reduced",)


def attack(env_data, state, calc_makespan_fn):
    state.metadata["evil"] = Evil()
    return state
