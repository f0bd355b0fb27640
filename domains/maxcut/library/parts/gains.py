"""A cut as the signs of the vertices, with what flipping each of them adds to it."""

import numpy as np
from numba import njit


@njit(cache=True)
def gains_of(x, offsets, neighbors, weights, gains):
    """Fill in what flipping each vertex adds to the cut of the signs `x`; returns the cut."""
    fourfold = 0
    for v in range(x.size):
        gain = 0
        for p in range(offsets[v], offsets[v + 1]):
            product = x[v] * x[neighbors[p]]
            gain += weights[p] * product
            fourfold += weights[p] * (1 - product)
        gains[v] = gain
    return fourfold // 4


@njit(cache=True)
def flip(v, x, gains, offsets, neighbors, weights):
    """Move vertex v to the other side and update the gains."""
    gains[v] = -gains[v]
    x[v] = -x[v]
    double = 2 * x[v]
    for p in range(offsets[v], offsets[v + 1]):
        u = neighbors[p]
        gains[u] += double * weights[p] * x[u]


@njit(cache=True)
def descend(x, gains, offsets, neighbors, weights):
    """Flip vertices that gain until there is none; returns the change of the cut."""
    change = 0
    moved = True
    while moved:
        moved = False
        for v in range(x.size):
            if gains[v] > 0:
                moved = True
                change += gains[v]
                flip(v, x, gains, offsets, neighbors, weights)
    return change


@njit(cache=True)
def kick(x, gains, offsets, neighbors, weights, count, rng):
    """Flip `count` random vertices; returns the change of the cut."""
    change = 0
    for _ in range(count):
        v = int(rng.random() * x.size)
        change += gains[v]
        flip(v, x, gains, offsets, neighbors, weights)
    return change


def largest_gain(offsets, weights):
    """Largest sum of absolute weights at a vertex: no gain is larger."""
    sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.abs(weights.astype(np.int64)))))
    return max(1, int((sums[offsets[1:]] - sums[offsets[:-1]]).max()))


def open_cut(env_data, state):
    """What a search begins with: the graph (offsets, neighbors, weights), signs, their gains, and the cut."""
    graph = env_data["offsets"], env_data["neighbors"], env_data["edge_weights"]
    x, gains = np.array(2 * state.sequence - 1, dtype=np.int32), np.zeros(state.sequence.size, dtype=np.int32)
    return graph, x, gains, gains_of(x, *graph, gains)


def sides_of(x):
    """The signs as sides 0 and 1, the card's encoding."""
    return ((x + 1) // 2).astype(np.int32)
