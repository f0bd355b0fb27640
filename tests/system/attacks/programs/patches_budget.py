"""Makes its budget infinite."""
# sandbox: timeout
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    type(env_data["budget"]).exhausted = lambda self: False
    while not env_data["budget"].exhausted():
        env_data["budget"]._work = 0
    return state
