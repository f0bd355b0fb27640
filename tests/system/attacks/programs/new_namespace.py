"""Enters a user namespace of its own."""
# sandbox: forbidden
# rules: forbidden

import ctypes


def attack(env_data, state, calc_makespan_fn):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return state
