"""Reads a competitor's text."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    return open("@OTHER_CANDIDATE@").read()
