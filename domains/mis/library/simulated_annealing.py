"""Simulated annealing: a random vertex joins, its neighbours in the set leave, at the price of their number.

Method: a vertex with t neighbours in the set is drawn; the set shrinks by t - 1 when it joins. The move is
made when t is at most 1, otherwise with probability exp(-(t - 1) / temperature). Vertices that become free
wait until they are drawn. The temperature falls with the share of the budget that is left.

Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, 1983; X. Geng, J. Xu,
J. Xiao, L. Pan, A simple simulated annealing algorithm for the maximum clique problem, 2007.

Complexity: O(1) per refused and O(t degree) per accepted proposal. Work units: one per
vertex that joins or leaves, and per 64 proposals.
"""

import numpy as np
from numba import njit
from parts.independent_set import copy_set, force, open_set
from parts.xorshift import draw

HOT = 0.6  # tunable: float 0.1..3.0
COLD = 0.12  # tunable: float 0.02..0.5

CHUNK_WORK = 2_000_000
REFUSALS_OF_A_MOVE = 64  # proposals that are refused in the time of a vertex that joins or leaves
TRAIL = 1


# exchangeable: cooling
@njit(cache=True)
def cooling(remaining, hot, cold):
    """Temperature when the share `remaining` (1 to 0) of the time is left."""
    return hot * (cold / hot) ** (1.0 - remaining)


# exchangeable: insertion-choice
@njit(cache=True)
def insertion_choice(order, size, tight, ties):
    """The vertex to propose, any one outside the set order[:size]; tight[v]: neighbours of v in the set.

    `ties` is a random number below 2^31.
    """
    return order[size + ties % (order.size - size)]


# exchangeable: completion
@njit(cache=True)
def complete(first, near, order, place, tight, counts, trail, stream):
    """Add nothing of its own: a free vertex joins when it is proposed."""
    return


@njit(cache=True)
def proposals(first, near, order, place, tight, counts, trail, best, chances, n_proposals, stream):
    """Make `n_proposals`; chances[t]: probability, times 2^31, of a move that drives t vertices out."""
    n, most = order.size, best.sum()
    for _ in range(n_proposals):
        if counts[0] >= n:
            return
        v = insertion_choice(order, counts[0], tight, draw(stream, 1 << 31))
        driven = min(tight[v], chances.size - 1)
        if driven > 1 and draw(stream, 1 << 31) >= chances[driven]:
            continue
        force(v, first, near, order, place, tight, counts, trail)
        complete(first, near, order, place, tight, counts, trail, stream)
        if counts[0] > most:
            most = copy_set(order, counts[0], best)


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` for the whole share of the budget."""
    budget, n = env_data["budget"], env_data["num_vertices"]
    _adj, stream, best, lists = open_set(env_data, state, TRAIL)
    first, near, order, place, tight, counts, trail = lists
    n_proposals = max(20, CHUNK_WORK // (20 + 4 * (len(near) // n + 1)))
    while not budget.exhausted():
        heat = cooling(budget.remaining(), HOT, COLD)
        chances = np.array([int(2.0**31 * np.exp(-max(t - 1, 0) / heat)) for t in range(20)], dtype=np.int64)
        before = int(counts[4])
        proposals(first, near, order, place, tight, counts, trail, best, chances, n_proposals, stream)
        budget.charge(int(counts[4]) - before + 1 + n_proposals // REFUSALS_OF_A_MOVE)
    state.sequence = best
    return state
