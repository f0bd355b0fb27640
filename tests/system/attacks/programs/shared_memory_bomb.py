"""Maps shared memory, which is not counted as data."""
# sandbox: out_of_memory runtime_error timeout
# rules: forbidden

import mmap


def attack(env_data, state, calc_makespan_fn):
    blocks = []
    while True:
        block = mmap.mmap(-1, 1 << 26)
        block[:] = b"x" * (1 << 26)
        blocks.append(block)
