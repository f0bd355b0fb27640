"""Tabu search over reinsertions that leave the blocks of a critical path.

Method: a critical path runs through the (place, machine) table; the places it passes on one machine form a
block, and moving a job within its block cannot shorten the schedule. In each iteration a sample of jobs is
rated at all places outside their blocks at once; the best move is made, better or worse. A moved job rests
for some iterations unless it promises a new best. After PATIENCE iterations without gain the search goes back
to the best order, changed by random moves.

Source: E. Nowicki, C. Smutnicki, A fast tabu search algorithm for the permutation flow-shop problem, 1996;
J. Grabowski, M. Wodecki, A very fast tabu search algorithm for the permutation flow shop problem with
makespan criterion, 2004; E. Taillard, 1990 (rating).

Complexity: O(n m) per rated job for n jobs on m machines; uses its whole share of the budget.
"""

import numpy as np
from numba import njit
from parts.completion import (
    close_order,
    lower_bound,
    open_order,
    rate_places,
    update_paths,
    work_arrays,
)
from parts.sequences.entry_move import move_entry

SAMPLE = 12  # tunable: int 1..200
PATIENCE = 1000  # tunable: int 20..20000
RESTART_MOVES = 5  # tunable: int 1..50
CHUNK_OPERATIONS = 2_000_000  # rated jobs of one kernel call times operations of the instance


# exchangeable: tabu-tenure
@njit(cache=True)
def tabu_tenure(n_jobs, n_machines, draw):
    """Iterations for which a moved job rests; `draw` is uniform on [0, 1)."""
    return 4 + int(draw * min(n_jobs // 4, 8))


@njit(cache=True)
def mark_blocks(order, times, e, q, first, last, rng):
    """first[i]..last[i]: the places of the longest block of a random critical path with place i in it."""
    n, m = order.size, times.shape[0]
    for i in range(n):
        first[i] = last[i] = i
    makespan = e[m - 1, n]
    i, k, start = 0, 0, 0
    while True:
        rest = makespan - e[k, i + 1]
        right = i + 1 < n and q[k, i + 1] == rest
        down = k + 1 < m and q[k + 1, i] == rest
        if right and (not down or rng.random() < 0.5):
            i += 1
            continue
        for x in range(start, i + 1):
            if i - start > last[x] - first[x]:
                first[x], last[x] = start, i
        if not down:
            break
        k, start = k + 1, i


@njit(cache=True)
def rate_job(place, order, rest, times, work, low, high):
    """Best place outside low..high for the job at `place`, and the makespan there; -1 if there is none."""
    n = order.size
    for i in range(n - 1):
        rest[i] = order[i] if i < place else order[i + 1]
    value = rate_places(order[place], rest, n - 1, times, work)
    chosen = -1
    for i in range(n):
        if (i < low or i > high) and (chosen < 0 or value[i] < value[chosen]):
            chosen = i
    return chosen, value[chosen] if chosen >= 0 else 2**30


@njit(cache=True)
def tabu_search(steps, sample, target, times, orders, work, heads, memory, status, rng):
    """Iterations until about `steps` jobs were rated, or the best makespan meets `target`.

    orders: present and best order. memory: block borders per place, iteration up to which a job rests, work
    array. status: iteration, the one of the last gain, best makespan, patience, restart moves. Returns the
    jobs rated.
    """
    order, best = orders
    first, last, until, rest = memory
    n, m = order.size, times.shape[0]
    made = 0
    while made < steps and status[2] > target:
        status[0] += 1
        update_paths(order, n, times, heads)
        mark_blocks(order, times, heads[0], heads[1], first, last, rng)
        source, chosen, least = 0, 0, 2**30
        for _ in range(min(sample, n)):
            place = int(rng.random() * n)
            target_place, value = rate_job(place, order, rest, times, work, first[place], last[place])
            made += 1
            if value < least and (until[order[place]] < status[0] or value < status[2]):
                source, chosen, least = place, target_place, value
        if least == 2**30:
            source, chosen = int(rng.random() * n), int(rng.random() * n)
        until[order[source]] = status[0] + tabu_tenure(n, m, rng.random())
        move_entry(order, source, chosen)
        if least < status[2]:
            status[2], status[1] = least, status[0]
            best[:] = order
        if status[0] - status[1] >= status[3]:
            order[:] = best
            status[1] = status[0]
            for _ in range(status[4]):
                move_entry(order, int(rng.random() * n), int(rng.random() * n))
    return made


def run(env_data, state, calc_makespan_fn):
    """Tabu search from `state` until the share of the budget is spent or a lower bound is met."""
    n, budget, rng = env_data["num_jobs"], env_data["budget"], env_data["rng"]
    times, given, order, value = open_order(env_data, state, calc_makespan_fn)
    orders, target = (order, order.copy()), lower_bound(times)
    memory = tuple(np.zeros(n, np.int32) for _ in range(4))
    status = np.array([0, 0, value, PATIENCE, RESTART_MOVES], np.int64)
    work, heads = work_arrays(times), work_arrays(times)
    chunk = max(50, CHUNK_OPERATIONS // times.size)
    while n > 1 and status[2] > target and not budget.exhausted():
        budget.charge(tabu_search(chunk, SAMPLE, target, times, orders, work, heads, memory, status, rng))
    return close_order(env_data, state, orders[1], status[2], given)
