"""Path relinking with tabu search.

Method: a pool of POPULATION cuts. From one of them a path leads to another (mirrored if that is nearer): each
step flips the best vertex in which they still differ. The heaviest cut of the middle part of the path is
improved by EFFORT n steps of one-flip tabu search and replaces the worst of the pool.
Source: Q. Wu, Y. Wang, Z. Lu, J. Hao and others, "A tabu search based hybrid evolutionary algorithm for the
max-cut problem" (2015); Y. Wang, Z. Lu, F. Glover, J. Hao, "Path relinking for unconstrained binary quadratic
programming" (2012).
Complexity: O(d^2 + d degree) per path of d flips. Work units: one per n arcs looked at and one
per path.
"""

import numpy as np
from numba import njit
from parts.gains import flip, gains_of, largest_gain, open_cut, sides_of
from parts.pool import opening, replace_worst, search_tabu

POPULATION = 10  # tunable: int 3..40
EFFORT = 100  # tunable: int 10..1000
MARGIN = 0.3  # tunable: float 0.05..0.45
BASE_TENURE = 0.01  # tunable: float 0.001..0.1
TENURE_SPREAD = 0.02  # tunable: float 0.0..0.2


@njit(cache=True)
def relink(x, goal, gains, cut, offsets, neighbors, weights, margin, longest, rng):
    """Walk from `x` towards `goal`; `x` becomes the heaviest cut of the middle part. Returns its cut.

    The path ends after `longest` flips at the latest.
    """
    n = x.size
    open_ones = np.empty(n, np.int32)
    left = 0
    for v in range(n):
        if x[v] != goal[v]:
            open_ones[left] = v
            left += 1
    distance = left
    least = max(1, int(margin * distance))
    last = min(distance - least, longest)
    path = np.empty(max(last, 0), np.int32)
    heaviest, length = cut, 0
    for step in range(last):
        place, most, ties = 0, gains[open_ones[0]], 1
        for i in range(1, left):
            gain = gains[open_ones[i]]
            if gain > most:
                place, most, ties = i, gain, 1
            elif gain == most:
                ties += 1
                if rng.random() * ties < 1.0:
                    place = i
        v = open_ones[place]
        left -= 1
        open_ones[place] = open_ones[left]
        cut += gains[v]
        flip(v, x, gains, offsets, neighbors, weights)
        path[step] = v
        if step + 1 >= least and (length == 0 or cut > heaviest):
            heaviest, length = cut, step + 1
    for step in range(last - 1, length - 1, -1):
        flip(path[step], x, gains, offsets, neighbors, weights)
    return heaviest


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    graph, x, gains, _cut = open_cut(env_data, state)
    span = largest_gain(graph[0], graph[2])
    pool, values = opening(x, POPULATION, *graph, span, budget, rng)
    longest = max(1, min(n, 8_000_000 // n))
    while not budget.exhausted():
        a, b = (int(k) for k in rng.choice(len(pool), 2, replace=False))
        goal = pool[b] if int(pool[a] @ pool[b]) >= 0 else -pool[b]
        child = pool[a].copy()
        cut = gains_of(child, *graph, gains)
        cut = relink(child, goal, gains, cut, *graph, MARGIN, longest, rng)
        budget.charge(1)
        found = search_tabu(child, gains, cut, *graph, span, EFFORT * n, budget, rng)
        replace_worst(pool, values, *found)
    state.sequence = sides_of(pool[int(np.argmax(values))])
    return state
