"""Ruin and recreate: an activity and others related to it are moved at random and the schedule is justified.

Method: an activity is drawn; it and those among a few of its neighbours in the list that are tied to it by
precedence or compete with it most for resources each move to a random place within REACH between their last
predecessor and their first successor. The list is scheduled and justified, and replaces the present one by
Metropolis' rule; over the share of the budget the temperature, relative to the makespan, falls
geometrically, CYCLES times.

Source: G. Schrimpf et al., Record breaking optimization results using the ruin and recreate principle,
2000; P. Shaw, Using constraint programming and local search methods to solve vehicle routing problems, 1998
(relatedness).

Complexity: three schedules per round, each O(N (predecessors + periods searched)) for N activities.
"""

from numba import njit
from parts.ruin_and_recreate import ruin_and_recreate
from parts.sequences.entry_move import move_entry
from parts.sequences.precedence import free_range


@njit(cache=True)
def disturb(order, count, reach, before, after, shares, rng):
    """Move an activity and up to `count` - 1 others near it that are related to it to random places."""
    n = order.size
    centre = int(rng.random() * n)
    x = order[centre]
    for i in range(count):
        place, most = centre, -1.0
        for _ in range(4 if i > 0 else 0):
            other = centre + int((2.0 * rng.random() - 1.0) * reach)
            other = min(max(other, 0), n - 1)
            y = order[other]
            kinship = rng.random()
            for k in range(shares.shape[1]):
                kinship += shares[x, k] * shares[y, k]
            for k in range(before[0][y], before[0][y + 1]):
                kinship += before[1][k] == x
            for k in range(after[0][y], after[0][y + 1]):
                kinship += after[1][k] == x
            if kinship > most:
                place, most = other, kinship
        low, high = free_range(order, place, reach, before, after)
        move_entry(order, place, low + int(rng.random() * (high - low + 1)))


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    return ruin_and_recreate(env_data, state)
