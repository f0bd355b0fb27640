"""Descents by kernel calls that take some milliseconds."""

import numpy as np

CHUNK_OPERATIONS = 200_000  # moves of one kernel call times operations of the instance


def descended(descend, schedule, makespan, plateau, env_data):
    """The best topological order that ``descend`` meets from a schedule of that makespan, until it ends at a
    local optimum or the share of the budget is spent.
    """
    budget, rng = env_data["budget"], env_data["rng"]
    size = schedule[1][0].size
    status = np.array([0, makespan + 1, 0, makespan], np.int64)
    best = np.empty(size, np.int32)
    steps = max(20, CHUNK_OPERATIONS // size)
    over = False
    while not over:
        before = status[0]
        over = descend(steps, plateau, *schedule, status, best, rng)
        budget.charge(int(status[0] - before) + 1)
        over = over or budget.exhausted()
    return best
