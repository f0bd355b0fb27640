"""Resampling of time windows: stretches of the list are drawn anew, the rest of the list stays.

Method: a window of the list is drawn; what comes before it keeps its schedule, and the activities of the
window are listed many times in a random order biased towards long tails. Each new list is scheduled from
the window on and given up as soon as it gets longer than the present schedule; the last one that does not
becomes the present one. After many windows without gain the schedule is justified.

Source: M. Palpant, C. Artigues, P. Michelon, LSSPER: solving the resource-constrained project scheduling
problem with large neighbourhood search, 2004; A. Sprecher, Network decomposition techniques for
resource-constrained project scheduling, 2002.

Complexity: O(W² predecessors + N periods searched) per list for windows of W and N activities.
"""

import numpy as np
from numba import njit
from parts.partial_schedules import try_tail
from parts.project import open_search
from parts.serial_schedules import extend, justify, serial

WINDOW = 10  # tunable: int 2..100
SAMPLES = 15  # tunable: int 1..1000
BIAS = 0.5  # tunable: float 0.0..10.0
PATIENCE = 50  # tunable: int 1..10000
CHUNK_ACTIVITIES = 30_000  # lists of one kernel call times activities of the instance


# exchangeable: regret-weight
@njit(cache=True)
def regret_weight(regret, bias):
    """Weight of a choice whose key is `regret` better than the worst one at hand."""
    return (1.0 + regret) ** bias


@njit(cache=True)
def relist(order, low, high, tails, bias, first, others, marks, weights, rng):
    """Draw a new order for places `low`..`high` - 1, predecessors first; `marks` is all false before and
    after.
    """
    for i in range(low, high):
        marks[order[i]] = True
    for i in range(low, high):
        least = 2**40
        for j in range(i, high):
            weights[j] = 1.0
            for k in range(first[order[j]], first[order[j] + 1]):
                if marks[others[k]]:
                    weights[j] = 0.0
            if weights[j] > 0.0:
                least = min(least, tails[order[j]])
        chosen, total = i, 0.0
        for j in range(i, high):
            if weights[j] > 0.0:
                weight = regret_weight(float(tails[order[j]] - least), bias)
                total += weight
                if rng.random() * total < weight:
                    chosen = j
        x = order[chosen]
        order[chosen] = order[i]
        order[i] = x
        marks[x] = False


@njit(cache=True)
def search(
    rounds, setting, target, project, before, after, tails, free, work, lists, finish, scratch, status, rng
):
    """Resample at most `rounds` windows; `status` holds the makespan and the windows since the last gain.
    Returns the number of windows made.
    """
    window, samples, bias, patience = setting
    current, order = lists
    marks, weights = scratch
    n = current.size
    for made in range(rounds):
        if status[0] <= target:
            return made
        low = int(rng.random() * max(1, n - window + 1))
        high = min(n, low + window)
        for w in range(free.shape[0]):
            free[w] = project[2][w]
        extend(current, 0, low, status[0], project, before, tails, free, finish)
        order[:] = current
        value = status[0]
        for _ in range(samples):
            relist(order, low, high, tails, bias, before[0], before[1], marks, weights, rng)
            makespan = try_tail(order, low, value, project, before, tails, free, finish)
            if makespan <= value:
                value = makespan
                current[:] = order
        status[1] = 0 if value < status[0] else status[1] + 1
        status[0] = value
        if status[1] >= patience:
            makespan = serial(current, project, before, free, finish)
            status[0] = justify(current, finish, makespan, project, before, after, free, work)
            status[1] = 0
    return rounds


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    project, before, after, tails, target, free, work, current, finish = open_search(env_data, state)
    n = current.size
    makespan = serial(current, project, before, free, finish)
    lists, scratch = (current, current.copy()), (np.zeros(n, np.bool_), np.zeros(n, np.float64))
    status = np.array([makespan, 0], np.int64)
    setting = (WINDOW, SAMPLES, BIAS, PATIENCE)
    rounds = made = max(2, CHUNK_ACTIVITIES // (n * SAMPLES))
    while made == rounds and not budget.exhausted():
        made = search(
            rounds, setting, target, project, before, after, tails, free, work, lists, finish, scratch,
            status, rng,
        )  # fmt: skip
        budget.charge(made * SAMPLES)
    state.sequence = current
    return state
