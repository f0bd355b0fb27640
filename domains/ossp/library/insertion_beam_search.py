"""Insertion beam search: operations enter several partial schedules, the best of which are kept.

Method: the operations enter in the order of their times, long ones first (with noise). Each partial schedule
of the beam offers all places of the next operation; a place is rated by the makespan it leads to and by the
longest path through the operation, which heads and tails tell for all places at once. The WIDTH best rated
survive.

Source: H. Bräsel, T. Tautenhahn, F. Werner, Constructive heuristic algorithms for the open shop problem,
1993.

Complexity: O(W (N + (n + m) log)) per operation for a beam of W schedules and N operations.
"""

import numpy as np
from numba import njit
from parts.reinsertion import list_gaps, place_in_gap

WIDTH = 8  # tunable: int 1..100
RESTARTS = 3  # tunable: int 1..1000
NOISE = 0.3  # tunable: float 0.0..3.0
CHUNK_OPERATIONS = 200_000  # insertions of one kernel call times schedules times operations of the instance


@njit(cache=True)
def evaluate(order, n_jobs, n_machines, job, p, c, t):
    """Set the heads and tails of a partial schedule; returns its makespan."""
    job_free, machine_free = np.zeros(n_jobs, np.int32), np.zeros(n_machines, np.int32)
    for x in order:
        j = job[x]
        k = x - j * n_machines
        job_free[j] = machine_free[k] = c[x] = max(job_free[j], machine_free[k]) + p[x]
    job_free[:] = 0
    machine_free[:] = 0
    makespan = np.int32(0)
    for i in range(order.size - 1, -1, -1):
        x = order[i]
        j = job[x]
        k = x - j * n_machines
        job_free[j] = machine_free[k] = t[x] = max(job_free[j], machine_free[k]) + p[x]
        makespan = max(makespan, t[x])
    return makespan


# exchangeable: beam-rating
@njit(cache=True)
def rating(makespan, path, draw):
    """Key of a place, small is good: the new makespan, then the longest path through the operation."""
    return 1000.0 * max(makespan, path) + path + 0.5 * draw


@njit(cache=True)
def extend(ranking, width, problem, present, following, spans, gaps, rng):
    """Insert the operations of `ranking`, all absent so far, into the schedules of a beam.

    `present` and `following` are (orders, heads, tails), a row per schedule; `spans` holds the makespans of
    the present ones, negative where there is none. The result is in `present`, the best rated first.
    """
    n_jobs, n_machines, job, p = problem
    orders, heads, tails = present
    new_orders, new_heads, new_tails = following
    inserted = orders.shape[1] - np.sum(orders[0] < 0)
    keys = np.empty(width * gaps.shape[1], np.float64)
    origins = np.empty((keys.size, 2), np.int32)
    for x in ranking:
        count = 0
        for row in range(width):
            if spans[row] >= 0:
                order = orders[row, :inserted]
                n_gaps = list_gaps(x, order, n_machines, job, p, heads[row], tails[row], gaps)
                for g in range(n_gaps):
                    keys[count] = rating(spans[row], gaps[2, g], rng.random())
                    origins[count, 0] = row
                    origins[count, 1] = place_in_gap(g, order, p, heads[row], gaps)
                    count += 1
        survivors = np.argsort(keys[:count])[:width]
        inserted += 1
        for row in range(survivors.size):
            origin, place = origins[survivors[row], 0], origins[survivors[row], 1]
            order = new_orders[row, :inserted]
            order[:place] = orders[origin, :place]
            order[place] = x
            order[place + 1 :] = orders[origin, place : inserted - 1]
            evaluate(order, n_jobs, n_machines, job, p, new_heads[row], new_tails[row])
        for row in range(survivors.size):
            orders[row, :inserted] = new_orders[row, :inserted]
            heads[row], tails[row] = new_heads[row], new_tails[row]
            spans[row] = 0
            for y in orders[row, :inserted]:
                spans[row] = max(spans[row], tails[row, y])
    return spans[0]


def construct(env_data, problem, ranking):
    """(makespan, sequence) of one beam search; the beam narrows to one schedule once the share is spent."""
    budget, size = env_data["budget"], ranking.size
    shape = (WIDTH, size)
    present = (np.full(shape, -1, np.int32), np.zeros(shape, np.int32), np.zeros(shape, np.int32))
    following = (np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape, np.int32))
    spans = np.full(WIDTH, -1, np.int64)
    spans[0] = 0
    gaps = np.zeros((3, problem[0] + problem[1] + 1), np.int32)
    step = max(1, CHUNK_OPERATIONS // (WIDTH * size))
    makespan, width = 0, WIDTH
    for start in range(0, size, step):
        width = 1 if width == 1 or budget.exhausted() else WIDTH
        some = ranking[start : start + step]
        makespan = extend(some, width, problem, present, following, spans, gaps, env_data["rng"])
        budget.charge(width * some.size)
    return int(makespan), present[0][0].copy()


def run(env_data, state, calc_makespan_fn):
    """Give `state` the best of at most RESTARTS schedules; the first one has no noise in the ranking."""
    budget, rng, m = env_data["budget"], env_data["rng"], env_data["num_machines"]
    p = np.array(env_data["ossp_times"], dtype=np.int32).ravel()
    job = (np.arange(p.size) // m).astype(np.int32)
    problem = (env_data["num_jobs"], m, job, p)
    best = None
    for restart in range(RESTARTS):
        noise = NOISE if restart else 0.0
        ranking = np.argsort(-p * (1.0 + noise * rng.random(p.size)), kind="stable").astype(np.int32)
        found = construct(env_data, problem, ranking)
        best = found if best is None or found[0] < best[0] else best
        if budget.exhausted() or best[0] <= env_data["lower_bound"]:
            break
    state.sequence = best[1]
    return state
