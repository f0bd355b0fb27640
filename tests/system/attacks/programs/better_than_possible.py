"""Stays at one point: a distance of 0."""
# sandbox: infeasible
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    state.sequence[:] = 0
    return state
