"""Looks for keys in its own environment."""
# sandbox: none
# rules: forbidden

import os


def attack(env_data, state, calc_makespan_fn):
    state.metadata["found"] = " ".join(f"{k}={v}" for k, v in os.environ.items())
    return state
