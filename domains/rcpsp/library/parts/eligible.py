"""Activities that may be listed next."""

from numba import njit


@njit(cache=True)
def list_first(order, before, waits_for):
    """Put the activities without a predecessor first in `order`; returns their number.

    `waits_for` becomes the number of predecessors of each activity.
    """
    count = 0
    for x in range(order.size):
        waits_for[x] = before[0][x + 1] - before[0][x]
        if waits_for[x] == 0:
            order[count] = x
            count += 1
    return count


@njit(cache=True)
def list_chosen(i, j, order, count, first, others, waits_for):
    """Put the eligible activity at place `j` of `order` at place `i`, and what waited for it alone behind the
    `count` that are listed or eligible; returns their new number.

    Activity x has ``others[first[x]:first[x + 1]]`` behind it, and waits for ``waits_for[x]`` more.
    """
    x = order[j]
    order[j] = order[i]
    order[i] = x
    for k in range(first[x], first[x + 1]):
        waits_for[others[k]] -= 1
        if waits_for[others[k]] == 0:
            order[count] = others[k]
            count += 1
    return count


@njit(cache=True)
def is_enough(left, request, guard):
    """Whether what is `left` of the resources suffices for a request; both in the lanes of words."""
    enough = True
    for w in range(guard.size):
        enough = enough and ((left[w] | guard[w]) - request[w]) & guard[w] == guard[w]
    return enough
