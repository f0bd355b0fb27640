"""Phased local search: additions and swaps, with three ways to choose among the candidates in turn.

Method: a set grows by vertices without neighbour in it; when there are none, a vertex with exactly one
neighbour in the set takes that neighbour's place. A vertex enters once per descent. When nothing is left to
do, the set is disturbed and the next descent begins. Candidates are chosen at random, by smallest penalty
(sets found before raise the penalties of their vertices; the delay between reductions is steered so that a
share TARGET of all vertices is penalised), or by smallest degree. The numbers of neighbours in the set are
kept bit-sliced: word w of plane b holds bit b of the counts of vertices 64 w to 64 w + 63.

Source: W. Pullan, Phased local search for the maximum clique problem, 2006; W. Pullan, H. H. Hoos, Dynamic
local search for the maximum clique problem, 2006.

Complexity: O(n / 64 log k) word operations per move, k: size of the set. Work units: one per move.
"""

import numpy as np
from parts.bit_sets import has
from parts.phases import continue_phases, open_phases


def run(env_data, state, calc_makespan_fn):
    """Search from `state` until the share of the budget is spent."""
    budget, n = env_data["budget"], env_data["num_vertices"]
    if n < 3:
        return state
    search = open_phases(env_data, state)
    best = search[6]
    while not budget.exhausted():
        best = continue_phases(search, budget)
    state.sequence = np.array([int(has(best, v)) for v in range(n)], dtype=np.int32)
    return state
