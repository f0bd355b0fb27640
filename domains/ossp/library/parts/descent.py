"""Descents over the moves of the part ``critical_moves``."""

import numpy as np
from parts.critical_moves import descend
from parts.schedule import lay_out, prepare

CHUNK_OPERATIONS = 200_000  # moves of one kernel call times operations of the instance


def descend_from(env_data, state, plateau):
    """Descend from `state` to a local optimum of the neighbourhood (or to the end of the budget's share)."""
    budget, rng = env_data["budget"], env_data["rng"]
    problem, topology, links, work = prepare(env_data)
    sequence = np.array(state.sequence, dtype=np.int32)
    makespan = int(lay_out(sequence, problem, topology, links))
    moves = np.zeros((4 * sequence.size, 3), np.int32)
    status = np.array([0, makespan + 1, 0, makespan], np.int64)
    best = np.empty(sequence.size, np.int32)
    steps = max(20, CHUNK_OPERATIONS // sequence.size)
    over = False
    while not over:
        before = status[0]
        over = descend(steps, plateau, problem, topology, links, work, moves, status, best, rng)
        budget.charge(int(status[0] - before) + 1)
        over = over or budget.exhausted()
    state.sequence = best
    return state
