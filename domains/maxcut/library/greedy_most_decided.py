"""Greedy construction, the most decided vertex first.

Method: of the vertices not yet placed, the one for which the two sides differ most in the weight that is cut
to those already placed is placed on its better side; the first vertex is random.
Source: S. Kahruman, E. Kolotoglu, S. Butenko, I. Hicks, "On greedy construction heuristics for the MAX-CUT
problem" (2007), heuristic SG3.
Complexity: O(n^2 + m). Work units: one per PLACED_PER_UNIT vertices.
"""

import numpy as np
from numba import njit

PLACED_PER_UNIT = 200  # tunable: int 50..1000


@njit(cache=True)
def place_most_decided(pull, x, offsets, neighbors, weights, count, rng):
    """Place up to `count` vertices; pull[v] is the weight gained by side +1 over side -1."""
    for _ in range(count):
        chosen, strongest, ties = -1, -1, 0
        for v in range(x.size):
            if x[v] != 0:
                continue
            strength = abs(pull[v])
            if strength > strongest:
                chosen, strongest, ties = v, strength, 1
            elif strength == strongest:
                ties += 1
                if rng.random() * ties < 1.0:
                    chosen = v
        if chosen < 0:
            return
        x[chosen] = 1 if pull[chosen] > 0 or (pull[chosen] == 0 and rng.random() < 0.5) else -1
        for p in range(offsets[chosen], offsets[chosen + 1]):
            pull[neighbors[p]] -= weights[p] * x[chosen]


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, pull = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    part = max(1, min(PLACED_PER_UNIT, 2_000_000 // n))
    placed = 0
    while placed < n and not budget.exhausted():
        place_most_decided(pull, x, offsets, neighbors, weights, part, rng)
        budget.charge(1)
        placed += part
    x[x == 0] = 1
    state.sequence = ((x + 1) // 2).astype(np.int32)
    return state
