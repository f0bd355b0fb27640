"""Swaps at the borders of a critical block, of a machine or of a job.

Source: C.-F. Liaw, A tabu search algorithm for the open shop scheduling problem, 1999; E. Nowicki,
C. Smutnicki, A fast taboo search algorithm for the job shop problem, 1996.
"""

from numba import njit


# exchangeable: neighbourhood
@njit(cache=True)
def block_moves(first, last, length, moves, count):
    """Append the border swaps of the critical block at places first..last of a path: its first pair (unless
    the path starts with the block) and its last pair (unless the path ends with it).

    A row (i, j, 1) puts the operation at path place i right behind the one at j, a row (i, j, 0) the one at
    j right before the one at i; always i < j. Rows that do not fit into `moves` are left out. Returns the
    new count.
    """
    if last + 1 < length and count < moves.shape[0]:
        moves[count, 0], moves[count, 1], moves[count, 2] = last - 1, last, 1
        count += 1
    if first > 0 and (last > first + 1 or last + 1 == length) and count < moves.shape[0]:
        moves[count, 0], moves[count, 1], moves[count, 2] = first, first + 1, 1
        count += 1
    return count
