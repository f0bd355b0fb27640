"""Replaces its own text after the check."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    with open(__file__, "w") as file:
        file.write("X = 1")
    return state
