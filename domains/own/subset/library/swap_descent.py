"""Descent by swaps: an item inside and one outside change places wherever that gains.

Method: random pairs; what does not lose is kept. Ends after PATIENCE times n pairs in vain.
Source: E. Aarts, J. K. Lenstra (eds.), "Local Search in Combinatorial Optimization" (1997).
Complexity: one score per pair. Work units: one per score.
"""

import numpy as np
from parts.exchanges import exchange

PATIENCE = 8.0  # tunable: float 1.0..100.0


def run(env_data, state, calc_makespan_fn):
    state.sequence = np.array(state.sequence, dtype=np.int32)
    exchange(env_data, state, calc_makespan_fn(state), calc_makespan_fn, PATIENCE * state.sequence.size)
    return state
