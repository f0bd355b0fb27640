"""Binds an abstract Unix socket."""
# sandbox: forbidden
# rules: forbidden

import socket


def attack(env_data, state, calc_makespan_fn):
    socket.socket(socket.AF_UNIX).bind("\0dga2d-attack")
    return state
