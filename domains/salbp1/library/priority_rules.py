"""Many priority rules in both directions, then mixtures of them; the shortest line is returned.

Method: stations are filled one by one with the available task of highest priority that fits. Nine rules
are tried from the start and from the end of the line: longest time, positional weight, number of
followers, of direct followers, longest path, time per latest station, earliest latest station and two
sums. Then random mixtures of the normalised rules follow until RESTARTS lines were built or the
bin-packing bound is met.

Source: F. B. Talbot, J. H. Patterson, W. V. Gehrlein, A comparative evaluation of heuristic line
balancing techniques, 1986; F. Hahn, Optimale Abstimmung bei Fliessfertigung, 1972 (longest path); A.
Otto, C. Otto, How to design effective priority rules: example of simple assembly line balancing, 2014
(mixtures, both directions).

Complexity: O(n²) per line for n tasks, O(n m) once for m relations.
"""

import numpy as np
from numba import njit

RESTARTS = 100  # tunable: int 18..5000
SHARPNESS = 3.0  # tunable: float 0.5..10.0


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


def longest_paths(times, follows):
    """Time of the longest chain that starts with each task."""
    path = times.astype(np.float64)
    for task in np.argsort(follows.sum(axis=1), kind="stable"):
        if follows[task].any():
            path[task] += path[follows[task]].max()
    return path


# exchangeable: rule-values
def rule_values(times, follows, direct, paths, capacity):
    """One row of priorities per rule, higher comes first."""
    weight = times + follows @ times.astype(np.float64)
    count = follows.sum(axis=1).astype(np.float64)
    latest = np.ceil(weight / capacity)
    return np.array(
        [
            times.astype(np.float64),
            weight,
            count,
            direct.astype(np.float64),
            paths,
            times * latest,
            latest,
            times / capacity + count / times.size,
            times / capacity + weight / (1.0 + weight.max()),
        ]
    )


def run(env_data, state, calc_makespan_fn):
    """Give `state` the shortest of at most RESTARTS lines."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    bound = least_stations(times, capacity)
    follows = follower_matrix(graph)
    sides = []
    for side, kin in ((graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))):
        paths = longest_paths(times, kin)
        sides.append((side, rule_values(times, kin, np.diff(side[0]), paths, capacity)))
    rules = len(sides[0][1])
    sequence = np.empty(times.size, np.int32)
    fewest = times.size + 1
    for restart in range(RESTARTS):
        side, values = sides[restart % 2]
        if restart < 2 * rules:
            priority = values[restart // 2].copy()
        else:
            spread = np.maximum(np.ptp(values, axis=1), 1e-9)
            priority = (rng.random(rules) ** SHARPNESS / spread) @ values
        stations = greedy_line(priority, capacity, times, side, sequence)
        budget.charge(1)
        if stations < fewest:
            fewest = stations
            state.sequence = sequence[:: 1 - 2 * (restart % 2)].copy()
        if fewest <= bound or budget.exhausted():
            break
    return state
