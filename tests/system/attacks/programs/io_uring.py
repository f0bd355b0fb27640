"""Asks for a second way into the kernel."""
# sandbox: forbidden
# rules: forbidden

import ctypes


def attack(env_data, state, calc_makespan_fn):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(425, 8, ctypes.create_string_buffer(120)) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return state
