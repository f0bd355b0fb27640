"""Raises text that cannot be encoded."""
# sandbox: runtime_error
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    raise ValueError("\ud800" * 100)
