"""Phased local search: its phases, and a search that can be continued."""

import numpy as np
from numba import njit
from parts.bit_sets import descent, has, insert, open_bits, work_words
from parts.xorshift import draw

RANDOM_DESCENTS = 50  # tunable: int 0..1000
PENALTY_DESCENTS = 50  # tunable: int 1..1000
DEGREE_DESCENTS = 100  # tunable: int 0..1000
TARGET = 0.75  # tunable: float 0.1..0.95

MOVES_WORK = 2_000_000


# exchangeable: penalty-delay
@njit(cache=True)
def steered_delay(delay, share, target):
    """The next number of raises between lowerings, when `share` of the vertices is penalised."""
    if share < target:
        return delay + 1
    return max(delay - 1, 1)


@njit(cache=True)
def penalise(penalty, members, state):
    """Raise the penalties of the set's vertices; lower all after every state[0] raises.

    state = [delay, raises since the last lowering, penalised vertices].
    """
    for v in range(penalty.size):
        if has(members, v):
            penalty[v] += 1
            state[2] += penalty[v] == 1
    state[1] += 1
    if state[1] >= state[0]:
        state[1] = 0
        for v in range(penalty.size):
            if penalty[v] > 0:
                penalty[v] -= 1
                state[2] -= penalty[v] == 0
        state[0] = steered_delay(state[0], state[2] / penalty.size, TARGET)


@njit(cache=True)
def search_in_phases(rows, planes, members, values, phase, delay, best, sizes, place, n_moves, stream):
    """Descents until `n_moves` moves were made. values: int64 (3, n), what each phase minimises.

    phase = [rule, descents made under it]; delay: see penalise.
    """
    n, n_words = rows.shape
    unused, carry, free, level, closed = work_words(n, n_words)
    lengths = (RANDOM_DESCENTS, PENALTY_DESCENTS, DEGREE_DESCENTS)
    moves = 0
    while moves < n_moves:
        rule = phase[0]
        closed[:] = unused | members
        made, last = descent(
            rows, planes, carry, members, values[rule], place, best, sizes, closed, free, level, stream
        )
        moves += made + 1
        v = draw(stream, n)
        if rule == 1:
            penalise(values[1], members, delay)
            if delay[0] > 1 and last >= 0:
                v = last
                members[:] = 0
                planes[:] = 0
                sizes[0] = 0
        insert(rows, planes, carry, members, v, sizes, place)
        phase[1] += 1
        while phase[1] >= lengths[phase[0]]:
            phase[0], phase[1] = (phase[0] + 1) % 3, 0
    return moves


def open_phases(env_data, state):
    """A search that begins with the set of `state`, of at least three vertices: for `continue_phases`."""
    (rows, planes, members, best, sizes, place), adj, stream = open_bits(env_data, state)
    values = np.zeros((3, len(adj)), np.int64)
    values[2] = adj.sum(axis=1)
    phase, delay = np.zeros(2, np.int64), np.array([2, 0, 0])
    n_moves = max(20, MOVES_WORK // (100 + 20 * rows.shape[1]))
    return rows, planes, members, values, phase, delay, best, sizes, place, n_moves, stream


def continue_phases(search, budget):
    """Make some moves; the best set so far, as bits."""
    budget.charge(search_in_phases(*search))
    return search[6]
