"""Randomised greedy sets: each vertex is drawn from the free ones with few free neighbours.

Method: let the free vertices have between a and b free neighbours. Those with at most a + (b - a) / 10 are
eligible, and one of them joins the set (semi-greedy construction of a GRASP). The best set is kept.

Source: T. A. Feo, M. G. C. Resende, S. H. Smith, A greedy randomized adaptive search procedure for maximum
independent set, 1994.

Complexity: O(n k + m) per set, k: size of the set. Work units: one per set.
"""

from numba import njit
from parts.greedy import build_sets

RESTARTS = 30  # tunable: int 1..5000


# exchangeable: greedy-choice
@njit(cache=True)
def greedy_choice(free, count, degree, ties):
    """Index in free[:count] of the vertex to take; `ties` is a random number below 2^31."""
    least, most = degree[free[0]], degree[free[0]]
    for i in range(count):
        least, most = min(least, degree[free[i]]), max(most, degree[free[i]])
    limit = least + (most - least) // 10
    eligible = 0
    for i in range(count):
        eligible += degree[free[i]] <= limit
    wanted = ties % eligible
    for i in range(count):
        if degree[free[i]] <= limit:
            if wanted == 0:
                return i
            wanted -= 1
    return 0


def run(env_data, state, calc_makespan_fn):
    """Give `state` the largest of at most RESTARTS sets."""
    return build_sets(env_data, state, RESTARTS)
