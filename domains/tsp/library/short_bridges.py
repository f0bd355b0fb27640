"""Short bridges: a double bridge of three neighbouring segments of at most LONGEST cities, and 2-opt from all
cities.

The new tour stays if it is no longer than the old one. With SEGMENT above 0 the descent moves segments of up
to so many cities as well.
Method: iterated local search.
Source: H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003).
Complexity: O(n k) per round. Work units: one per move, one per sweep and one per round.
"""

from numba import njit
from parts.kick_rounds import search_by_kicks
from parts.plain_kicks import improve_city as improve_city
from parts.plain_kicks import longest_kept as longest_kept
from parts.plain_kicks import wake as wake

NEIGHBOURS = 10  # tunable: int 5..20
SEGMENT = 0  # tunable: int 0..10
LONGEST = 50  # tunable: int 2..200


# exchangeable: bridge-cuts
@njit(cache=True)
def draw_cuts(cuts, n, rng):
    """Draw where a double bridge cuts a tour of `n` cities.

    cuts: int64 (4,), written: the position in front of which the first segment begins, and how many cities
    behind it the other three begin, by rising number.
    """
    longest = min(LONGEST, (n - 1) // 3)
    cuts[0] = int(rng.random() * n)
    cuts[1] = 1 + int(rng.random() * longest)
    cuts[2] = cuts[1] + 1 + int(rng.random() * longest)
    cuts[3] = cuts[2] + 1 + int(rng.random() * longest)


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_kicks(env_data, state, NEIGHBOURS)
