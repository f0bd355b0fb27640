"""Mounts a file system."""
# sandbox: forbidden
# rules: forbidden

import ctypes


def attack(env_data, state, calc_makespan_fn):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return state
