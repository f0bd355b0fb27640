"""Ruin and recreate: operations are taken out and reinserted.

The file brings ``take_out``, which chooses the operations.
"""

import math

import numpy as np
from numba import njit
from parts.reinsertion import reinsert, restore, save
from parts.schedule import lay_out, prepare
from parts.taker import take_out

REMOVED = 6  # tunable: int 1..60
START_TEMPERATURE = 0.25  # tunable: float 0.01..2.0
END_TEMPERATURE = 0.05  # tunable: float 0.001..1.0
CYCLES = 5  # tunable: int 1..100
CHUNK_OPERATIONS = 400_000  # operations reinserted by one kernel call times operations of the instance


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, temperature, draw):
    """Whether a move that lengthens the schedule by `loss` is made; `draw` is uniform on [0, 1)."""
    return loss <= 0 or draw < math.exp(-loss / temperature)


@njit(cache=True)
def keep_or_restore(makespan, temperature, order, links, saved, status, best, rng):
    """Make the new order the present one if it is accepted, and the best one if it is that; else undo it."""
    if accepts(makespan - status[1], temperature, rng.random()):
        status[1] = makespan
        if makespan < status[0]:
            status[0] = makespan
            best[:] = order
    else:
        restore(order, links, saved)


@njit(cache=True)
def search(rounds, removed, temperature, target, problem, order, links, work, status, best, rng):
    """At most `rounds` of ruin and recreate; the number made, fewer when the makespan met `target`.

    `status` holds the best and the present makespan, `best` the best order.
    """
    n_jobs, n_machines, _job, p = problem
    c, t = links[4], links[5]
    out, mark, gaps, saved = work
    for made in range(rounds):
        if status[0] <= target:
            return made
        save(order, links, saved)
        take_out(removed, status[1], n_jobs, n_machines, p, c, t, out, mark, rng)
        makespan = reinsert(out[:removed], order, problem, links, gaps, mark, rng)
        keep_or_restore(makespan, temperature, order, links, saved, status, best, rng)
    return rounds


def set_up(env_data, state):
    """Problem, order, links, work arrays and (best, present) makespan of a search from `state`."""
    problem, (order, place), links, (out, _head, _moved, mark) = prepare(env_data)
    makespan = int(lay_out(np.array(state.sequence, dtype=np.int32), problem, (order, place), links))
    gaps = np.zeros((3, problem[0] + problem[1] + 1), np.int32)
    work = (out, mark, gaps, np.zeros((7, order.size + 1), np.int32))
    return problem, order, links, work, np.array([makespan, makespan], np.int64)


def ruin_and_recreate(env_data, state):
    """Search from `state` until the share of the budget is spent or the lower bound is met."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, order, links, work, status = set_up(env_data, state)
    best = order.copy()
    removed = min(REMOVED, order.size)
    scale = max(float(problem[3].mean()), 1e-9)
    rounds = made = max(5, CHUNK_OPERATIONS // (order.size * removed))
    while made == rounds and not budget.exhausted():
        heat = (START_TEMPERATURE / END_TEMPERATURE) ** (budget.remaining() * CYCLES % 1.0)
        temperature = scale * END_TEMPERATURE * heat
        made = search(
            rounds, removed, temperature, env_data["lower_bound"], problem, order, links, work, status, best,
            rng,
        )  # fmt: skip
        budget.charge(made * removed)
    state.sequence = best
    return state
