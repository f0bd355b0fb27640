"""Prints a lot."""
# sandbox: none
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    for _ in range(20_000):
        print("flood " * 10)
    return state
