"""Descent by segments: short segments of the order move elsewhere or turn around.

Method: or-opt and 2-opt on an order. A random segment of up to LONGEST entries goes to a random place,
reversed with probability TURNED; or, with probability REVERSALS, the order between two random places turns
around. What gains is kept. Ends after PATIENCE times n attempts in vain.
Source: I. Or, "Traveling salesman-type combinatorial problems" (1976); G. A. Croes, "A method for solving
traveling-salesman problems" (1958).
Complexity: O(n) and one score per attempt. Work units: one per score.
"""

import numpy as np
from parts.sequences.neighbour_search import search_neighbours

LONGEST = 4  # tunable: int 1..20
TURNED = 0.3  # tunable: float 0.0..1.0
REVERSALS = 0.3  # tunable: float 0.0..1.0
PATIENCE = 10.0  # tunable: float 1.0..100.0


# exchangeable: segment-move
def moved(order, longest, rng):
    """A copy of the order with one segment moved or turned around."""
    n = order.size
    if rng.random() < REVERSALS:
        i, j = sorted(rng.integers(n + 1, size=2).tolist())
        return np.concatenate((order[:i], order[i:j][::-1], order[j:]))
    length = int(rng.integers(1, min(longest, max(n - 1, 1)) + 1))
    i = int(rng.integers(n - length + 1))
    segment = order[i : i + length]
    if rng.random() < TURNED:
        segment = segment[::-1]
    rest = np.concatenate((order[:i], order[i + length :]))
    j = int(rng.integers(rest.size + 1))
    return np.concatenate((rest[:j], segment, rest[j:]))


def run(env_data, state, calc_makespan_fn):
    patience = PATIENCE * state.sequence.size
    return search_neighbours(env_data, state, calc_makespan_fn, patience, LONGEST)
