"""Granular tabu search: the best move of a random part of the customers, tabu or not, penalised excess load.

Each step looks at the nine granular moves of SAMPLE random customers and makes the best one, even a worsening
one. The customers at its head may not be moved again for TENURE to 2 TENURE steps unless that gives a new
best cost. Routes may be overloaded at a penalty that rises while they are and falls while they are not.
Method: tabu search with granular neighbourhoods and strategic oscillation.
Source: P. Toth, D. Vigo, "The granular tabu search and its application to the vehicle-routing problem"
(2003); M. Gendreau, A. Hertz, G. Laporte, "A tabu search heuristic for the vehicle routing problem" (1994).
Complexity: O(SAMPLE NEAR + n) per step. Work units: one per 10 customers looked at.
"""

import numpy as np
from numba import njit
from parts.granular_moves import best_move, make_move
from parts.rings import open_rings, read_rings, refresh_ring

NEAR = 10  # tunable: int 4..30
SAMPLE = 40  # tunable: int 5..200
TENURE = 12  # tunable: int 3..60
STEERING = 1.05  # tunable: float 1.01..1.5
PATIENCE = 20000  # tunable: int 1000..200000

CHUNK_STEPS = 300_000


# exchangeable: tenure
@njit(cache=True)
def tenure(base, size, rng):
    """Steps for which a customer that was just moved stays tabu: about `base`, less for few customers."""
    return min(base, size // 3) * (1.0 + rng.random())


@njit(cache=True)
def tabu_steps(rings, dist, demands, capacity, near, free_from, numbers, best, steps, rng):
    """Make `steps` steps; numbers = [length, excess, best length, step, penalty, best
    cost, last improvement].

    best: successors in the best feasible solution.
    """
    after, before, ring_of, load = rings[0], rings[1], rings[2], rings[5]
    n = demands.size
    for _ in range(steps):
        numbers[3] += 1.0
        now, penalty = numbers[3], numbers[4]
        cost = numbers[0] + penalty * numbers[1]
        top, top_kind, top_u, top_v = np.inf, 0, 0, 0
        for _ in range(min(SAMPLE, n - 1)):
            u = 1 + int(rng.random() * (n - 1))
            is_tabu = free_from[u] > now
            for i in range(near.shape[1] + 1):
                v = near[u, i] if i < near.shape[1] else n + int(rng.random() * load.size)
                for step in range(2):
                    if step == 1:
                        if v >= n or before[v] < n:
                            break
                        v = before[v]
                    kind, change = best_move(u, v, rings, dist, demands, capacity, penalty, top)
                    if kind > 0 and change < top:
                        is_held = is_tabu or (v < n and 4 <= kind <= 6 and free_from[v] > now)
                        if not is_held or cost + change < numbers[5] - 1e-6:
                            top, top_kind, top_u, top_v = change, kind, u, v
        if top_kind == 0:
            continue
        ring, its_ring = ring_of[top_u], ring_of[top_v]
        excess = max(load[ring] - capacity, 0)
        excess += max(load[its_ring] - capacity, 0) if its_ring != ring else 0
        make_move(top_kind, top_u, top_v, rings, demands)
        left = max(load[ring] - capacity, 0)
        left += max(load[its_ring] - capacity, 0) if its_ring != ring else 0
        numbers[0] += np.round(top - penalty * (left - excess))
        numbers[1] += left - excess
        free_from[top_u] = now + tenure(TENURE, n - 1, rng)
        if 4 <= top_kind <= 6:
            free_from[top_v] = now + tenure(TENURE, n - 1, rng)
        numbers[5] = min(numbers[5], numbers[0] + penalty * numbers[1])
        if numbers[1] > 0:
            numbers[4] = min(penalty * STEERING, 1e6)
        else:
            numbers[4] = max(penalty / STEERING, 1e-3)
            if numbers[0] < numbers[2]:
                numbers[2], numbers[6] = numbers[0], now
                best[:] = after
        if now - numbers[6] > PATIENCE:
            numbers[6] = now
            after[:] = best
            for node in range(after.size):
                before[after[node]] = node
            for r in range(load.size):
                refresh_ring(r, rings, demands)
            numbers[0], numbers[1], numbers[5] = numbers[2], 0.0, numbers[2]


def run(env_data, state, calc_makespan_fn):
    budget, n, rng = env_data["budget"], env_data["num_nodes"], env_data["rng"]
    if n < 4:
        return state
    dist, demands, near, rings = open_rings(env_data, state, NEAR, 1)
    best, free_from = rings[0].copy(), np.zeros(n)
    length = float(calc_makespan_fn(state))
    penalty = float(dist.max()) / max(float(demands.mean()), 1.0)
    numbers = np.array([length, 0.0, length, 0.0, penalty, length, 0.0])
    n_steps = max(2, CHUNK_STEPS // 1000)
    while not budget.exhausted():
        tabu_steps(
            rings, dist, demands, env_data["capacity"], near, free_from, numbers, best, n_steps, rng,
        )  # fmt: skip
        budget.charge(max(n_steps * min(SAMPLE, n - 1) // 10, 1))
    state.sequence = read_rings(best, n)
    return state
