"""Iterated local search: exchange a few near customers at random, descend, keep what does not hurt much.

A kick makes up to KICK random exchanges or relocations between routes that the loads allow; the granular
descent then looks again only at the routes that changed. The result is kept when it is no worse than the best
length plus a threshold that falls to zero with the share of the budget left; else the kick is undone.
Method: iterated local search with threshold acceptance over the nine granular moves.
Source: H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003); P. Toth, D. Vigo, "The
granular tabu search and its application to the vehicle-routing problem" (2003).
Complexity: O(n + NEAR m) per kick, m: customers on the routes touched. Work units: one per 100 pairs looked
at.
"""

import numpy as np
from numba import njit
from parts.granular_moves import descend_granular
from parts.rings import open_rings, read_rings, refresh_ring, shift_node, swap_nodes

NEAR = 15  # tunable: int 5..40
KICK = 3  # tunable: int 1..12
SLACK = 0.01  # tunable: float 0.0..0.05

CHUNK_STEPS = 50_000
PAIRS_PER_UNIT = 100


# exchangeable: cooling
@njit(cache=True)
def cooling(remaining, ratio):
    """Fraction of the starting value when the share `remaining` (1 to 0) is left; `ratio` at the end."""
    return ratio + (1.0 - ratio) * remaining


@njit(cache=True)
def kick(rings, dist, demands, capacity, near, cursor, strength, rng):
    """Up to `strength` random exchanges or relocations near one customer; returns the change of length."""
    after, before, ring_of, load, touched = rings[0], rings[1], rings[2], rings[5], rings[6]
    n = demands.size
    total = 0
    centre = 1 + int(rng.random() * (n - 1))
    for _ in range(4 * strength):
        u = near[centre, int(rng.random() * near.shape[1])]
        v = near[u, int(rng.random() * near.shape[1])]
        ring, its_ring = ring_of[u], ring_of[v]
        if ring == its_ring:
            continue
        left, right, its_left, its_right = before[u], after[u], before[v], after[v]
        a, b = left if left < n else 0, right if right < n else 0
        c, d = its_left if its_left < n else 0, its_right if its_right < n else 0
        difference = demands[u] - demands[v]
        if load[its_ring] + demands[u] <= capacity and rng.random() < 0.5:
            total += dist[a, b] - dist[a, u] - dist[u, b] + dist[v, u] + dist[u, d] - dist[v, d]
            shift_node(u, v, rings)
        elif load[ring] - difference <= capacity and load[its_ring] + difference <= capacity:
            total += dist[a, v] + dist[v, b] - dist[a, u] - dist[u, b]
            total += dist[c, u] + dist[u, d] - dist[c, v] - dist[v, d]
            swap_nodes(u, v, rings)
        else:
            continue
        refresh_ring(ring, rings, demands)
        refresh_ring(its_ring, rings, demands)
        cursor[2] += 1
        touched[ring] = touched[its_ring] = cursor[2]
        strength -= 1
        if strength == 0:
            break
    return total


@njit(cache=True)
def kicks(order, rings, dist, demands, capacity, near, tested, cursor, lengths, slack, best, rounds, rng):
    """`rounds` rounds of kick and descent; lengths = [current, best], best: the best's successors."""
    after, before, load, touched = rings[0], rings[1], rings[5], rings[6]
    n = demands.size
    kept, kept_tested, kept_touched = after.copy(), tested.copy(), touched.copy()
    for _ in range(rounds):
        strength = 1 + int(rng.random() * KICK)
        change = float(kick(rings, dist, demands, capacity, near, cursor, strength, rng))
        cursor[0], cursor[1] = int(rng.random() * (n - 1)), 0
        change += descend_granular(order, rings, dist, demands, capacity, 1e6, near, tested, cursor, 1 << 40)
        if lengths[0] + change <= lengths[1] + slack:
            lengths[0] += int(np.round(change))
            kept[:], kept_tested[:], kept_touched[:] = after, tested, touched
            if lengths[0] < lengths[1]:
                lengths[1] = lengths[0]
                best[:] = after
        else:
            after[:], tested[:], touched[:] = kept, kept_tested, kept_touched
            for node in range(after.size):
                before[after[node]] = node
            for ring in range(load.size):
                refresh_ring(ring, rings, demands)


def run(env_data, state, calc_makespan_fn):
    budget, n, rng = env_data["budget"], env_data["num_nodes"], env_data["rng"]
    if n < 4:
        return state
    capacity = env_data["capacity"]
    dist, demands, near, rings = open_rings(env_data, state, NEAR, 1)
    order = rng.permutation(np.arange(1, n)).astype(np.int64)
    tested, cursor = np.full(n, -1, np.int64), np.zeros(5, np.int64)
    while cursor[1] < n - 1 and not budget.exhausted():
        descend_granular(order, rings, dist, demands, capacity, 1e6, near, tested, cursor, CHUNK_STEPS)
        budget.charge(1)
    best = rings[0].copy()
    state.sequence = read_rings(best, n)
    lengths = np.full(2, int(calc_makespan_fn(state)), dtype=np.int64)
    scale = SLACK * lengths[1]
    while not budget.exhausted():
        seen = cursor[3]
        slack = scale * cooling(budget.remaining(), 0.0)
        kicks(
            order, rings, dist, demands, capacity, near, tested, cursor, lengths, slack, best,
            max(2, CHUNK_STEPS // 1000), rng,
        )  # fmt: skip
        budget.charge(1 + int(cursor[3] - seen) // PAIRS_PER_UNIT)
    state.sequence = read_rings(best, n)
    return state
