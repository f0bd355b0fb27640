"""Writes to shared memory."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    with open("/dev/shm/dga2d-attack", "w") as file:
        file.write("here")
    return state
