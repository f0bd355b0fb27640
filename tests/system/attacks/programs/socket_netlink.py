"""Opens a netlink socket."""
# sandbox: forbidden
# rules: forbidden

import socket


def attack(env_data, state, calc_makespan_fn):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
    return state
