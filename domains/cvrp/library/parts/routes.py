"""Routes in a row, as one array of customers and depot markers, and as lists.

:func:`lay_flat` explains the array.
"""

import numpy as np
from numba import njit
from parts.generic.tries import best_built
from parts.routing.near_nodes import nearest_nodes


@njit(cache=True)
def lay_flat(sequence, n, spare):
    """Routes in a row, each opened by a depot marker of its own: n, n + 1, …; one more marker closes the row.

    `spare` empty routes stand at the end. Node ids from n on mean the depot.
    """
    routes = 1 + spare
    for i in range(sequence.size):
        routes += sequence[i] == 0
    flat = np.empty(n + routes, np.int32)
    flat[0] = n
    marker = n
    for i in range(sequence.size):
        if sequence[i] == 0:
            marker += 1
        flat[i + 1] = sequence[i] if sequence[i] > 0 else marker
    for i in range(sequence.size + 1, flat.size):
        marker += 1
        flat[i] = marker
    return flat


@njit(cache=True)
def read_flat(flat, n):
    """The routes of a row as a sequence of the card's encoding."""
    sequence = np.empty(2 * n, np.int32)
    size = 0
    for i in range(1, flat.size):
        if flat[i] < n:
            if size > 0 and flat[i - 1] >= n:
                sequence[size] = 0
                size += 1
            sequence[size] = flat[i]
            size += 1
    return sequence[:size].copy()


@njit(cache=True)
def note_places(flat, first, last, place, route_of, n):
    """Bring place[node] and route_of[node] up to date for the positions first..last of the row."""
    route = route_of[flat[first - 1]] if first > 0 else 0
    for i in range(first, last + 1):
        node = flat[i]
        if node >= n:
            route = node - n
        place[node] = i
        route_of[node] = route


@njit(cache=True)
def move_block(flat, first, size, gap, is_reversed, place, route_of, n):
    """Move the `size` nodes from position `first` on to the gap before position `gap`, perhaps reversed."""
    block = flat[first : first + size].copy()
    if gap > first:
        for i in range(first + size, gap):
            flat[i - size] = flat[i]
        start, low, high = gap - size, first, gap - 1
    else:
        for i in range(first - 1, gap - 1, -1):
            flat[i + size] = flat[i]
        start, low, high = gap, gap, first + size - 1
    for i in range(size):
        flat[start + i] = block[size - 1 - i if is_reversed else i]
    note_places(flat, low, high, place, route_of, n)


@njit(cache=True)
def route_loads(flat, demands, load):
    """Write the load of each route of the row into `load`."""
    n = demands.size
    load[:] = 0
    route = 0
    for i in range(flat.size):
        if flat[i] >= n:
            route = flat[i] - n
        else:
            load[route] += demands[flat[i]]


def distances_and_demands(env_data):
    """Distances, int32 (n, n), and demands, int64 (n,); node 0 is the depot."""
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    return dist, np.array(env_data["demands"], dtype=np.int64)


def near_customers(env_data, near):
    """At most `near` nearest customers of each, int32 (n, k)."""
    dist, _ = distances_and_demands(env_data)
    return nearest_nodes(dist, 1, min(near, len(dist) - 2))


def open_row(env_data, state):
    """What a search on a row begins with: int32 distances, int64 demands, row, places and routes in it."""
    n = env_data["num_nodes"]
    dist, demands = env_data["prepared"](distances_and_demands)
    flat = lay_flat(np.array(state.sequence, dtype=np.int32), n, 0)
    place, route_of = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    note_places(flat, 0, flat.size - 1, place, route_of, n)
    return dist, demands, flat, place, route_of


def take_shortest(env_data, state, solutions):
    """Give `state` the shortest of `solutions`, pairs of sequence and length, while the budget lasts."""
    state.sequence = best_built(solutions, env_data["budget"])
    return state
