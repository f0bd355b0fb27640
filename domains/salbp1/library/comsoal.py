"""Random sampling of lines (COMSOAL): the shortest of many is returned.

Method: stations are filled one by one with a random available task that fits; the draw is biased by the
task's time. Each line is a sample, built from the start or from the end; sampling stops at the
bin-packing bound.

Source: A. L. Arcus, COMSOAL: a computer method of sequencing operations for assembly lines, 1966.

Complexity: O(n²) per line for n tasks.
"""

import numpy as np
from numba import njit

SAMPLES = 200  # tunable: int 1..10000
BIAS = 1.0  # tunable: float 0.0..5.0


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


# exchangeable: draw-keys
def draw_keys(times, capacity, bias, rng):
    """Random priorities: a longer task is more likely to come first."""
    odds = (times / capacity + 0.01) ** bias
    return np.log(1.0 - rng.random(times.size)) / odds


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most SAMPLES random lines."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    sides = graph, reversed_graph(graph)
    sequence = np.empty(times.size, np.int32)
    fewest = times.size + 1
    for sample in range(SAMPLES):
        keys = draw_keys(times, capacity, BIAS, rng)
        stations = greedy_line(keys, capacity, times, sides[sample % 2], sequence)
        budget.charge(1)
        if stations < fewest:
            fewest = stations
            state.sequence = sequence[:: 1 - 2 * (sample % 2)].copy()
        if fewest <= bound or budget.exhausted():
            break
    return state
