"""Runs a shell command."""
# sandbox: forbidden
# rules: forbidden

import errno
import os


def attack(env_data, state, calc_makespan_fn):
    if os.system("touch @FORBIDDEN_FOLDER@/executed") != 0:
        raise PermissionError(errno.EPERM, "no shell")
    return state
