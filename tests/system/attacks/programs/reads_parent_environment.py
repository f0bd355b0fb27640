"""Reads the environment of PID 1."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    return open("/proc/1/environ").read()
