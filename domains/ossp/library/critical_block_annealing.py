"""Simulated annealing over adjacent swaps on critical paths.

Method: a random adjacent pair of a critical block, be it a run on one machine or within one job, is swapped;
its rating by heads and tails decides with Metropolis' rule. The temperature falls geometrically over the
share of the budget. The best schedule met is returned.

Source: C.-F. Liaw, Applying simulated annealing to the open shop scheduling problem, 1999.

Complexity: O(N) per accepted move for N operations, O(length of the critical path) per rejected one.
"""

import numpy as np
from numba import njit
from parts.critical_moves import list_moves, make_move, rate
from parts.jsp.adjacent_swaps import block_moves as block_moves
from parts.ruin_and_recreate import accepts
from parts.schedule import critical_path, open_schedule

START_TEMPERATURE = 0.05  # tunable: float 0.001..0.5
END_TEMPERATURE = 0.003  # tunable: float 0.0001..0.05
CHUNK_OPERATIONS = 400_000  # trials of one kernel call times operations of the instance


@njit(cache=True)
def anneal(trials, temperature, target, problem, topology, links, work, moves, status, best, rng):
    """Try `trials` moves; `status` holds the best and the present makespan, `best` the best order.

    Returns the number of trials made: fewer when `target` is met or no move is left.
    """
    _n_jobs, _n_machines, job, p = problem
    js, ms, t = links[1], links[3], links[5]
    path, head, _moved, _mark = work
    for trial in range(trials):
        if status[0] <= target:
            return trial
        length = critical_path(status[1], p, js, ms, t, path, rng)
        count = list_moves(length, p.size - 1, job, p, links, path, moves)
        if count == 0:
            return trial
        row = int(rng.random() * count)
        u, v, kind = moves[row, 0], moves[row, 1], moves[row, 2]
        rated = rate(u, v, kind, p, links, head)
        if not accepts(rated - status[1], temperature, rng.random()):
            continue
        status[1] = make_move(u, v, kind, p, topology, links, work)
        if status[1] < status[0]:
            status[0] = status[1]
            best[:] = topology[0]
    return trials


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share of the budget is spent or a lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    schedule, makespan = open_schedule(env_data, state)
    order = schedule[1][0]
    status = np.array([makespan, makespan], np.int64)
    best = order.copy()
    trials = made = max(50, CHUNK_OPERATIONS // order.size)
    while made == trials and not budget.exhausted():
        cooling = (END_TEMPERATURE / START_TEMPERATURE) ** (1.0 - budget.remaining())
        temperature = makespan * START_TEMPERATURE * cooling
        made = anneal(trials, temperature, env_data["lower_bound"], *schedule, status, best, rng)
        budget.charge(made)
    state.sequence = best
    return state
