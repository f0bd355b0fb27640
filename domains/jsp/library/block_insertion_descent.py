"""Steepest descent over insertions inside critical blocks (N7).

Method: on a random longest path, every operation of a block may move to the block's front or rear, and the
first and the last one may move inwards. Moves are rated by heads and tails of the operations they pass; the
best one is made while it promises a shorter schedule.

Source: C. Zhang, P. Li, Z. Guan, Y. Rao, A tabu search algorithm with a new neighborhood structure for the
job shop scheduling problem, 2007; E. Balas, A. Vazacopoulos, Guided local search with shifting bottleneck
for job shop scheduling, 1998 (rating, feasibility).

Complexity: O(N + b²) per move for N operations and blocks of b operations.
"""

from parts.block_insertions import block_moves as block_moves
from parts.descent import descend_from

PLATEAU = 30  # tunable: int 0..200


def run(env_data, state, calc_makespan_fn):
    """Descend from `state` to a local optimum of the neighbourhood (or to the end of the budget's share)."""
    return descend_from(env_data, state, PLATEAU)
