"""Large items first: a few bins are emptied and their items packed into them anew by blurred volume.

With probability KEEP_ORDER an item keeps about its place instead. The new packing stays if no item is left
over and the sum of the squared fillings is no smaller: full bins grow until one is empty.
Method: large neighbourhood search.
Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998).
Complexity: O(b p) per round for b boxes and p candidate points in the bins. Work units: one for as many items
packed as a decoding packs.
"""

from numba import njit
from parts.bin_rounds import search_by_bins
from parts.plain_bins import accepts as accepts

BINS = 3  # tunable: int 2..6
NOISE = 0.5  # tunable: float 0.0..2.0
KEEP_ORDER = 0.4  # tunable: float 0.0..1.0


# exchangeable: packing-key
@njit(cache=True)
def packing_key(place, volume, rng):
    """Sorting key of an item, smaller: earlier; `place` in its bin, `volume` as a share of a bin's."""
    return place + 2.0 * rng.random() if rng.random() < KEEP_ORDER else -volume * (1.0 + NOISE * rng.random())


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_bins(env_data, state)
