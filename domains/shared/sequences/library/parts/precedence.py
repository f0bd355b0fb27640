"""Sequences in which some entries have to stand before others.

Direct predecessors, and likewise successors, of entry i are others[first[i] : first[i + 1]].
"""

from numba import njit


@njit(cache=True)
def count_waits(first, waits_for, ready):
    """Write how many entries each one waits for; those that wait for none go to `ready`; their number."""
    count = 0
    for x in range(waits_for.size):
        waits_for[x] = first[x + 1] - first[x]
        if waits_for[x] == 0:
            ready[count] = x
            count += 1
    return count


@njit(cache=True)
def release(x, first, others, waits_for, ready, count):
    """What waits for x waits for one less; what now waits for none joins the `count` entries of `ready`; the
    number of them.
    """
    for k in range(first[x], first[x + 1]):
        waits_for[others[k]] -= 1
        if waits_for[others[k]] == 0:
            ready[count] = others[k]
            count += 1
    return count


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
