"""Steady-state genetic search: order-merging crossover followed by reinsertion of operations.

Method: a population of schedules, the given one and mixtures of it with random orders, all improved by
reinserting every operation once at its best place. A child merges the sequences of two parents, is improved
in the same way, and replaces the worst member unless it is worse or a copy.

Source: C. Prins, Competitive genetic algorithms for the open-shop scheduling problem, 2000; C. Bierwirth,
A generalized permutation approach to job shop scheduling with genetic algorithms, 1995 (merging of orders).

Complexity: O(N²) per child for N operations.
"""

import numpy as np
from numba import njit
from parts.reinsertion import reinsert_all
from parts.schedule import lay_out, prepare
from parts.shops.relinking import insert_new

POPULATION = 20  # tunable: int 2..200
DISTURBED = 0.3  # tunable: float 0.01..1.0
MUTATION = 0.03  # tunable: float 0.0..1.0


# exchangeable: path-point
@njit(cache=True)
def path_point(origin, guide, share, child, rng):
    """A sequence between two: repeatedly the first operation missing from `origin` or, with probability
    `share`, from `guide`. A pair that both serve in the same order keeps that order.
    """
    n_ops = child.size
    taken = np.zeros(n_ops, np.bool_)
    i = j = 0
    for place in range(n_ops):
        while i < n_ops and taken[origin[i]]:
            i += 1
        while taken[guide[j]]:
            j += 1
        x = guide[j] if rng.random() < share else origin[i]
        taken[x] = True
        child[place] = x


@njit(cache=True)
def disturb(share, sequence, rng):
    """Exchange random pairs of entries, `share` of the length in number."""
    for _ in range(int(share * sequence.size)):
        a, b = int(rng.random() * sequence.size), int(rng.random() * sequence.size)
        sequence[a], sequence[b] = sequence[b], sequence[a]


def improved(env_data, arrays, sequence, disturbed):
    """(makespan, sequence) after disturbing a copy and reinserting every operation; charges the work."""
    problem, (order, place), links, work = arrays
    sequence = sequence.copy()
    disturb(disturbed, sequence, env_data["rng"])
    makespan = int(lay_out(sequence, problem, (order, place), links))
    makespan = reinsert_all(makespan, problem, order, links, work, env_data)
    return makespan, order.copy()


def run(env_data, state, calc_makespan_fn):
    """Breed from `state` until the share of the budget is spent or the lower bound is met."""
    budget, rng, target = env_data["budget"], env_data["rng"], env_data["lower_bound"]
    problem, topology, links, (_path, _head, _moved, mark) = prepare(env_data)
    start = np.array(state.sequence, dtype=np.int32)
    gaps = np.zeros((3, problem[0] + problem[1] + 1), np.int32)
    arrays = (problem, topology, links, (mark, gaps, np.zeros((7, start.size + 1), np.int32)))
    pool = [improved(env_data, arrays, start, 0.0)]
    best = pool[0]
    child = np.empty(start.size, np.int32)
    while best[0] > target and not budget.exhausted():
        if len(pool) < POPULATION:
            path_point(start, rng.permutation(start.size).astype(np.int32), DISTURBED, child, rng)
            pool.append(improved(env_data, arrays, child, 0.0))
            best = min(best, pool[-1], key=lambda member: member[0])
            continue
        i, j = rng.choice(len(pool), 2, replace=False)
        path_point(pool[i][1], pool[j][1], 0.5, child, rng)
        entry = improved(env_data, arrays, child, MUTATION)
        best = min(best, entry, key=lambda member: member[0])
        insert_new(pool, entry, lambda a, b: (a == b).all())
    state.sequence = best[1]
    return state
