"""Never returns."""
# sandbox: timeout
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    while True:
        pass
