"""Simulated annealing over 2-opt and Or-opt moves between near neighbours.

A proposal joins a random city to one of its NEIGHBOURS nearest, either by a reversal or by moving the city
(or a short segment that begins with it) there. The temperature falls with the share of the budget left, from
HOT to COLD times the mean edge length.
Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing" (1983);
D. S. Johnson, L. A. McGeoch, "The traveling salesman problem: a case study in local optimization" (1997), for
neighbour lists. Complexity: O(1) per refused proposal, O(n) per accepted one at worst.
Work units: one per PROPOSALS_PER_UNIT proposals.
"""

import numpy as np
from numba import njit
from parts.cities import length_of, read_tour
from parts.tour_arrays import reverse, reverse_between

NEIGHBOURS = 8  # tunable: int 4..16
SEGMENT = 3  # tunable: int 1..10
HOT = 0.15  # tunable: float 0.02..1.0
COLD = 0.005  # tunable: float 0.0005..0.02
SEGMENT_SHARE = 0.5  # tunable: float 0.0..0.9

PROPOSALS_PER_UNIT = 50
UNITS_PER_CHUNK = 1000


# exchangeable: cooling
@njit(cache=True)
def cooling(remaining):
    """Fraction of the starting temperature to use when the share `remaining` (1 to 0) of the time is left."""
    return (COLD / HOT) ** (1.0 - remaining)


@njit(cache=True)
def propose_reversal(city, other, side, tour, pos, dist, limit):
    """Join city and other by a reversal if it lengthens the tour by less than `limit`; returns the change."""
    n = tour.size
    p, q = pos[city], pos[other]
    step = 1 if side == 0 else -1
    after, other_after = tour[(p + step) % n], tour[(q + step) % n]
    change = dist[city, other] + dist[after, other_after] - dist[city, after] - dist[other, other_after]
    if after == other or other_after == city or change >= limit:
        return 0
    reverse_between(tour, pos, p, q, side)
    return change


@njit(cache=True)
def propose_segment(city, other, size, side, tour, pos, dist, limit):
    """Move the segment of `size` cities that begins with `city` behind or before `other`, like a proposal of
    a reversal. Made of three reversals, so that each turns the shorter side.
    """
    n = tour.size
    p, q = pos[city], pos[other]
    if (q - p) % n <= size or (p - q) % n <= 1:
        return 0
    end, before, behind = tour[(p + size - 1) % n], tour[p - 1], tour[(p + size) % n]
    partner = tour[(q + 1) % n] if side == 0 else tour[q - 1]
    if partner == before:
        return 0
    change = dist[before, behind] + dist[city, other] + dist[end, partner]
    change -= dist[before, city] + dist[end, behind] + dist[other, partner]
    if change >= limit:
        return 0
    if side == 0:
        swap_edges(tour, pos, before, city, other, partner)
        swap_edges(tour, pos, before, other, behind, end)
        swap_edges(tour, pos, other, end, city, partner)
    else:
        swap_edges(tour, pos, before, city, partner, other)
        swap_edges(tour, pos, before, partner, behind, end)
    return change


@njit(cache=True)
def swap_edges(tour, pos, a, b, c, d):
    """Replace edges a-b, c-d by a-c, b-d, where b follows a and d follows c in the same direction."""
    n = tour.size
    if tour[(pos[a] + 1) % n] == b:
        reverse(tour, pos, pos[b], pos[c])
    else:
        reverse(tour, pos, pos[a], pos[d])


@njit(cache=True)
def anneal(tour, pos, dist, near, heat, lengths, best, proposals, rng):
    """Make `proposals` proposals at temperature `heat`; lengths = [current, best]."""
    n, k = near.shape
    longest = min(SEGMENT, n - 4)
    for _ in range(proposals):
        city = int(rng.random() * n)
        other = near[city, int(rng.random() * k)]
        side = int(rng.random() * 2)
        limit = 1 - heat * np.log(1.0 - rng.random())
        if rng.random() < SEGMENT_SHARE:
            size = 1 + int(rng.random() * longest)
            change = propose_segment(city, other, size, side, tour, pos, dist, limit)
        else:
            change = propose_reversal(city, other, side, tour, pos, dist, limit)
        lengths[0] += change
        if lengths[0] < lengths[1]:
            lengths[1] = lengths[0]
            best[:] = tour


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    if n < 8:
        return state
    dist, near, tour, pos = read_tour(env_data, state, NEIGHBOURS)
    best = tour.copy()
    length = length_of(tour, dist)
    lengths = np.array([length, length])
    start_heat = HOT * length / n
    while not budget.exhausted():
        heat = start_heat * cooling(budget.remaining())
        anneal(tour, pos, dist, near, heat, lengths, best, PROPOSALS_PER_UNIT * UNITS_PER_CHUNK, rng)
        budget.charge(UNITS_PER_CHUNK)
    state.sequence = best
    return state
