"""Opens a UDP socket."""
# sandbox: forbidden
# rules: forbidden

import socket


def attack(env_data, state, calc_makespan_fn):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return state
