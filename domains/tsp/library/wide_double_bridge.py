"""Double bridge with cuts anywhere on the tour: a far jump for searches that are stuck.

Every segment has two cities or more, so that four edges are always exchanged.
Source: O. Martin, S. W. Otto, E. W. Felten, "Large-step Markov chains for the traveling salesman problem"
(1991). Complexity: O(n). Work units: one per bridge.
"""

import numpy as np
from parts.bridges import bridge, bridge_repeatedly

BRIDGES = 1  # tunable: int 1..10


def bridged(tour, rng):
    n = len(tour)
    a, b, c, d = np.sort(rng.choice(n - 4, size=4, replace=False)) + np.arange(4)
    return bridge(tour, a, b - a, c - a, d - a)


def run(env_data, state, calc_makespan_fn):
    """Make BRIDGES double bridges on the tour of `state`; the result may be longer."""
    return bridge_repeatedly(env_data, state, BRIDGES)
