"""Or-opt within routes: move a segment of up to SEGMENT customers, perhaps reversed, elsewhere on its route.

For each customer the best move of a segment that starts with it is made, down to a local optimum.
Method: steepest Or-opt descent, customer by customer.
Source: I. Or, "Traveling salesman-type combinatorial problems and their relation to the logistics of regional
blood banking", PhD thesis, Northwestern University (1976).
Complexity: O(SEGMENT m) per customer, m: customers on its route. Work units: one per customer looked at.
"""

from numba import njit
from parts.routes import move_block
from parts.sweeps import descend_by_sweeps

SEGMENT = 3  # tunable: int 1..8

CHUNK_STEPS = 50_000


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


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_by_sweeps(env_data, state, CHUNK_STEPS)
