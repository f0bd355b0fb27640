"""Becomes a shell."""
# sandbox: forbidden
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    os.execv("/bin/sh", ["sh", "-c", "touch @FORBIDDEN_FOLDER@/executed"])
