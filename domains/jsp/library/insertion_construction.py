"""Insertion construction: operations enter the machine orders one by one, longest first.

Method: the operations of the job with the most work come first, then all others by decreasing time. Each is
put where the longest path through it, rated by heads and tails of the partial schedule, is shortest among
the positions that close no cycle.

Source: E. Nowicki, C. Smutnicki, A fast taboo search algorithm for the job shop problem, 1996 (algorithm
INSA); F. Werner, A. Winkler, Insertion techniques for the heuristic solution of the job shop problem, 1995.

Complexity: O(N) per inserted operation, O(N²) in all for N operations.
"""

import numpy as np
from parts.insertion import insert_all
from parts.schedule import prepare, sort_topologically, update_heads, update_tails

NOISE = 0.1  # tunable: float 0.0..1.0
RESTARTS = 3  # tunable: int 1..50


def rank_operations(times, noise, rng):
    """Numbers of the operations in the order of their insertion: longest job, then longest operations."""
    keys = times * (1.0 + noise * rng.random(times.shape))
    longest = int(keys.sum(axis=1).argmax())
    keys[longest] += keys.sum()
    return np.argsort(-keys.ravel(), kind="stable").astype(np.int32)


def construct(env_data, noise):
    """A topological order of one schedule."""
    problem, topology, links, _work = prepare(env_data)
    _n, m, machine, p, jp, js = problem
    order, (mp, ms, c, t) = topology[0], links
    mp[:] = ms[:] = order.size
    first = np.full(m, order.size, np.int32)
    sort_topologically(jp, js, mp, ms, order)
    update_heads(order, 0, p, jp, mp, c)
    update_tails(order, order.size - 1, p, js, ms, t)
    ranking = rank_operations(np.asarray(env_data["times_matrix"]), noise, env_data["rng"])
    insert_all(ranking, machine, p, jp, js, mp, ms, first, c, t, order)
    return order


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of RESTARTS constructions, of which the first uses the exact times."""
    n_machines = np.int32(env_data["num_machines"])
    best = None
    for restart in range(RESTARTS):
        sequence = construct(env_data, NOISE if restart else 0.0) // n_machines
        previous, state.sequence = state.sequence, sequence
        makespan = calc_makespan_fn(state)
        if best is not None and makespan >= best:
            state.sequence = previous
        else:
            best = makespan
        if env_data["budget"].exhausted():
            break
    return state
