"""Attaches to its parent."""
# sandbox: forbidden
# rules: forbidden

import ctypes
import os


def attack(env_data, state, calc_makespan_fn):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, os.getppid(), 0, 0) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return state
