"""Descent by single flips, first improvement.

Method: goes round the vertices in index order and moves each to the other side if that makes the cut heavier,
until a whole round changes nothing. The gains of all vertices are kept up to date.
Source: S. Sahni, T. Gonzalez, "P-complete approximation problems" (1976); P. Festa, P. Pardalos, M. Resende,
C. Ribeiro, "Randomized heuristics for the MAX-CUT problem" (2002).
Complexity: O(n) per round and O(degree) per flip. Work units: one per round.
"""

from numba import njit
from parts.gains import flip
from parts.rounds import descend_in_rounds

ROUNDS_PER_CHUNK = 4  # tunable: int 1..20


@njit(cache=True)
def improve_rounds(x, gains, offsets, neighbors, weights, rounds):
    """Up to `rounds` rounds of improving flips; whether the last one changed something."""
    moved = True
    for _ in range(rounds):
        if not moved:
            return False
        moved = False
        for v in range(x.size):
            if gains[v] > 0:
                moved = True
                flip(v, x, gains, offsets, neighbors, weights)
    return moved


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_in_rounds(env_data, state, ROUNDS_PER_CHUNK)
