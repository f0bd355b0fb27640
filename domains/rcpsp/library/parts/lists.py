"""Activity lists: random ones, and moves within them that keep the precedence."""

import numpy as np
from numba import njit


@njit(cache=True)
def random_list(order, before, after, rng):
    """A random list: the next activity is any one whose predecessors are all listed."""
    first, others = after
    n = order.size
    waits_for = np.empty(n, np.int64)
    count = 0
    for x in range(n):
        waits_for[x] = before[0][x + 1] - before[0][x]
        if waits_for[x] == 0:
            order[count] = x
            count += 1
    for i in range(n):
        j = i + int(rng.random() * (count - i))
        x = order[j]
        order[j] = order[i]
        order[i] = x
        for k in range(first[x], first[x + 1]):
            waits_for[others[k]] -= 1
            if waits_for[others[k]] == 0:
                order[count] = others[k]
                count += 1


@njit(cache=True)
def free_range(order, place, reach, before, after):
    """First and last place, at most `reach` away, to which the entry at `place` may move."""
    x = order[place]
    low = high = place
    is_free = True
    while low > 0 and place - low < reach:
        for k in range(before[0][x], before[0][x + 1]):
            is_free = is_free and before[1][k] != order[low - 1]
        if not is_free:
            break
        low -= 1
    is_free = True
    while high + 1 < order.size and high - place < reach:
        for k in range(after[0][x], after[0][x + 1]):
            is_free = is_free and after[1][k] != order[high + 1]
        if not is_free:
            break
        high += 1
    return low, high


@njit(cache=True)
def move_entry(order, source, destination):
    """Move the entry at place `source` to place `destination`; those between close up."""
    x = order[source]
    step = 1 if destination > source else -1
    for i in range(source, destination, step):
        order[i] = order[i + step]
    order[destination] = x


@njit(cache=True)
def shake(order, moves, reach, before, after, rng):
    """Make `moves` random insertions in the list."""
    for _ in range(moves):
        place = int(rng.random() * order.size)
        low, high = free_range(order, place, reach, before, after)
        move_entry(order, place, low + int(rng.random() * (high - low + 1)))
