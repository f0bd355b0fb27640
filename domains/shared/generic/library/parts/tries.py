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
