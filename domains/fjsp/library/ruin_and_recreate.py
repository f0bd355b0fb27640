"""Large neighbourhood search: operations leave the schedule and are inserted again at their best places.

Method: the operations of a random job, or those that run within a random span of time, lose machine and
place. They come back in random order, each on the machine and at the place where the longest path through it
is shortest. The new schedule is kept when it is not longer than the old one, or than the best one by more
than a fraction that shrinks to nothing over the share of the budget.

Source: G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck, Record breaking optimization results using
the ruin and recreate principle, 2000; M. Mastrolilli, L. M. Gambardella, 2000 (optimal insertion).

Complexity: O(N) per inserted operation for N operations.
"""

import numpy as np
from numba import njit
from parts.best_insertion import insert_best
from parts.plans import plan_of, prepare, put_plan
from parts.schedule import keep, lay_out, settle, unlink

LARGEST_SHARE = 0.1  # tunable: float 0.01..0.5
TOLERANCE = 0.01  # tunable: float 0.0..0.1
JOB_ODDS = 0.3  # tunable: float 0.0..1.0
CHUNK_OPERATIONS = 800_000  # operations visited by one kernel call, about


# exchangeable: destruction
@njit(cache=True)
def take_out(limit, is_job, draw, job, ends, times, chosen):
    """Write into `chosen` at most `limit` operations: of one job or all that run in one span of time.

    `ends` and `times` are completion and processing times by operation; `draw` holds two numbers uniform on
    [0, 1). Returns how many there are.
    """
    n_ops = job.size - 1
    limit = min(limit, n_ops)
    centre = int(draw[0] * n_ops)
    count = 0
    if is_job:
        for x in range(n_ops):
            if job[x] == job[centre] and count < limit:
                chosen[count] = x
                count += 1
        return count
    middle = int(ends[centre]) - int(times[centre]) // 2
    reach = int(times[centre]) // 2 + 1
    offset = int(draw[1] * n_ops)
    while count < limit and reach < 2**31:
        count = 0
        for i in range(n_ops):
            x = (i + offset) % n_ops
            if count < limit and ends[x] - times[x] <= middle + reach and ends[x] >= middle - reach:
                chosen[count] = x
                count += 1
        reach *= 2
    return count


@njit(cache=True)
def recreate(
    allowance, largest, limit, job_odds, shop, options, links, first, work, status, present, best, rng
):  # fmt: skip
    """Take out and insert again until about `allowance` operations have been inserted.

    `status` holds the best and the present makespan and the operations inserted; a schedule below `limit`
    times the best makespan is accepted. A cycle, which only zero times can bring about, undoes the round.
    """
    n_ops = links.shape[1] - 1
    chosen, draw = np.empty(n_ops, np.int32), np.empty(2)
    end = status[2] + allowance
    while status[2] < end:
        draw[0], draw[1] = rng.random(), rng.random()
        count = take_out(
            1 + int(rng.random() * largest), rng.random() < job_odds, draw, shop[0], links[4], links[3],
            chosen,
        )  # fmt: skip
        for i in range(count):
            v = chosen[i]
            unlink(v, links, first)
            links[0, v] = links[1, v] = n_ops
            links[3, v] = 0
        makespan = settle(0, n_ops - 1, shop, links)
        for i in range(count):
            j = i + int(rng.random() * (count - i))
            chosen[i], chosen[j] = chosen[j], chosen[i]
            if makespan >= 0:
                makespan = insert_best(chosen[i], shop, options, links, first, work, rng)
        status[2] += count + 1
        if makespan >= 0 and (makespan <= status[1] or makespan <= status[0] * limit):
            status[1] = makespan
            keep(present, shop, links)
        else:
            lay_out(present, shop, options, links, first)
        if status[1] < status[0]:
            status[0] = status[1]
            best[:] = present


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    arrays = prepare(env_data)
    best = plan_of(env_data, state)
    present = best.copy()
    size = env_data["total_ops"]
    largest, chunk, allowance = max(2, int(LARGEST_SHARE * size)), max(20, CHUNK_OPERATIONS // size), 100
    status = np.array([lay_out(best, *arrays[:4])] * 2 + [0], np.int64)
    while not budget.exhausted():
        before = int(status[2])
        limit = 1.0 + TOLERANCE * budget.remaining()
        recreate(
            min(allowance, chunk), largest, limit, JOB_ODDS, *arrays, status, present, best, rng
        )  # fmt: skip
        budget.charge(int(status[2]) - before)
        allowance *= 2
    put_plan(env_data, state, best)
    return state
