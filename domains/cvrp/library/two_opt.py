"""2-opt within routes: reverse a part of a route where that shortens it, down to a local optimum.

For each customer the best reversal that starts with it is made.
Method: steepest 2-opt descent, customer by customer.
Source: G. A. Croes, "A method for solving traveling-salesman problems" (1958).
Complexity: O(m) per customer, m: customers on its route. Work units: one per customer looked at.
"""

import numpy as np
from numba import njit

LEAST_GAIN = 1  # tunable: int 1..5

CHUNK_STEPS = 100_000


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
def best_reversal(node, flat, place, dist):
    """Last position of the best reversal that starts with `node`, its gain, and the places looked at."""
    n = dist.shape[0]
    first = place[node]
    left = flat[first - 1] if flat[first - 1] < n else 0
    best, best_last = 0, first
    last = first + 1
    while flat[last] < n:
        end, right = flat[last], flat[last + 1] if flat[last + 1] < n else 0
        gain = dist[left, node] + dist[end, right] - dist[left, end] - dist[node, right]
        if gain > best:
            best, best_last = gain, last
        last += 1
    return best_last, best, last - first


@njit(cache=True)
def sweep(flat, place, route_of, dist, cursor, steps):
    """Go on from customer cursor[0] until `steps` places were seen or none of all customers has a move.

    cursor[1]: customers in turn without one. Returns the customers looked at.
    """
    n = dist.shape[0]
    looked = 0
    while steps > 0 and cursor[1] < n - 1:
        node = 1 + cursor[0]
        last, gain, seen = best_reversal(node, flat, place, dist)
        if gain >= LEAST_GAIN:
            first = place[node]
            flat[first : last + 1] = flat[first : last + 1][::-1].copy()
            note_places(flat, first, last, place, route_of, n)
            cursor[1] = 0
        else:
            cursor[1] += 1
        cursor[0] = (cursor[0] + 1) % (n - 1)
        steps -= seen + 1
        looked += 1
    return looked


def run(env_data, state, calc_makespan_fn):
    budget, n = env_data["budget"], env_data["num_nodes"]
    dist = np.array(env_data["dist_matrix"], dtype=np.int32)
    flat = lay_flat(np.array(state.sequence, dtype=np.int32), n, 0)
    place, route_of = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    note_places(flat, 0, flat.size - 1, place, route_of, n)
    cursor = np.zeros(2, np.int64)
    while cursor[1] < n - 1 and not budget.exhausted():
        budget.charge(sweep(flat, place, route_of, dist, cursor, CHUNK_STEPS))
    state.sequence = read_flat(flat, n)
    return state
