"""Tabu search over the swaps at the borders of critical blocks.

Method: in each iteration the best rated swap at the border of a block (of a machine or of a job) on a random
critical path is made, better or worse; a move is tabu when it would bring back an order of two operations
that was reversed recently, unless it promises a new best. After PATIENCE iterations without improvement the
search restarts from the best schedule, shaken by random moves.

Source: C.-F. Liaw, A tabu search algorithm for the open shop scheduling problem, 1999; E. Nowicki,
C. Smutnicki, A fast taboo search algorithm for the job shop problem, 1996.

Complexity: O(N) per iteration for N operations.
"""

from parts.jsp.border_swaps import block_moves as block_moves
from parts.tabu import search_from

PATIENCE = 5000  # tunable: int 500..100000
RESTART_MOVES = 10  # tunable: int 1..100


def run(env_data, state, calc_makespan_fn):
    """Tabu search from `state` until the share of the budget is spent or the lower bound is met."""
    return search_from(env_data, state, RESTART_MOVES)
