"""Steepest descent over the swaps at the borders of critical blocks (N5).

Method: follow one longest path, split it into blocks of operations on one machine, rate the swap of the
first and of the last pair of each block by heads and tails, make the best one while it shortens the path.

Source: E. Nowicki, C. Smutnicki, A fast taboo search algorithm for the job shop problem, 1996
(neighbourhood); E. Taillard, Parallel taboo search techniques for the job shop scheduling problem, 1994
(rating).

Complexity: O(N) per move for N operations.
"""

from parts.border_swaps import block_moves as block_moves
from parts.descent import descend_from

PLATEAU = 10  # tunable: int 0..200


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum of the neighbourhood (or to the end of the budget's share)."""
    return descend_from(env_data, state, PLATEAU)
