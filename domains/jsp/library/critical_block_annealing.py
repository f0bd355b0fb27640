"""Simulated annealing over adjacent swaps on critical paths.

Method: a random adjacent pair of a critical block is swapped; its rating by heads and tails decides with
Metropolis' rule. The temperature falls geometrically over the share of the budget. The best schedule met is
returned.

Source: P. J. M. van Laarhoven, E. H. L. Aarts, J. K. Lenstra, Job shop scheduling by simulated annealing,
1992.

Complexity: O(N) per accepted move for N operations, O(length of the critical path) per rejected one.
"""

import math

import numpy as np
from numba import njit
from parts.adjacent_swaps import block_moves as block_moves
from parts.critical_moves import list_moves, move_backward, move_forward, rate_backward, rate_forward
from parts.schedule import critical_path, longest_path, open_schedule, update_heads, update_tails

START_TEMPERATURE = 0.01  # tunable: float 0.001..0.1
END_TEMPERATURE = 0.0005  # tunable: float 0.00001..0.005
CHUNK_OPERATIONS = 400_000  # trials of one kernel call times operations of the instance


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, temperature, draw):
    """Whether a move that lengthens the schedule by `loss` is made; `draw` is uniform on [0, 1)."""
    return loss <= 0 or draw < math.exp(-loss / temperature)


@njit(cache=True)
def anneal(trials, temperature, problem, topology, links, work, moves, status, best, rng):
    """Try `trials` moves; `status` holds the best and the present makespan, `best` the best order."""
    n_jobs, n_machines, machine, p, jp, js = problem
    order, place = topology
    mp, ms, c, t = links
    path, head, moved, mark = work
    for _ in range(trials):
        length = critical_path(n_jobs, n_machines, status[1], p, js, ms, t, path, rng)
        count = list_moves(length, order.size, machine, p, jp, js, c, t, path, moves)
        if count == 0:
            return
        row = int(rng.random() * count)
        u, v = moves[row, 0], moves[row, 1]
        if moves[row, 2] == 1:
            rated = rate_forward(u, v, p, jp, js, mp, ms, c, t, head)
        else:
            rated = rate_backward(u, v, p, jp, js, mp, ms, c, t, head)
        if not accepts(rated - status[1], temperature, rng.random()):
            continue
        if moves[row, 2] == 1:
            lo, hi = move_forward(u, v, jp, mp, ms, order, place, mark, moved)
        else:
            lo, hi = move_backward(u, v, js, mp, ms, order, place, mark, moved)
        update_heads(order, lo, p, jp, mp, c)
        update_tails(order, hi, p, js, ms, t)
        status[1] = longest_path(n_jobs, n_machines, t)
        if status[1] < status[0]:
            status[0] = status[1]
            best[:] = order


def run(env_data, state, calc_makespan_fn):
    """Anneal from `state` until the share of the budget is spent."""
    budget, rng = env_data["budget"], env_data["rng"]
    schedule, makespan = open_schedule(env_data, state)
    problem, (order, _place) = schedule[:2]
    status = np.array([makespan, makespan], np.int64)
    best = order.copy()
    trials = max(50, CHUNK_OPERATIONS // order.size)
    while not budget.exhausted():
        cooling = (END_TEMPERATURE / START_TEMPERATURE) ** (1.0 - budget.remaining())
        temperature = makespan * START_TEMPERATURE * cooling
        anneal(trials, temperature, *schedule, status, best, rng)
        budget.charge(trials)
    state.sequence = best // np.int32(problem[1])
    return state
