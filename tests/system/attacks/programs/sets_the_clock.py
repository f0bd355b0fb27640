"""Sets the host's clock."""
# sandbox: forbidden
# rules: forbidden

import time


def attack(env_data, state, calc_makespan_fn):
    time.clock_settime(time.CLOCK_REALTIME, 0.0)
