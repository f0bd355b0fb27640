"""Descents over the moves of the part ``critical_moves``."""

import numpy as np
from parts.critical_moves import descend
from parts.schedule import open_schedule
from parts.shops.descents import descended


def descend_from(env_data, state, plateau):
    """Descend from `state` to a local optimum of the neighbourhood (or to the end of the budget's share)."""
    schedule, makespan = open_schedule(env_data, state)
    best = descended(descend, schedule, makespan, plateau, env_data)
    state.sequence = best // np.int32(schedule[0][1])
    return state
