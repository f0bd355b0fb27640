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


@njit(cache=True)
def improve_vertex(v, x, gains, offsets, neighbors, weights):
    """Move v to the other side if the cut gets heavier; whether it does."""
    if gains[v] > 0:
        flip(v, x, gains, offsets, neighbors, weights)
        return True
    return False


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_in_rounds(env_data, state)
