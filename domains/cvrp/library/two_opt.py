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
def improve_customer(node, flat, place, route_of, dist):
    """Make the best reversal that starts with `node`; returns its gain and the places looked at."""
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
    if best < LEAST_GAIN:
        return 0, last - first
    flat[first : best_last + 1] = flat[first : best_last + 1][::-1].copy()
    note_places(flat, first, best_last, place, route_of, n)
    return best, last - first


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_by_sweeps(env_data, state, CHUNK_STEPS)
