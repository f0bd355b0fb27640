"""Annealing in rounds, each crossed with the best cut region by region.

Method: the share of the budget is divided into ROUNDS. The first anneals the given cut from HOT, the others
reheat the best cut to a random temperature between REHEAT and HOT (times the root of the mean sum of squared
weights at a vertex). After a round the vertices on which its cut and the best one disagree fall into
connected regions; moving one of them changes the cut independently of the others, so the best cut takes over
every region that does not harm it.
Source: T. Myklebust, "Solving maximum cut problems by simulated annealing" (2015); R. Tinos, D. Whitley, F.
Chicano, "Partition crossover for pseudo-Boolean optimization" (2015).
Complexity: O(n) per sweep and O(degree) per flip; O(n + m) per crossover. Work units: one per sweep.
"""

import numpy as np
from numba import njit
from parts.annealing import anneal, cooling, heat_unit, odds_table
from parts.gains import descend, gains_of

ROUNDS = 12  # tunable: int 2..100
HOT = 0.35  # tunable: float 0.1..1.5
REHEAT = 0.2  # tunable: float 0.05..0.6
COLD = 0.05  # tunable: float 0.01..0.2

CHUNK_ARCS = 400_000


# exchangeable: region-choice
@njit(cache=True)
def takes_region(change, size, rng):
    """Whether a region of `size` vertices that changes the cut by `change` is taken over."""
    return change >= 0


@njit(cache=True)
def cross(x, other, offsets, neighbors, weights, stack, label, rng):
    """Let `x` take over regions of the difference with `other`; returns the change of the cut."""
    n = x.size
    same = 0
    for v in range(n):
        same += x[v] * other[v]
    sign = 1 if same >= 0 else -1
    for v in range(n):
        label[v] = 1 if x[v] != sign * other[v] else 0
    total = 0
    for root in range(n):
        if label[root] != 1:
            continue
        stack[0] = root
        label[root] = 2
        top, i, change = 1, 0, 0
        while i < top:
            v = stack[i]
            i += 1
            for p in range(offsets[v], offsets[v + 1]):
                u = neighbors[p]
                if label[u] == 1:
                    label[u] = 2
                    stack[top] = u
                    top += 1
                elif label[u] == 0:
                    change += weights[p] * x[v] * x[u]
        is_taken = takes_region(change, top, rng)
        if is_taken:
            total += change
        for i in range(top):
            label[stack[i]] = 4 if is_taken else 3  # regions do not touch: never met again
    for v in range(n):
        if label[v] == 4:
            x[v] = -x[v]
    return total


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors, weights = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(n, dtype=np.int32)
    best = x.copy()
    best_cut = gains_of(x, offsets, neighbors, weights, gains)
    table, unit = odds_table(1024), heat_unit(weights, n)
    random_state = rng.integers(1, 2**63, 1).astype(np.uint64)
    stack, label = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    sweeps = max(1, min(CHUNK_ARCS // (n + neighbors.size // 4), 20))
    hot, crossed = HOT, 0
    while True:
        is_over = budget.exhausted()
        progress = ROUNDS * (1.0 - budget.remaining())
        if is_over or int(progress) > crossed:
            descend(x, gains, offsets, neighbors, weights)
            best_cut += cross(best, x, offsets, neighbors, weights, stack, label, rng)
            if is_over:
                break
            x[:] = best
            gains_of(x, offsets, neighbors, weights, gains)
            crossed = int(progress)
            hot = REHEAT + (HOT - REHEAT) * rng.random()
        heat = unit * cooling(hot, COLD, progress - crossed)
        anneal(x, gains, offsets, neighbors, weights, table, heat, sweeps, random_state)
        budget.charge(sweeps)
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
