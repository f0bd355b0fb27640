"""Swallows whatever is thrown at it."""
# sandbox: timeout
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    while True:
        try:
            [0] * (1 << 60)
        except BaseException:
            continue
