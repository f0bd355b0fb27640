"""Insertions of the operations of a critical block at its borders."""

from numba import njit


# exchangeable: neighbourhood
@njit(cache=True)
def block_moves(first, last, length, moves, count):
    """Append the insertions of the critical block at places first..last of a path: every operation to both
    ends of the block, both ends to every place inside (N7). Returns the new count.

    A row (i, j, 1) puts the operation at path place i right behind the one at j, a row (i, j, 0) the one at
    j right before the one at i; always i < j. Rows that do not fit into `moves` are left out.
    """
    for i in range(first, last):
        if count + 4 > moves.shape[0]:
            break
        moves[count, 0], moves[count, 1], moves[count, 2] = i, last, 1
        count += 1
        if i + 1 < last:
            moves[count, 0], moves[count, 1], moves[count, 2] = first, last + first - i, 0
            moves[count + 1, 0], moves[count + 1, 1], moves[count + 1, 2] = first, i + 1, 1
            count += 2
            if i > first:
                moves[count, 0], moves[count, 1], moves[count, 2] = i, last, 0
                count += 1
    return count
