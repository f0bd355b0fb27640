"""Bridges anywhere: a double bridge with cuts anywhere on the tour, and 2-opt from all cities.

The new tour stays if it is no longer than the old one. With SEGMENT above 0 the descent moves segments of up
to so many cities as well.
Method: iterated local search.
Source: H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003).
Complexity: O(n k) per round. Work units: one per move, one per sweep and one per round.
"""

from parts.kick_rounds import search_by_kicks
from parts.plain_kicks import draw_cuts as draw_cuts
from parts.plain_kicks import improve_city as improve_city
from parts.plain_kicks import longest_kept as longest_kept
from parts.plain_kicks import wake as wake

NEIGHBOURS = 10  # tunable: int 5..20
SEGMENT = 0  # tunable: int 0..10


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_kicks(env_data, state, NEIGHBOURS)
