"""The best of several solutions."""


def best_of(states, decode, budget):
    """A copy of the best of `states`, which are scored in turn until the share is spent; one at least."""
    best, best_score = None, None
    for state in states:
        score = decode(state)
        if best_score is None or score < best_score:
            best, best_score = state.copy(), score
        if budget.exhausted():
            break
    return best


def best_built(built, budget, target=None):
    """The best of `built`, pairs of a solution and its value made one after the other, a unit of work each.

    At least one is made; the series ends with the share of the budget, or at a value of `target` or below.
    """
    best, least = None, None
    for solution, value in built:
        budget.charge(1)
        if least is None or value < least:
            best, least = solution, value
        if budget.exhausted() or (target is not None and least <= target):
            break
    return best
