"""Returns nothing to visit."""
# sandbox: infeasible
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    state.sequence = state.sequence[:0]
    return state
