"""2-opt within routes: reverse a part of a route where that shortens it, down to a local optimum.

For each customer the best reversal that starts with it is made.
Method: steepest 2-opt descent, customer by customer.
Source: G. A. Croes, "A method for solving traveling-salesman problems" (1958).
Complexity: O(m) per customer, m: customers on its route. Work units: one per customer looked at.
"""

from numba import njit
from parts.routes import note_places
from parts.sweeps import descend_by_sweeps

LEAST_GAIN = 1  # tunable: int 1..5

CHUNK_STEPS = 100_000


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
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_by_sweeps(env_data, state, CHUNK_STEPS)
