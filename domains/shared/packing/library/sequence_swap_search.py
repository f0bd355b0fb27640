"""Random local search on the sequence by swaps.

Method: two random items that stand at most REACH of the length apart change places. Every neighbour is
decoded and kept when its score is not worse. The search stops after PATIENCE neighbours without gain.

Source: C. R. Reeves, Hybrid genetic algorithms for bin-packing and related problems, 1996 (orders as
encoding).

Complexity: one decoding per neighbour.
"""

from parts.sequences.neighbour_search import search_neighbours
from parts.sequences.swap_move import moved as moved

PATIENCE = 2000  # tunable: int 100..100000
REACH = 0.5  # tunable: float 0.01..1.0


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until nothing has improved for PATIENCE neighbours or the share is spent."""
    return search_neighbours(env_data, state, calc_makespan_fn, PATIENCE, REACH)
