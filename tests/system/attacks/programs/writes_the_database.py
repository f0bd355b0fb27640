"""Changes the run's database."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    with open("@DATABASE@", "ab") as file:
        file.write(b"forged")
    return state
