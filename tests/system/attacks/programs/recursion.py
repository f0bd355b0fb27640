"""Recurses without end."""
# sandbox: runtime_error
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    return attack(env_data, state, calc_makespan_fn)
