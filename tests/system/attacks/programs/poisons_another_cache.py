"""Plants machine code in a competitor's cache."""
# sandbox: forbidden
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    with open("@OTHER_CACHE@/evil.nbi", "wb") as file:
        file.write(b"evil")
    return state
