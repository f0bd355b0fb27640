"""Or-3opt: move a segment of any length up to SEGMENT, forwards or reversed, next to a near city.

The segment starts or ends in the city at hand and all its lengths are tried for each of the NEIGHBOURS
places, so that most pure three-exchanges with one short segment are covered. Uses don't-look bits and stops
at a local optimum.
Source: the segment-insertion form of 3-opt, S. Lin, "Computer solutions of the traveling salesman problem"
(1965), with I. Or's restriction to short segments (1976).
Complexity: O(n k SEGMENT) per sweep, O(n) per move at worst. Work units: one per move and one per sweep.
"""

from numba import njit
from parts.segment_moves import improve_city as improve_city
from parts.sweeps import descend_by_sweeps
from parts.tour_arrays import move_segment, wake_ends

NEIGHBOURS = 8  # tunable: int 4..16
SEGMENT = 50  # tunable: int 4..150


# exchangeable: segment-move-of-city
@njit(cache=True)
def improve_by_segment_move(city, tour, pos, dist, near, awake):
    """Make the best improving move of a segment that ends in `city`; returns its gain or 0."""
    n = tour.size
    p = pos[city]
    best, best_first, best_size, best_place, best_reversed = 0, 0, 0, 0, False
    for is_tail in range(2):
        outer = tour[(p + 1) % n] if is_tail else tour[p - 1]
        for i in range(near.shape[1]):
            other = near[city, i]
            opened = dist[city, outer] - dist[city, other]
            if opened <= 0:
                break
            q = pos[other]
            for goes_behind in range(2):
                place = q if goes_behind else (q - 1) % n
                partner = tour[(q + 1) % n] if goes_behind else tour[q - 1]
                gap = opened + dist[other, partner]
                r = pos[partner]
                if is_tail:
                    longest = min(SEGMENT, (p - q) % n, (p - r) % n, n - 3)
                else:
                    longest = min(SEGMENT, (q - p) % n, (r - p) % n, n - 3)
                for size in range(1, longest + 1):
                    far_end = tour[(p - size + 1) % n] if is_tail else tour[(p + size - 1) % n]
                    beyond = tour[(p - size) % n] if is_tail else tour[(p + size) % n]
                    gain = gap + dist[far_end, beyond] - dist[outer, beyond] - dist[far_end, partner]
                    if gain > best:
                        best, best_size, best_place = gain, size, place
                        best_first = (p - size + 1) % n if is_tail else p
                        best_reversed = goes_behind == is_tail
    if best > 0:
        wake_ends(tour, best_first, best_size, best_place, awake)
        move_segment(tour, pos, best_first, best_size, best_place, best_reversed)
    return best


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum or until the share of the budget is spent."""
    return descend_by_sweeps(env_data, state, NEIGHBOURS)
