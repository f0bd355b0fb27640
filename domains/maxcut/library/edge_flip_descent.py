"""Descent by single flips and flips of both ends of an edge.

Method: goes round the vertices; a vertex moves alone if that gains, else together with the neighbour with
which it gains most, if that gains. A cut edge keeps being cut when both ends move: such pairs escape from
local optima of single flips. Stops when a whole round changes nothing.
Source: Y. Ma, J. Hao, "A multiple search operator heuristic for the max-k-cut problem" (2017), its pair
moves; B. Kernighan, S. Lin, "An efficient heuristic procedure for partitioning graphs" (1970).
Complexity: O(n + m) per round. Work units: one per round.
"""

from numba import njit
from parts.gains import flip
from parts.rounds import descend_in_rounds


@njit(cache=True)
def improve_vertex(v, x, gains, offsets, neighbors, weights):
    """Move v, or v and the best neighbour for it, if the cut gets heavier; whether it does."""
    if gains[v] > 0:
        flip(v, x, gains, offsets, neighbors, weights)
        return True
    partner, most = -1, 0
    for p in range(offsets[v], offsets[v + 1]):
        u = neighbors[p]
        gain = gains[v] + gains[u] - 2 * weights[p] * x[v] * x[u]
        if gain > most:
            partner, most = u, gain
    if partner < 0:
        return False
    flip(v, x, gains, offsets, neighbors, weights)
    flip(partner, x, gains, offsets, neighbors, weights)
    return True


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_in_rounds(env_data, state)
