"""Random local search on the sequence by insertions.

Method: a random item is put at another place of the sequence, at most REACH of its length away. Every
neighbour is decoded and kept when its score is not worse. The search stops after PATIENCE neighbours
without gain.

Source: A. Lodi, S. Martello, D. Vigo, Heuristic algorithms for the three-dimensional bin packing problem,
2002; C. R. Reeves, Hybrid genetic algorithms for bin-packing and related problems, 1996 (orders as
encoding).

Complexity: one decoding per neighbour.
"""

from parts.sequences.insertion_move import moved as moved
from parts.sequences.neighbour_search import search_neighbours

PATIENCE = 2000  # tunable: int 100..100000
REACH = 1.0  # tunable: float 0.01..1.0


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until nothing has improved for PATIENCE neighbours or the share is spent."""
    return search_neighbours(env_data, state, calc_makespan_fn, PATIENCE, REACH)
