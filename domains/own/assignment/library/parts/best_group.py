"""The best group of an item."""


def best_group(item, candidates, state, score, env_data):
    """The best of the `candidates` for an item, or its own group, and the score then.

    ``None`` if the share is spent before all are tried.
    """
    budget, after = env_data["budget"], env_data["score_of_move"]
    best, best_score = state.sequence[item], score
    for group in candidates:
        if budget.exhausted():
            return None
        changed = after(state, score, item, group)
        if changed < best_score:
            best, best_score = group, changed
    return best, best_score
