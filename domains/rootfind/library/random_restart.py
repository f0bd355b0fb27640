"""A random point near the initial guess."""

from parts.history import visit

PATIENCE = 20  # tunable: int 5..100


def run(env_data, state, calc_makespan_fn):
    """Evaluate at a random point within the radius once the history is PATIENCE points longer than at the
    last."""
    data = state.metadata
    if len(data["points"]) - data.get("restarted", 0) >= PATIENCE:
        data["restarted"] = len(data["points"])
        x0 = env_data["x0"]
        visit(env_data, state, x0 + env_data["radius"] * env_data["rng"].uniform(-1.0, 1.0, x0.size))
    return state
