"""Random local search on the sequence: entries are moved, every neighbour is decoded.

Method: a random entry is put at another random position of its neighbourhood in the sequence. The
neighbour is kept when its makespan is not longer. The search stops after PATIENCE neighbours without gain.

Source: C. Bierwirth, A generalized permutation approach to job shop scheduling with genetic algorithms, 1995
(operation-based sequences and their moves); D. Alcaide, J. Sicilia, D. Vigo, A tabu search algorithm for the
open shop problem, 1997 (moves in a list of operations).

Complexity: one decoding, O(N) for N operations, per neighbour.
"""

from parts.sequences.insertion_move import moved as moved
from parts.sequences.neighbour_search import search_neighbours

PATIENCE = 3000  # tunable: int 100..100000
REACH = 0.2  # tunable: float 0.01..1.0


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until nothing has improved for PATIENCE neighbours or the share is spent."""
    return search_neighbours(env_data, state, calc_makespan_fn, PATIENCE, REACH)
