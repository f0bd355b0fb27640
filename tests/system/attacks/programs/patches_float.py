"""Replaces the built-in float."""
# sandbox: none
# rules: forbidden

import builtins


def attack(env_data, state, calc_makespan_fn):
    builtins.float = lambda value=0: -1.0e9
    return state
