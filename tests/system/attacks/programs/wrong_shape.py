"""Returns a matrix."""
# sandbox: infeasible
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    state.sequence = state.sequence.reshape(1, -1)
    return state
