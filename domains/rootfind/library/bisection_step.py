"""Bisection."""

from parts.history import visit
from parts.steps import bracket_of, secant_move

FIRST = 0.1  # tunable: float 0.001..0.5


def run(env_data, state, calc_makespan_fn):
    """Halve the shortest interval with a change of sign; a secant step where there is none."""
    found = bracket_of(state.metadata) if env_data["dimension"] == 1 else None
    if found is None:
        secant_move(env_data, state, FIRST)
    else:
        visit(env_data, state, 0.5 * (found[0] + found[2]))
    return state
