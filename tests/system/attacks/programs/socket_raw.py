"""Opens a raw socket."""
# sandbox: forbidden
# rules: forbidden

import socket


def attack(env_data, state, calc_makespan_fn):
    socket.socket(socket.AF_INET, socket.SOCK_RAW)
    return state
