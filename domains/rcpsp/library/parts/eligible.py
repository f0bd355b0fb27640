"""Activities that may be listed next."""

from numba import njit
from parts.sequences.precedence import release


@njit(cache=True)
def list_chosen(i, j, order, count, first, others, waits_for):
    """Put the eligible activity at place `j` of `order` at place `i`, and what waited for it alone behind the
    `count` that are listed or eligible; returns their new number.

    Activity x has ``others[first[x]:first[x + 1]]`` behind it, and waits for ``waits_for[x]`` more.
    """
    x = order[j]
    order[j] = order[i]
    order[i] = x
    return release(x, first, others, waits_for, order, count)


@njit(cache=True)
def is_enough(left, request, guard):
    """Whether what is `left` of the resources suffices for a request; both in the lanes of words."""
    enough = True
    for w in range(guard.size):
        enough = enough and ((left[w] | guard[w]) - request[w]) & guard[w] == guard[w]
    return enough
