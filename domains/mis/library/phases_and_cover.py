"""Phased local search and edge weighting on the cover, side by side: the better of the two gets more time.

Method: two searches of different nature go on from the same set, each in small steps. The one whose best set
is smaller gets BEHIND of what the other gets; of two equal sets the one that took more of the budget to be
found counts as LATER. The larger set of the two is the result. Graphs with a hidden set that degrees betray
or conceal are for the penalties of the first, graphs of many small cliques for the weights of the second.

Source: C. P. Gomes, B. Selman, Algorithm portfolios, 2001; W. Pullan, Phased local search for the maximum
clique problem, 2006; S. Cai, K. Su, C. Luo, A. Sattar, NuMVC: an efficient local search algorithm for minimum
vertex cover, 2013.

Complexity: as the two searches. Work units: one per move of the first, one per exchange of the second.
"""

import numpy as np
from parts.bit_sets import has
from parts.cover_search import continue_cover, open_cover
from parts.phases import continue_phases, open_phases

BEHIND = 0.1  # tunable: float 0.01..1.0
LATER = 0.2  # tunable: float 0.01..1.0


def is_first_due(spent, sizes, found):
    """Whether the first of two searches goes on, by what they have spent, the sizes of their best sets and
    what they had spent when these were found."""
    weights = [1.0, 1.0]
    if sizes[0] != sizes[1]:
        weights[int(sizes[0] > sizes[1])] = BEHIND
    elif found[0] != found[1]:
        weights[int(found[0] < found[1])] = LATER
    return spent[0] * weights[1] <= spent[1] * weights[0]


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_vertices"]
    if n < 3:
        return state
    phases = open_phases(env_data, state)
    stream = np.array([rng.integers(1, 2**62)], dtype=np.uint64)
    cover = open_cover(np.array(env_data["adj"], dtype=np.uint8), state.sequence, stream)
    bits, outside = phases[6], np.array(state.sequence, dtype=np.int32)
    spent, sizes, found, goes_on = [0.0, 0.0], [0, 0], [0.0, 0.0], True
    while not budget.exhausted():
        left, is_first = budget.remaining(), is_first_due(spent, sizes, found) or not goes_on
        if is_first:
            bits = continue_phases(phases, budget)
            size = int(phases[7][1])
        else:
            outside, goes_on = continue_cover(cover, budget)
            size = int(outside.sum())
        i = 0 if is_first else 1
        spent[i] += left - budget.remaining()
        if size > sizes[i]:
            sizes[i], found[i] = size, spent[i]
    state.sequence = outside
    if sizes[0] > sizes[1]:
        state.sequence = np.array([int(has(bits, v)) for v in range(n)], dtype=np.int32)
    return state
