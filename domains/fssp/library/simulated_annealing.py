"""Simulated annealing over random moves of single jobs.

Method: a random job goes to a random place at most REACH away; the new makespan follows from the heads before
and the tails behind the places that change. Metropolis acceptance; the temperature falls geometrically from
START to END mean processing times over the whole share of the budget.

Source: I. H. Osman, C. N. Potts, Simulated annealing for permutation flow-shop scheduling, 1989.

Complexity: O(r m) per move over r places on m machines, O(n m) per accepted one.
"""

import numpy as np
from numba import njit
from parts.completion import (
    close_order,
    lower_bound,
    open_order,
    segment_value,
    update_paths,
    work_arrays,
)
from parts.sequences.entry_move import move_entry

START = 0.15  # tunable: float 0.01..2.0
END = 0.02  # tunable: float 0.001..0.5
REACH = 200  # tunable: int 1..500
CHUNK_OPERATIONS = 2_000_000  # moves of one kernel call times operations of the instance


@njit(cache=True)
def anneal(moves, reach, temperature, order, best, times, work, front, status, rng):
    """Make `moves` random moves at one temperature; status: the makespans of `order` and of `best`."""
    n = order.size
    for _ in range(moves):
        source = int(rng.random() * n)
        target = source + int((2.0 * rng.random() - 1.0) * (reach + 1))
        target = min(max(target, 0), n - 1)
        if source == target:
            continue
        move_entry(order, source, target)
        lo, hi = min(source, target), max(source, target)
        value = segment_value(order, lo, hi, times, work, front)
        loss = value - status[0]
        if loss > 0 and rng.random() >= np.exp(-loss / temperature):
            move_entry(order, target, source)
            continue
        status[0] = value
        update_paths(order, n, times, work)
        if value < status[1]:
            status[1] = value
            best[:] = order


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share of the budget is spent or a lower bound is met."""
    n, m, budget, rng = env_data["num_jobs"], env_data["num_machines"], env_data["budget"], env_data["rng"]
    times, given, order, value = open_order(env_data, state, calc_makespan_fn)
    best, status, target = order.copy(), np.array([value, value], np.int64), lower_bound(times)
    work = work_arrays(times)
    update_paths(order, n, times, work)
    front, chunk = np.zeros(m, np.int32), max(50, CHUNK_OPERATIONS // times.size)
    while n > 1 and status[1] > target and not budget.exhausted():
        scale = max(START * (END / START) ** (1.0 - budget.remaining()) * times.mean(), 1e-9)
        anneal(chunk, REACH, scale, order, best, times, work, front, status, rng)
        budget.charge(chunk)
    return close_order(env_data, state, best, status[1], given)
