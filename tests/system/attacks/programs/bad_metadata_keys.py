"""Uses keys that are no text."""
# sandbox: infeasible
# rules: pass


def attack(env_data, state, calc_makespan_fn):
    state.metadata[object()] = 1
    state.metadata["x\ud800"] = 1
    return state
