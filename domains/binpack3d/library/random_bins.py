"""Random bins: a few bins are emptied and their items packed into them anew, in random order.

The new packing stays if no item is left over and the sum of the squared fillings is no smaller: full bins
grow until one is empty.
Method: large neighbourhood search.
Source: P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems"
(1998).
Complexity: O(b p) per round for b boxes and p candidate points in the bins. Work units: one for as many items
packed as a decoding packs.
"""

from parts.bin_rounds import search_by_bins
from parts.plain_bins import accepts as accepts
from parts.plain_bins import packing_key as packing_key

BINS = 3  # tunable: int 2..6


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    return search_by_bins(env_data, state)
