"""Random bins with annealing: emptier ones may stay, the less the more time is over.

A few bins are emptied and their items packed into them anew, in random order. A packing stays only if no item
is left over. The temperature falls from HOT to nothing, in units of the sum of the squared fillings, full: 1.
Method: large neighbourhood search.
Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998); G. Schrimpf and others, "Record breaking optimization results using the ruin and recreate principle"
(2000).
Complexity: O(b p) per round for b boxes and p candidate points in the bins. Work units: one for as many items
packed as a decoding packs.
"""

import numpy as np
from numba import njit
from parts.bin_rounds import search_by_bins
from parts.plain_bins import packing_key as packing_key

BINS = 3  # tunable: int 2..6
HOT = 0.03  # tunable: float 0.001..0.3


# exchangeable: acceptance
@njit(cache=True)
def accepts(loss, progress, rng):
    """Whether a packing stays whose sum of squared fillings is smaller by `loss`; progress: 0 to 1."""
    return loss <= 0.0 or loss < -HOT * (1.0 - progress) * np.log(1.0 - rng.random())


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_bins(env_data, state)
