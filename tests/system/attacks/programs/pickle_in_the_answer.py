"""Smuggles code for a parent that unpickles."""
# sandbox: crashed
# rules: forbidden

import os
import pickle


class Evil:
    def __reduce__(self):
        return os.mkdir, ("@FORBIDDEN_FOLDER@/pickled",)


def attack(env_data, state, calc_makespan_fn):
    os.write(3, b"A" + pickle.dumps(Evil()))
    os._exit(0)
