"""Steepest descent over the insertions inside critical blocks.

Method: follow one longest path, split it into blocks of operations on one machine or of one job. In each
block operations move to its ends and its ends move inwards; moves are rated by heads and tails, the best one
is made while it shortens the path.

Source: C. Zhang, P. Li, Z. Guan, Y. Rao, A tabu search algorithm with a new neighborhood structure for the
job shop scheduling problem, 2007 (N7, here on the blocks of machines and of jobs); C.-F. Liaw, A tabu search
algorithm for the open shop scheduling problem, 1999.

Complexity: O(N + b²) per move for N operations and blocks of b operations.
"""

from parts.descent import descend_from
from parts.jsp.block_insertions import block_moves as block_moves

PLATEAU = 30  # tunable: int 0..200


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum of the neighbourhood (or to the end of the budget's share)."""
    return descend_from(env_data, state, PLATEAU)
