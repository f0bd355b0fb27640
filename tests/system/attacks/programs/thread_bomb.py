"""Starts threads without end."""
# sandbox: forbidden
# rules: forbidden

import threading
import time


def attack(env_data, state, calc_makespan_fn):
    while True:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
