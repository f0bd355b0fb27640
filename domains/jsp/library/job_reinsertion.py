"""Large neighbourhood search: whole jobs leave their machine orders and are inserted again.

Method: all operations of a few random jobs lose their places on their machines; the technological order
stays. They come back one by one, long ones first, each where the longest path through it is shortest. The
new schedule is kept when it is not longer than the old one, or than the best one by more than a fraction
that shrinks to nothing over the share of the budget.

Source: F. Werner, A. Winkler, Insertion techniques for the heuristic solution of the job shop problem, 1995;
R. Ruiz, T. Stützle, A simple and effective iterated greedy algorithm, 2007 (destruction and construction).

Complexity: O(N) per inserted operation for N operations.
"""

import numpy as np
from numba import njit
from parts.insertion import insert_all
from parts.schedule import lay_out, longest_path, prepare, update_heads, update_tails

JOBS = 1  # tunable: int 1..10
TOLERANCE = 0.01  # tunable: float 0.0..0.1
NOISE = 0.5  # tunable: float 0.0..2.0
CHUNK_WORK = 400_000  # operations visited by one kernel call, about


# exchangeable: destruction
@njit(cache=True)
def take_out(n_out, n_jobs, n_machines, chosen, rng):
    """Write the operations of `n_out` random jobs, drawn with replacement, into `chosen`; their number."""
    taken = np.zeros(n_jobs, np.bool_)
    count = 0
    for _ in range(n_out):
        job = int(rng.random() * n_jobs)
        if not taken[job]:
            taken[job] = True
            for k in range(n_machines):
                chosen[count] = job * n_machines + k
                count += 1
    return count


@njit(cache=True)
def search(rounds, limit, n_out, noise, problem, topology, links, saved, best, status, rng):
    """Take out and insert again `rounds` times; `status` holds the best and the present makespan.

    Returns the number of operations inserted.
    """
    n_jobs, n_machines, machine, p, jp, js = problem
    order, _place = topology
    mp, ms, c, t = links
    n_ops = order.size
    chosen, first = np.empty(n_ops, np.int32), np.empty(n_machines, np.int32)
    is_out = np.zeros(n_ops, np.bool_)
    inserted = 0
    for _ in range(rounds):
        saved[0, :n_ops], saved[1], saved[2], saved[3], saved[4] = order, mp, ms, c, t
        count = take_out(n_out, n_jobs, n_machines, chosen, rng)
        keys = np.empty(count, np.float64)
        is_out[:] = False
        for i in range(count):
            x = chosen[i]
            keys[i] = -p[x] * (1.0 + noise * rng.random())
            is_out[x] = True
            ms[mp[x]], mp[ms[x]] = ms[x], mp[x]
            mp[x] = ms[x] = mp[n_ops] = ms[n_ops] = n_ops
        first[:] = n_ops
        for x in range(n_ops):
            if mp[x] == n_ops and not is_out[x]:
                first[machine[x]] = x
        update_heads(order, 0, p, jp, mp, c)
        update_tails(order, n_ops - 1, p, js, ms, t)
        ranking = chosen[:count][np.argsort(keys)]
        insert_all(ranking, machine, p, jp, js, mp, ms, first, c, t, order)
        inserted += count
        makespan = longest_path(n_jobs, n_machines, t)
        if makespan <= status[1] or makespan <= status[0] * limit:
            status[1] = makespan
        else:
            order[:], mp[:], ms[:], c[:], t[:] = saved[0, :n_ops], saved[1], saved[2], saved[3], saved[4]
        if makespan < status[0]:
            status[0] = makespan
            best[:] = order
    return inserted


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, _work = prepare(env_data)
    makespan = lay_out(np.array(state.sequence, dtype=np.int32), problem, topology, links)
    size = topology[0].size
    best, saved = topology[0].copy(), np.zeros((5, size + 1), np.int32)
    status = np.array([makespan, makespan], np.int64)
    rounds = max(1, CHUNK_WORK // (size * JOBS * problem[1]))
    while not budget.exhausted():
        limit = 1.0 + TOLERANCE * budget.remaining()
        inserted = search(rounds, limit, JOBS, NOISE, problem, topology, links, saved, best, status, rng)
        budget.charge(inserted)
    state.sequence = best // np.int32(problem[1])
    return state
