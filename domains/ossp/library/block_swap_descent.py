"""Steepest descent over the swaps at the borders of critical blocks.

Method: follow one longest path, split it into blocks of operations on one machine or of one job, rate the
swap of the first and of the last pair of each block by heads and tails, make the best one while it shortens
the path.

Source: C.-F. Liaw, A tabu search algorithm for the open shop scheduling problem, 1999 (blocks of both
kinds); E. Nowicki, C. Smutnicki, A fast taboo search algorithm for the job shop problem, 1996 (border
swaps).

Complexity: O(N) per move for N operations.
"""

from parts.descent import descend_from
from parts.jsp.border_swaps import block_moves as block_moves

PLATEAU = 30  # tunable: int 0..200


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum of the neighbourhood (or to the end of the budget's share)."""
    return descend_from(env_data, state, PLATEAU)
