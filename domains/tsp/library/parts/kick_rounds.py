"""Rounds of iterated local search on a tour: a double bridge, and 2-opt until nothing is left to gain.

The file brings ``draw_cuts``, where the bridge is, ``wake``, from which cities the descent begins, and
``longest_kept``, which tours stay.

Source: H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003).
"""

import numpy as np
from numba import njit
from parts.bridges import bridge
from parts.cities import length_of, read_tour
from parts.sweeps import descend_by_sweeps, sweep
from parts.taker import draw_cuts, longest_kept, wake

CHUNK_CITIES = 20_000  # moves and sweeps of one kernel call, times cities, about


@njit(cache=True)
def bridge_and_wake(tour, pos, awake, cuts, rng):
    """Make a double bridge on `tour`, and wake the cities from which it is to be searched."""
    n = tour.size
    draw_cuts(cuts, n, rng)
    start, b, c, d = cuts
    tour[:] = bridge(tour, start, b, c, d)
    for i in range(n):
        pos[tour[i]] = i
    cuts[0], cuts[1], cuts[2], cuts[3] = 0, d - c, d - b, d
    wake(awake, tour, cuts)


@njit(cache=True)
def tour_length(tour, dist):
    """Length of a closed tour."""
    length = dist[tour[-1], tour[0]]
    for i in range(1, tour.size):
        length += dist[tour[i - 1], tour[i]]
    return length


@njit(cache=True)
def make_rounds(allowance, progress, tour, pos, dist, near, best, lengths, rng):
    """Kick the tour and repair it, until about `allowance` moves and sweeps are made; returns their number.

    `lengths` holds those of the best and of the present tour.
    """
    present, cuts = tour.copy(), np.empty(4, np.int64)
    awake, units = np.zeros(tour.size, np.uint8), 0
    while units < allowance:
        limit = longest_kept(lengths[1], progress, rng)
        bridge_and_wake(tour, pos, awake, cuts, rng)
        is_going_on = True
        while is_going_on:
            count, is_going_on = sweep(tour, pos, dist, near, awake)
            units += count
        units += 1
        length = tour_length(tour, dist)
        if length <= limit:
            lengths[1] = length
            present[:] = tour
        else:
            tour[:] = present
        if length < lengths[0]:
            lengths[0] = length
            best[:] = tour
    return units


def search_by_kicks(env_data, state, neighbours):
    """Make rounds from `state` until the share is spent; the shortest tour is the answer."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    if n < 8:
        return state
    state = descend_by_sweeps(env_data, state, neighbours)
    dist, near, tour, pos = read_tour(env_data, state, neighbours)
    best = tour.copy()
    lengths = np.full(2, length_of(tour, dist))
    while not budget.exhausted():
        progress = 1.0 - budget.remaining()
        allowance = max(20, CHUNK_CITIES // n)
        budget.charge(make_rounds(allowance, progress, tour, pos, dist, near, best, lengths, rng))
    state.sequence = best
    return state
