"""Memetic search with tabu search.

Method: a pool of POPULATION cuts. Two parents, mirrored so that they agree as far as possible, have a child
that takes over what they agree on; each other vertex follows one of the parents at random. The child is
improved by EFFORT n steps of one-flip tabu search and replaces the worst of the pool.
Source: Q. Wu, J. Hao, "A memetic approach for the max-cut problem" (2012).
Complexity: O(EFFORT n degree) per child. Work units: one per n arcs looked at.
"""

import numpy as np
from parts.gains import gains_of, largest_gain, open_cut, sides_of
from parts.pool import opening, replace_worst, search_tabu

POPULATION = 10  # tunable: int 3..40
EFFORT = 100  # tunable: int 10..1000
BASE_TENURE = 0.01  # tunable: float 0.001..0.1
TENURE_SPREAD = 0.02  # tunable: float 0.0..0.2


# exchangeable: inheritance
def child_of(first, second, rng):
    """Signs of a child of two parents that are mirrored to agree in half of the vertices or more."""
    return np.where(rng.random(first.size) < 0.5, first, second).astype(np.int32)


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    graph, x, gains, _cut = open_cut(env_data, state)
    span = largest_gain(graph[0], graph[2])
    pool, values = opening(x, POPULATION, *graph, span, budget, rng)
    while not budget.exhausted():
        a, b = (int(k) for k in rng.choice(len(pool), 2, replace=False))
        mirrored = pool[b] if int(pool[a] @ pool[b]) >= 0 else -pool[b]
        child = child_of(pool[a], mirrored, rng)
        cut = gains_of(child, *graph, gains)
        found = search_tabu(child, gains, cut, *graph, span, EFFORT * n, budget, rng)
        replace_worst(pool, values, *found)
    state.sequence = sides_of(pool[int(np.argmax(values))])
    return state
