"""Branch, bound and remember: cyclic best-first search over partial lines, exact when it has the time.

Method: a node is a set of assigned tasks and the number of its stations; its children add one undominated
maximal load. The search goes round the levels (numbers of stations) and expands the best node of each in
turn: little idle time per station and, less important, many tasks left. Nodes are cut by bounds (total
time, half and third sizes, stations behind a task) and when the same set of tasks was reached with no
more stations before. Attempts of growing length alternate between the directions of the line and two
weights of the tasks left. At first only the best few children of a node are kept; when a tree is
exhausted more are. A search that cut nothing but by bounds and dominance proves the line optimal, and the
operator stops.

Source: E. C. Sewell, S. H. Jacobson, A branch, bound, and remember algorithm for the simple assembly line
balancing problem, 2012; D. R. Morrison, E. C. Sewell, S. H. Jacobson, An application of the branch,
bound, and remember algorithm to a new simple assembly line balancing dataset, 2014; A. Scholl, C. Becker,
2006 (bounds).

Complexity: O(m + L (l + a)) per node for m relations and L loads of l tasks with a available ones.
"""

import numpy as np
from numba import njit
from parts.line_graph import follower_matrix, least_stations, line_data, reversed_graph
from parts.station_loads import dominance_matrix, loads_behind
from parts.stations import in_order_of_stations

FIRST_WIDTH = 10  # tunable: int 1..1000
WIDENING = 4.0  # tunable: float 1.5..20.0
MOST_LOADS = 4000  # tunable: int 10..20000
FIRST_EFFORT = 100_000  # tunable: int 1000..10000000
FEWER_TASKS = 0.0005  # tunable: float 0.0..1.0
FEWER_TASKS_AFTER = 0.02  # tunable: float 0.0..1.0
NOISE = 0.002  # tunable: float 0.0..1.0
MEMORY_BYTES = 48_000_000
CHUNK_TASKS = 400_000  # loads of one expansion times tasks of the line
CHUNK_LOADS = 4_000  # loads tried by one kernel call


# exchangeable: node-key
@njit(cache=True)
def node_key(idle, stations, tasks_left, time_left, capacity, fewer_tasks):
    """Rank of a partial line with `stations` full stations, lower is expanded first."""
    return idle / (stations * capacity) - fewer_tasks * tasks_left


@njit(cache=True)
def meld(a, b, key, left, right):
    """Skew heap of the nodes of two heaps, given by their roots (-1: empty); its root."""
    if a < 0:
        return b
    if b < 0:
        return a
    if key[b] < key[a]:
        a, b = b, a
    root = a
    while True:
        rest = right[a]
        right[a] = left[a]
        if rest < 0:
            left[a] = b
            return root
        if key[b] < key[rest]:
            rest, b = b, rest
        left[a] = rest
        a = rest


@njit(cache=True)
def remember(node, words, signature, stations, is_alive, table):
    """Enter a node into the table of sets; False if its set is known with no more stations."""
    mask = table.size - 1
    slot = np.int64(signature[node] & np.uint64(0x3FFFFFFF)) & mask
    while table[slot] >= 0:
        other = table[slot]
        if signature[other] == signature[node] and (words[other] == words[node]).all():
            if stations[other] <= stations[node]:
                return False
            is_alive[other] = False
            table[slot] = node
            return True
        slot = (slot + 1) & mask
    table[slot] = node
    return True


@njit(cache=True)
def next_node(target, stations, time_left, capacity, is_alive, key, left, right, roots, cursor):
    """The best open node of the next level that has one and can still give `target` stations, or -1."""
    for _ in range(target):
        cursor[0] = (cursor[0] + 1) % target
        level = cursor[0]
        while roots[level] >= 0:
            node = roots[level]
            roots[level] = meld(left[node], right[node], key, left, right)
            if is_alive[node] and level * capacity + time_left[node] <= target * capacity:
                return node
    return -1


@njit(cache=True)
def search(
    problem, nodes, figures, table, roots, cursor, loads, sizes, width, fewer_tasks, noise, max_loads, rng
):
    """Expand nodes until about `max_loads` loads were tried; returns loads tried and whether nodes are left.

    `figures`: nodes, stations of the best line, its node, 1 if something was cut by width or limits.
    """
    capacity, times, graph, dominates, ranking, behind, by_behind, halves, thirds, codes = problem
    words, stations, time_left, tasks_left, signature, parent, key, left, right, is_alive = nodes
    n = times.size
    is_done = np.empty(n, np.bool_)
    keys = np.empty(sizes.size, np.float64)
    tried = 0
    while tried < max_loads:
        node = next_node(
            figures[1] - 1, stations, time_left, capacity, is_alive, key, left, right, roots, cursor
        )
        if node < 0:
            return tried, False
        half = third = 0
        for task in range(n):
            is_done[task] = (words[node, task >> 6] >> np.uint64(task & 63)) & np.uint64(1) != np.uint64(0)
            if not is_done[task]:
                half += halves[task]
                third += thirds[task]
        found, steps = loads_behind(is_done, ranking, capacity, times, graph, dominates, loads, sizes)
        tried += steps
        if found == sizes.size or steps >= 10 * sizes.size:
            figures[3] = 1
        level = stations[node] + 1
        for row in range(found):
            keys[row] = np.inf
            rest, rest_half, rest_third = time_left[node], half, third
            for i in range(sizes[row]):
                task = loads[row, i]
                rest -= times[task]
                rest_half -= halves[task]
                rest_third -= thirds[task]
                is_done[task] = True
            stations_left = max(-(-rest // capacity), -(-rest_half // 2), -(-rest_third // 6))
            for task in by_behind:
                if not is_done[task]:
                    stations_left = max(stations_left, behind[task])
                    break
            for i in range(sizes[row]):
                is_done[loads[row, i]] = False
            if level + stations_left < figures[1]:
                idle = level * capacity - (time_left[0] - rest)
                left_over = tasks_left[node] - sizes[row]
                rank = node_key(idle, level, left_over, rest, capacity, fewer_tasks)
                keys[row] = rank + noise * rng.random() if left_over > 0 else -1e300
        kept = 0
        for row in np.argsort(keys[:found]):
            if keys[row] == np.inf:
                break
            if kept == width or figures[0] == stations.size:
                figures[3] = 1
                break
            child = figures[0]
            words[child] = words[node]
            signature[child] = signature[node]
            rest = time_left[node]
            for i in range(sizes[row]):
                task = loads[row, i]
                words[child, task >> 6] |= np.uint64(1) << np.uint64(task & 63)
                signature[child] ^= codes[task]
                rest -= times[task]
            stations[child], time_left[child], parent[child] = level, rest, node
            tasks_left[child] = tasks_left[node] - sizes[row]
            key[child], left[child], right[child], is_alive[child] = keys[row], -1, -1, True
            if tasks_left[child] == 0:
                figures[0] += 1
                figures[1], figures[2] = level, child
                break
            if remember(child, words, signature, stations, is_alive, table):
                figures[0] += 1
                roots[level] = meld(roots[level], child, key, left, right)
                kept += 1
        if figures[0] == stations.size:
            return tried, False
    return tried, True


def stations_behind(times, follows, capacity):
    """Stations that a task and all its followers need, that of the task included."""
    return np.maximum(1, -(-(times + follows @ times) // capacity))


def root_of_tree(nodes, table, roots, times):
    """Forget all nodes but the empty line."""
    words, stations, time_left, tasks_left, signature, parent, key, left, right, is_alive = nodes
    table[:] = -1
    roots[:] = -1
    words[0] = 0
    stations[0], time_left[0], tasks_left[0], signature[0], parent[0] = 0, times.sum(), times.size, 0, -1
    key[0], left[0], right[0], is_alive[0] = 0.0, -1, -1, True
    roots[0] = 0


def station_numbers(nodes, node, n):
    """Station of every task, from 0, in the complete line that ends with `node`."""
    words, stations, _, _, _, parent, *_ = nodes
    station = np.zeros(n, np.int64)
    tasks = np.arange(n)
    while parent[node] >= 0:
        added = words[node] & ~words[parent[node]]
        bits = (added[tasks >> 6] >> (tasks & 63).astype(np.uint64)) & np.uint64(1)
        station[bits != 0] = stations[node] - 1
        node = parent[node]
    return station


def memory_of_search(n):
    """Node arrays, table of sets and level roots within MEMORY_BYTES."""
    n_words = (n + 63) // 64
    limit = max(1000, min(400_000, MEMORY_BYTES // (8 * n_words + 90)))
    slots = 1 << int(2 * limit - 1).bit_length()
    nodes = (
        np.empty((limit, n_words), np.uint64),
        np.empty(limit, np.int64),
        np.empty(limit, np.int64),
        np.empty(limit, np.int64),
        np.empty(limit, np.uint64),
        np.empty(limit, np.int64),
        np.empty(limit, np.float64),
        np.empty(limit, np.int64),
        np.empty(limit, np.int64),
        np.empty(limit, np.bool_),
    )
    return nodes, np.empty(slots, np.int32), np.empty(n + 1, np.int64)


def sides_of_line(times, graph, capacity):
    """For both directions: graph, dominance, ranking, stations behind each task, and their order."""
    follows = follower_matrix(graph)
    sides = []
    for side, kin in ((graph, follows), (reversed_graph(graph), np.ascontiguousarray(follows.T))):
        ranking = np.argsort(-(times + 0.001 * (kin @ times)), kind="stable")
        behind = stations_behind(times, kin, capacity)
        order = np.argsort(-behind, kind="stable")
        sides.append((side, dominance_matrix(times, side, kin), ranking, behind, order))
    return sides


def run(env_data, state, calc_makespan_fn):
    """Search for shorter lines than `state` until it is proven optimal or the share is spent."""
    budget, rng, capacity = env_data["budget"], env_data["rng"], env_data["cycle_time"]
    times, graph = line_data(env_data)
    n = times.size
    bound = least_stations(times, capacity)
    sequence = np.array(state.sequence, dtype=np.int32)
    best = int(calc_makespan_fn(state))
    if best <= bound or budget.exhausted():
        return state
    halves = np.where(2 * times > capacity, 2, np.where(2 * times == capacity, 1, 0))
    thirds = 6 * (3 * times > 2 * capacity) + 4 * (3 * times == 2 * capacity)
    thirds += 3 * ((3 * times > capacity) & (3 * times < 2 * capacity)) + 2 * (3 * times == capacity)
    codes = rng.integers(0, 2**64, n, dtype=np.uint64)
    sides = sides_of_line(times, graph, capacity)
    nodes, table, roots = memory_of_search(n)
    rows = max(1, min(MOST_LOADS, CHUNK_TASKS // n))
    loads, sizes = np.empty((rows, n), np.int64), np.empty(rows, np.int64)
    width, start = FIRST_WIDTH, int(rng.integers(2))
    attempt = 0
    while best > bound and not budget.exhausted():
        direction = (start + attempt) % 2
        fewer_tasks = FEWER_TASKS_AFTER if attempt % 4 >= 2 else FEWER_TASKS
        side, dominates, ranking, behind, order = sides[direction]
        problem = capacity, times, side, dominates, ranking, behind, order, halves, thirds, codes
        root_of_tree(nodes, table, roots, times)
        figures, cursor = np.array([1, best, -1, 0]), np.array([-1])
        is_open = True
        effort = FIRST_EFFORT * 2.0 ** (attempt // 4)
        while is_open and best > bound and effort > 0:
            tried, is_open = search(
                problem, nodes, figures, table, roots, cursor, loads, sizes, width, fewer_tasks,
                NOISE * (attempt > 1), CHUNK_LOADS, rng,
            )  # fmt: skip
            budget.charge(tried)
            effort -= tried
            if figures[1] < best:
                best = int(figures[1])
                station = station_numbers(nodes, int(figures[2]), n)
                sequence = in_order_of_stations(sequence, best - 1 - station if direction else station)
                state.sequence = sequence
            if budget.exhausted():
                return state
        if not is_open and figures[3] == 0:
            break  # nothing was left out: the line is proven optimal
        if not is_open and figures[0] < nodes[1].size and attempt % 2:
            width = min(int(width * WIDENING) + 1, 1_000_000)
        attempt += 1
    return state
