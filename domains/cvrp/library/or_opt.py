"""Or-opt within routes: move a segment of up to SEGMENT customers, perhaps reversed, elsewhere on its route.

For each customer the best move of a segment that starts with it is made, down to a local optimum.
Method: steepest Or-opt descent, customer by customer.
Source: I. Or, "Traveling salesman-type combinatorial problems and their relation to the logistics of regional
blood banking", PhD thesis, Northwestern University (1976).
Complexity: O(SEGMENT m) per customer, m: customers on its route. Work units: one per customer looked at.
"""

import numpy as np
from numba import njit

SEGMENT = 3  # tunable: int 1..8

CHUNK_STEPS = 50_000


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
def improve_customer(node, flat, place, route_of, dist):
    """Make the best move of a segment that starts with `node`; returns its gain and the gaps looked at."""
    n = dist.shape[0]
    first = place[node]
    start, stop = first, first
    while flat[start - 1] < n:
        start -= 1
    while flat[stop + 1] < n:
        stop += 1
    before = flat[first - 1] if flat[first - 1] < n else 0
    best, best_size, best_gap, best_reversed, seen = 0, 0, 0, False, 0
    for size in range(1, min(SEGMENT, stop - first + 1) + 1):
        end = flat[first + size - 1]
        behind = flat[first + size] if flat[first + size] < n else 0
        removed = dist[before, node] + dist[end, behind] - dist[before, behind]
        for gap in range(start, stop + 2):
            if first <= gap <= first + size:
                continue
            left = flat[gap - 1] if flat[gap - 1] < n else 0
            right = flat[gap] if flat[gap] < n else 0
            base = removed + dist[left, right]
            straight = base - dist[left, node] - dist[end, right]
            turned = base - dist[left, end] - dist[node, right]
            if max(straight, turned) > best:
                best, best_size, best_gap = max(straight, turned), size, gap
                best_reversed = turned > straight
        seen += stop - start + 2
    if best > 0:
        move_block(flat, first, best_size, best_gap, best_reversed, place, route_of, n)
    return best, seen


@njit(cache=True)
def sweep(flat, place, route_of, dist, cursor, steps):
    """Go on from customer cursor[0] until `steps` gaps were seen or none of all customers has a move.

    cursor[1]: customers in turn without one. Returns the customers looked at.
    """
    n = dist.shape[0]
    looked = 0
    while steps > 0 and cursor[1] < n - 1:
        gain, seen = improve_customer(1 + cursor[0], flat, place, route_of, dist)
        cursor[1] = 0 if gain > 0 else cursor[1] + 1
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
