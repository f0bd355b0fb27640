"""Loops before anything is called."""
# sandbox: timeout
# rules: forbidden

while True:
    pass


def attack(env_data, state, calc_makespan_fn):
    return state
