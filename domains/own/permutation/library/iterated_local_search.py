"""Iterated local search: disturb, descend by swaps, keep what is no worse.

Method: KICK random swaps; then ROUNDS times the number of places two random places are exchanged unless that
makes the order worse; the result replaces the order unless it is worse. Uses its whole share.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003).
Complexity: one score per swap. Work units: one per score.
"""

from parts.generic.iterated import iterated

KICK = 3  # tunable: int 1..30
ROUNDS = 3.0  # tunable: float 0.5..20.0


def descended(env_data, state, score):
    """Score after random swaps in ``state.sequence`` that make nothing worse."""
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    order = state.sequence
    for _ in range(int(ROUNDS * order.size)):
        if budget.exhausted():
            break
        i, j = rng.integers(order.size, size=2)
        changed = after(state, score, i, j)
        if changed <= score:
            order[i], order[j] = order[j], order[i]
            score = changed
    return score


# exchangeable: disturbed-order
def disturbed(order, env_data):
    """A copy of the order after some random swaps."""
    changed = order.copy()
    for _ in range(KICK):
        i, j = env_data["rng"].integers(order.size, size=2)
        changed[i], changed[j] = changed[j], changed[i]
    return changed


def run(env_data, state, calc_makespan_fn):
    return iterated(env_data, state, calc_makespan_fn)
