"""Steady-state genetic search with similar-block-order crossover and descents.

Method: parents are drawn by binary tournaments. A child keeps the runs of at least two jobs that its parents
have at the same places, takes the rest up to a random cut from one parent and fills up in the order of the
other; some children are mutated by moves of single jobs; all are improved by reinsertions. A child that is
shorter than the worst member and no copy replaces it. After PATIENCE children without entry the population
is drawn anew around the best member.

Source: R. Ruiz, C. Maroto, J. Alcaraz, Two new robust genetic algorithms for the flowshop scheduling problem,
2006.

Complexity: O(n²) per child and O(n m) per reinsertion for n jobs on m machines; uses its whole share.
"""

import numpy as np
from numba import njit
from parts.disturbance import kick
from parts.insertion import improve
from parts.pool import improve_pool
from parts.random_ties import choose_place as choose_place

POOL = 20  # tunable: int 4..100
MUTATION = 0.3  # tunable: float 0.0..1.0
KICKS = 10  # tunable: int 1..50
PATIENCE = 200  # tunable: int 10..5000


# exchangeable: crossover
@njit(cache=True)
def cross(first, second, child, rng):
    """Similar-block-order crossover of two orders into `child` (Ruiz, Maroto and Alcaraz, SBOX)."""
    n = first.size
    taken = np.zeros(n, np.bool_)
    cut = int(rng.random() * (n + 1))
    for i in range(n):
        same = first[i] == second[i]
        before = i > 0 and first[i - 1] == second[i - 1]
        behind = i + 1 < n and first[i + 1] == second[i + 1]
        if i < cut or (same and (before or behind)):
            child[i] = first[i]
            taken[first[i]] = True
        else:
            child[i] = -1
    read = 0
    for i in range(n):
        if child[i] < 0:
            while taken[second[read]]:
                read += 1
            child[i] = second[read]
            taken[second[read]] = True


def tournament(pool, rng):
    """The shorter one of two random members."""
    return pool[int(rng.integers(len(pool), size=2).min())][1]


def offspring(pool, rng):
    """A child of two members or, the rather the smaller the population, a kicked copy of the best one."""
    if len(pool) < 2 or rng.random() * POOL > 2 * len(pool):
        child = pool[0][1].copy()
        kick(child, KICKS, KICKS, rng)
        return child
    child = np.empty_like(pool[0][1])
    cross(tournament(pool, rng), tournament(pool, rng), child, rng)
    if rng.random() < MUTATION:
        kick(child, 0, 2, rng)
    return child


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]

    def proposal(pool, failures, times, work):
        child = offspring(pool, rng)
        return improve(child, times, work, budget, rng), child

    return improve_pool(env_data, state, calc_makespan_fn, POOL, PATIENCE, proposal)
