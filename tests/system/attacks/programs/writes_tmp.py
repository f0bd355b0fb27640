"""Writes to the shared temporary folder."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    with open("/tmp/dga2d-attack", "w") as file:
        file.write("here")
    return state
