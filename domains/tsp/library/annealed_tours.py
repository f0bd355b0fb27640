"""Annealed tours: a double bridge with cuts anywhere, and 2-opt from all cities; longer tours may stay.

They stay the less the more time is over: the temperature falls from HOT to COLD, in shares of the length.
With SEGMENT above 0 the descent moves segments of up to so many cities as well.
Method: iterated local search.
Source: H. R. Lourenco, O. C. Martin, T. Stutzle, "Iterated local search" (2003); O. Martin, S. W. Otto,
E. W. Felten, "Large-step Markov chains for the traveling salesman problem" (1991).
Complexity: O(n k) per round. Work units: one per move, one per sweep and one per round.
"""

import numpy as np
from numba import njit
from parts.kick_rounds import search_by_kicks
from parts.plain_kicks import draw_cuts as draw_cuts
from parts.plain_kicks import improve_city as improve_city
from parts.plain_kicks import wake as wake

NEIGHBOURS = 10  # tunable: int 5..20
SEGMENT = 0  # tunable: int 0..10
HOT = 0.001  # tunable: float 0.00001..0.01
COLD = 0.00002  # tunable: float 0.000001..0.001


# exchangeable: acceptance
@njit(cache=True)
def longest_kept(length, progress, rng):
    """Length up to which a new tour replaces one of `length`; progress: 0 to 1."""
    return length * (1.0 - HOT * (COLD / HOT) ** progress * np.log(1.0 - rng.random()))


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_kicks(env_data, state, NEIGHBOURS)
