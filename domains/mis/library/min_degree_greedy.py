"""Minimum-degree greedy: take a vertex with fewest free neighbours, drop those neighbours, repeat.

Method: degrees count only vertices that are still free. Ties are broken at random; the largest of RESTARTS
sets is kept.

Source: M. M. Halldorsson, J. Radhakrishnan, Greed is good: approximating independent sets in sparse and
bounded-degree graphs, 1997.

Complexity: O(n k + m) per set, k: size of the set. Work units: one per set.
"""

from numba import njit
from parts.greedy import build_sets

RESTARTS = 10  # tunable: int 1..1000


# exchangeable: greedy-choice
@njit(cache=True)
def greedy_choice(free, count, degree, ties):
    """Index in free[:count] of the vertex to take; `ties` is a random number below 2^31."""
    least, equals = degree[free[0]], 0
    for i in range(count):
        if degree[free[i]] < least:
            least, equals = degree[free[i]], 0
        equals += degree[free[i]] == least
    wanted = ties % equals
    for i in range(count):
        if degree[free[i]] == least:
            if wanted == 0:
                return i
            wanted -= 1
    return 0


def run(env_data, state, calc_makespan_fn):
    """Give `state` the largest of at most RESTARTS greedy sets."""
    return build_sets(env_data, state, RESTARTS)
