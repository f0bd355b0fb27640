"""Flip of a connected region.

Method: from a random vertex a region of up to REGION of all vertices is grown along edges, breadth first, and
moved as a whole; inside the region nothing changes. Repeated REGIONS times.
Source: U. Wolff, "Collective Monte Carlo updating for spin systems" (1989), with regions of a given size; A.
Hartmann, H. Rieger, "Optimization algorithms in physics" (2002).
Complexity: O(n + m) per region. Work units: one per region.
"""

import numpy as np

REGION = 0.05  # tunable: float 0.005..0.4
REGIONS = 3  # tunable: int 1..20


def run(env_data, state, calc_makespan_fn):
    budget, rng, n = env_data["budget"], env_data["rng"], env_data["num_nodes"]
    offsets, neighbors = env_data["offsets"], env_data["neighbors"]
    sides = state.sequence.astype(np.int32)
    size = max(1, int(REGION * n))
    for k in range(REGIONS):
        if k and budget.exhausted():
            break
        start = int(rng.integers(n))
        region, met = [start], {start}
        for v in region:
            for u in neighbors[offsets[v] : offsets[v + 1]].tolist():
                if len(region) < size and u not in met:
                    met.add(u)
                    region.append(u)
        sides[region] = 1 - sides[region]
        budget.charge(1)
    state.sequence = sides
    return state
