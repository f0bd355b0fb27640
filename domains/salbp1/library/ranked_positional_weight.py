"""Ranked positional weights: the line is filled by the time of each task and of all that follow it.

Method: stations are filled one by one with the available task of greatest positional weight (its own time
plus the times of all its followers) that fits. The line is built from its start and from its end, and
again a few times with blurred weights; the shortest one is returned.

Source: W. B. Helgeson, D. P. Birnie, Assembly line balancing using the ranked positional weight
technique, 1961.

Complexity: O(n²) per line for n tasks, O(n m) once for m relations.
"""

import numpy as np
from numba import njit

RESTARTS = 10  # tunable: int 2..1000
NOISE = 0.1  # tunable: float 0.0..1.0


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


@njit(cache=True)
def follower_matrix(graph):
    """Element (i, j) tells whether task j comes after task i, directly or through others."""
    first_after, after, first_before, before = graph
    n = first_after.size - 1
    follows = np.zeros((n, n), np.bool_)
    waiting = np.empty(n, np.int64)
    ready = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        waiting[i] = first_after[i + 1] - first_after[i]
        if waiting[i] == 0:
            ready[count] = i
            count += 1
    while count > 0:
        count -= 1
        i = ready[count]
        for k in range(first_after[i], first_after[i + 1]):
            follows[i, after[k]] = True
            for j in range(n):
                if follows[after[k], j]:
                    follows[i, j] = True
        for k in range(first_before[i], first_before[i + 1]):
            waiting[before[k]] -= 1
            if waiting[before[k]] == 0:
                ready[count] = before[k]
                count += 1
    return follows


@njit(cache=True)
def greedy_line(priority, capacity, times, graph, sequence):
    """Fill stations one by one with the available task of highest priority that fits; their number."""
    first_after, after, first_before, _ = graph
    n = times.size
    waiting = np.empty(n, np.int64)
    available = np.empty(n, np.int64)
    count = 0
    for task in range(n):
        waiting[task] = first_before[task + 1] - first_before[task]
        if waiting[task] == 0:
            available[count] = task
            count += 1
    stations, free = 1, capacity
    for i in range(n):
        chosen = -1
        while chosen < 0:
            for p in range(count):
                if times[available[p]] <= free and (
                    chosen < 0 or priority[available[p]] > priority[available[chosen]]
                ):
                    chosen = p
            if chosen < 0:
                stations, free = stations + 1, capacity
        task = available[chosen]
        sequence[i] = task
        free -= times[task]
        count -= 1
        available[chosen] = available[count]
        for k in range(first_after[task], first_after[task + 1]):
            waiting[after[k]] -= 1
            if waiting[after[k]] == 0:
                available[count] = after[k]
                count += 1
    return stations


# exchangeable: positional-weight
def positional_weight(times, follows):
    """Weight of every task, higher comes first; row i of `follows` marks the followers of task i."""
    return times + follows @ times.astype(np.float64)


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most RESTARTS lines; the first two follow the bare weights."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    follows = follower_matrix(graph)
    sides = (graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))
    sequence = np.empty(times.size, np.int32)
    fewest = times.size + 1
    for restart in range(RESTARTS):
        side, kin = sides[restart % 2]
        weight = positional_weight(times, kin)
        if restart > 1:
            weight = weight * (1.0 + NOISE * rng.random(times.size))
        stations = greedy_line(weight, capacity, times, side, sequence)
        budget.charge(1)
        if stations < fewest:
            fewest = stations
            state.sequence = sequence[:: 1 - 2 * (restart % 2)].copy()
        if budget.exhausted():
            break
    return state
