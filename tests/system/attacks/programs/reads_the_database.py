"""Reads the run's database."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    return open("@DATABASE@", "rb").read()
