"""Takes memory bit by bit."""
# sandbox: out_of_memory timeout
# rules: forbidden


def attack(env_data, state, calc_makespan_fn):
    hoard = []
    while True:
        hoard.append(bytearray(1 << 22))
