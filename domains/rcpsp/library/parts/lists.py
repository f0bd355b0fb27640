"""Activity lists: random ones, and moves within them that keep the precedence."""

import numpy as np
from numba import njit
from parts.eligible import list_chosen
from parts.sequences.entry_move import move_entry
from parts.sequences.precedence import count_waits, free_range


@njit(cache=True)
def random_list(order, before, after, rng):
    """A random list: the next activity is any one whose predecessors are all listed."""
    first, others = after
    n = order.size
    waits_for = np.empty(n, np.int64)
    count = count_waits(before[0], waits_for, order)
    for i in range(n):
        j = i + int(rng.random() * (count - i))
        count = list_chosen(i, j, order, count, first, others, waits_for)


@njit(cache=True)
def shake(order, moves, reach, before, after, rng):
    """Make `moves` random insertions in the list."""
    for _ in range(moves):
        place = int(rng.random() * order.size)
        low, high = free_range(order, place, reach, before, after)
        move_entry(order, place, low + int(rng.random() * (high - low + 1)))
