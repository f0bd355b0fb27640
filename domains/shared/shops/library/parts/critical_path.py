"""Critical paths of a schedule as a graph, whatever the shop."""

from numba import njit


@njit(cache=True)
def follow(x, p, js, ms, t, path, rng):
    """Write the operations of a longest path from x to the end, drawn at random where it forks; their number.

    `js`, `ms`: successors in job and on machine, the last operation's being t.size - 1; `t`: tails.
    """
    n_ops = t.size - 1
    length = 0
    while x != n_ops:
        path[length] = x
        length += 1
        rest = t[x] - p[x]
        a, b = js[x], ms[x]
        if rest == 0:
            x = n_ops
        elif t[a] != rest:
            x = b
        elif t[b] != rest or rng.random() < 0.5:
            x = a
        else:
            x = b
    return length
