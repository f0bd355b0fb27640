"""Iterated local search: disturb, descend by random moves, keep what is no worse.

Method: KICK random items go to random groups; then ROUNDS times n random moves of an item are tried and
taken unless they lose; the result replaces the assignment unless it is worse. Uses its whole share.
Source: H. R. Lourenço, O. C. Martin, T. Stützle, "Iterated local search" (2003).
Complexity: one score per move. Work units: one per score.
"""

from parts.generic.iterated import iterated

KICK = 3  # tunable: int 1..30
ROUNDS = 3.0  # tunable: float 0.5..20.0


def descended(env_data, state, score):
    """Score after random moves in ``state.sequence`` that make nothing worse."""
    rng, budget, after = env_data["rng"], env_data["budget"], env_data["score_of_move"]
    groups, k = state.sequence, env_data["solution_groups"]
    for _ in range(int(ROUNDS * groups.size)):
        if budget.exhausted():
            break
        item, group = int(rng.integers(groups.size)), int(rng.integers(k))
        changed = after(state, score, item, group)
        if changed <= score:
            groups[item], score = group, changed
    return score


# exchangeable: disturbed-groups
def disturbed(groups, env_data):
    """A copy of the assignment in which some items are in random groups."""
    rng, changed = env_data["rng"], groups.copy()
    items = rng.permutation(groups.size)[:KICK]
    changed[items] = rng.integers(env_data["solution_groups"], size=items.size)
    return changed


def run(env_data, state, calc_makespan_fn):
    return iterated(env_data, state, calc_makespan_fn)
