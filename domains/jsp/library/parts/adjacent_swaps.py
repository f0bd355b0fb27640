"""Neighbourhood N1: swaps of adjacent operations of a critical block.

Source: P. J. M. van Laarhoven, E. H. L. Aarts, J. K. Lenstra, Job shop scheduling by simulated annealing,
1992.
"""

from numba import njit


# exchangeable: neighbourhood
@njit(cache=True)
def block_moves(first, last, length, moves, count):
    """Append the N1 moves of the critical block at places first..last of a path: all adjacent swaps.

    A row (i, j, 1) puts the operation at path place i right behind the one at j, a row (i, j, 0) the one at
    j right before the one at i; always i < j. Rows that do not fit into `moves` are left out. Returns the
    new count.
    """
    for i in range(first, last):
        if count == moves.shape[0]:
            break
        moves[count, 0], moves[count, 1], moves[count, 2] = i, i + 1, 1
        count += 1
    return count
