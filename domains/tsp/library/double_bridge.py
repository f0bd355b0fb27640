"""Double bridge: cut the tour A B C D at four places and reconnect it as A D C B.

Three of the segments have at most SEGMENT cities, so most of the tour stays as it is, and no two neighbouring
ones have a single city each: the edge between those would come back and leave only three exchanged.
Source: O. Martin, S. W. Otto, E. W. Felten, "Large-step Markov chains for the traveling salesman problem"
(1991). Complexity: O(n). Work units: one per bridge.
"""

import numpy as np
from parts.bridges import bridge, bridge_repeatedly

BRIDGES = 1  # tunable: int 1..10
SEGMENT = 50  # tunable: int 2..200


def bridged(tour, rng):
    n = len(tour)
    longest = min(SEGMENT, (n - 2) // 3)
    b, c, d = np.cumsum(rng.integers([1, 2, 1], longest + 1))
    return bridge(tour, int(rng.integers(n)), b, c, d)


def run(env_data, state, calc_makespan_fn):
    """Make BRIDGES double bridges on the tour of `state`; the result may be longer."""
    return bridge_repeatedly(env_data, state, BRIDGES)
