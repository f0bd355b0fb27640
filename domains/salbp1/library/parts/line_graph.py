"""The tasks of a line: times, precedence graph, and what follows from them."""

import numpy as np
from numba import njit
from parts.sequences.precedence import count_waits, release


def kin_of_tasks(edges, n, here, there):
    """Direct kin of all tasks: that of task i is kin[first[i] : first[i + 1]]."""
    first = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(edges[:, here], minlength=n), out=first[1:])
    return first, edges[np.argsort(edges[:, here], kind="stable"), there].copy()


def line_data(env_data):
    """Task times, int64, and the graph: successors (first, kin) and predecessors (first, kin)."""
    times = np.array(env_data["times"], dtype=np.int64)
    edges = np.array(env_data["edges"], dtype=np.int64).reshape(-1, 2)
    return times, kin_of_tasks(edges, times.size, 0, 1) + kin_of_tasks(edges, times.size, 1, 0)


def reversed_graph(graph):
    """The graph of the line read from its end: successors and predecessors exchanged."""
    return graph[2], graph[3], graph[0], graph[1]


def least_stations(times, capacity):
    """Stations that any line needs: the bin-packing bound L2 of Martello and Toth."""
    best = 1
    for small in np.unique(np.append(times[2 * times <= capacity], 0)):
        alone = np.count_nonzero(times > capacity - small)
        large = times[(2 * times > capacity) & (times <= capacity - small)]
        rest = times[(times >= small) & (2 * times <= capacity)].sum()
        overflow = rest - (large.size * capacity - large.sum())
        best = max(best, alone + large.size + max(0, -(-int(overflow) // capacity)))
    return best


@njit(cache=True)
def follower_matrix(graph):
    """Element (i, j) tells whether task j comes after task i, directly or through others."""
    first_after, after, first_before, before = graph
    n = first_after.size - 1
    follows = np.zeros((n, n), np.bool_)
    waiting = np.empty(n, np.int64)
    ready = np.empty(n, np.int64)
    count = count_waits(first_after, waiting, ready)
    while count > 0:
        count -= 1
        i = ready[count]
        for k in range(first_after[i], first_after[i + 1]):
            follows[i, after[k]] = True
            for j in range(n):
                if follows[after[k], j]:
                    follows[i, j] = True
        count = release(i, first_before, before, waiting, ready, count)
    return follows


@njit(cache=True)
def open_predecessors(graph, is_done):
    """Number of direct predecessors of each task that are not done; out of reach for done tasks."""
    _, _, first_before, before = graph
    waiting = np.zeros(is_done.size, np.int64)
    for task in range(is_done.size):
        if is_done[task]:
            waiting[task] = is_done.size + 1
        for k in range(first_before[task], first_before[task + 1]):
            if not is_done[before[k]]:
                waiting[task] += 1
    return waiting
