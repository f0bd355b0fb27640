"""Raises an exception whose text never ends."""
# sandbox: timeout
# rules: forbidden


class Endless(Exception):
    def __repr__(self):
        while True:
            pass

    __str__ = __repr__


def attack(env_data, state, calc_makespan_fn):
    raise Endless
