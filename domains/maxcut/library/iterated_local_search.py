"""Iterated local search.

Method: a local optimum of single flips is perturbed by flipping KICK of the vertices at random and made a
local optimum again; the new one is kept if its cut is not lighter, else the old one comes back.
Source: H. Lourenco, O. Martin, T. Stutzle, "Iterated local search" (2003); P. Festa, P. Pardalos, M. Resende,
C. Ribeiro, "Randomized heuristics for the MAX-CUT problem" (2002).
Complexity: O(n + m) per round at worst. Work units: one per round.
"""

import numpy as np
from numba import njit
from parts.gains import descend, kick, open_cut

KICK = 0.01  # tunable: float 0.001..0.2
ROUNDS_PER_CHUNK = 50  # tunable: int 10..500

CHUNK_ARCS = 1_000_000


# exchangeable: acceptance
@njit(cache=True)
def accepts(change, progress, rng):
    """Whether a local optimum whose cut differs by `change` replaces the current one; progress: 0 to 1."""
    return change >= 0


@njit(cache=True)
def iterate(x, gains, offsets, neighbors, weights, count, progress, rounds, rng):
    """`rounds` rounds of kick and descent; returns the change of the cut."""
    total = 0
    kept, kept_gains = x.copy(), gains.copy()
    for _ in range(rounds):
        change = kick(x, gains, offsets, neighbors, weights, count, rng)
        change += descend(x, gains, offsets, neighbors, weights)
        if accepts(change, progress, rng):
            total += change
            kept[:], kept_gains[:] = x, gains
        else:
            x[:], gains[:] = kept, kept_gains
    return total


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    graph, x, gains, cut = open_cut(env_data, state)
    offsets, neighbors, weights = graph
    best, best_cut = x.copy(), cut
    cut += descend(x, gains, offsets, neighbors, weights)
    best[:], best_cut = x, cut
    rounds = max(1, min(ROUNDS_PER_CHUNK, CHUNK_ARCS // (8 * n + neighbors.size // 4)))
    count = max(2, int(KICK * n))
    while not budget.exhausted():
        progress = 1.0 - budget.remaining()
        cut += iterate(x, gains, offsets, neighbors, weights, count, progress, rounds, rng)
        budget.charge(rounds)
        if cut > best_cut:
            best[:], best_cut = x, cut
    state.sequence = ((best + 1) // 2).astype(np.int32)
    return state
