"""Asks for a new set of file rights."""
# sandbox: forbidden
# rules: forbidden

import ctypes


def attack(env_data, state, calc_makespan_fn):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(444, None, 0, 1) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return state
