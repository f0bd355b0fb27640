"""Perturbation of the list: a few activities move to random places.

Method: an activity drawn at random moves to a random place between its last predecessor and its first
successor in the list, at most REACH of the list away. The result is always a list with predecessors first.

Source: H. R. Lourenço, O. C. Martin, T. Stützle, Iterated local search, 2003; F. F. Boctor,
Resource-constrained project scheduling by simulated annealing, 1996 (the move).

Complexity: O(N (predecessors + successors)) per move for N activities.
"""

import numpy as np
from numba import njit

MOVES = 5  # tunable: int 1..200
REACH = 0.3  # tunable: float 0.01..1.0


@njit(cache=True)
def free_range(order, place, reach, before, after):
    """First and last place, at most `reach` away, to which the entry at `place` may move."""
    x = order[place]
    low = high = place
    is_free = True
    while low > 0 and place - low < reach:
        for k in range(before[0][x], before[0][x + 1]):
            is_free = is_free and before[1][k] != order[low - 1]
        if not is_free:
            break
        low -= 1
    is_free = True
    while high + 1 < order.size and high - place < reach:
        for k in range(after[0][x], after[0][x + 1]):
            is_free = is_free and after[1][k] != order[high + 1]
        if not is_free:
            break
        high += 1
    return low, high


@njit(cache=True)
def move_entry(order, source, destination):
    """Move the entry at place `source` to place `destination`; those between close up."""
    x = order[source]
    step = 1 if destination > source else -1
    for i in range(source, destination, step):
        order[i] = order[i + step]
    order[destination] = x


@njit(cache=True)
def shake(order, moves, reach, before, after, rng):
    """Make `moves` random insertions in the list."""
    for _ in range(moves):
        place = int(rng.random() * order.size)
        low, high = free_range(order, place, reach, before, after)
        move_entry(order, place, low + int(rng.random() * (high - low + 1)))


def prepare(env_data):
    """Arrays of a project.

    project: durations; requests, capacities and guard bits in the lanes of int64 words, where one
    subtraction compares all resources of a word (a lane that has too little left borrows its guard bit).
    before, after: where the predecessors (successors) of each activity begin, and they themselves.
    horizon: number of periods that every schedule and search for a start fits into.
    """
    durations = np.asarray(env_data["durations"]).astype(np.int64)
    n = durations.size
    lanes = []
    words, used = 0, 63
    for capacity in np.asarray(env_data["capacities"]).tolist():
        width = capacity.bit_length() + 1
        if used + width > 63:
            words, used = words + 1, 0
        lanes.append((words - 1, used, width, capacity))
        used += width
    need = np.zeros((n, words), np.int64)
    capacity, guard = np.zeros(words, np.int64), np.zeros(words, np.int64)
    for (word, shift, width, units), requests in zip(lanes, np.asarray(env_data["requests"]).T, strict=True):
        need[:, word] += requests.astype(np.int64) << shift
        capacity[word] += units << shift
        guard[word] += 1 << (shift + width - 1)
    networks = []
    for this, other in ((1, 0), (0, 1)):
        edges = np.asarray(env_data["edges"])
        edges = edges[np.argsort(edges[:, this], kind="stable")]
        first = np.searchsorted(edges[:, this], np.arange(n + 1)).astype(np.int32)
        networks.append((first, np.ascontiguousarray(edges[:, other]).astype(np.int32)))
    horizon = int(durations.sum() + durations.max() + 1)
    return (durations, need, capacity, guard), networks[0], networks[1], horizon


def run(env_data, state, calc_makespan_fn):
    """Disturb the list of `state`; the schedule may get longer."""
    _project, before, after, _horizon = prepare(env_data)
    order = np.array(state.sequence, dtype=np.int32)
    shake(order, MOVES, max(1, int(REACH * order.size)), before, after, env_data["rng"])
    env_data["budget"].charge(MOVES)
    state.sequence = order
    return state
