"""Reads a file of the system."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    return open("/etc/passwd").read()
