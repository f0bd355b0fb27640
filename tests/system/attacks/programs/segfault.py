"""Reads address 0."""
# sandbox: crashed
# rules: forbidden

import ctypes


def attack(env_data, state, calc_makespan_fn):
    ctypes.string_at(0)
