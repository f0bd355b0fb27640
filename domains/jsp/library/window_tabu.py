"""Tabu search in one window of time after another.

Method: operations that start within a stretch of time cross their block on a critical path (N7), all others
stay where they are. Every critical path passes the window, so a schedule is shorter as soon as the longest
path through the window is; moves cost what the window is, not what the schedule is. The best order found in a
window, of equals the last, is kept. Windows overlap by a half and follow each other over the schedule, pass
after pass, each pass from another place.

Source: C. Zhang, P. Li, Z. Guan, Y. Rao, A tabu search algorithm with a new neighborhood structure for the
job shop scheduling problem, 2007 (moves). Time windows: M. Singer, Decomposition methods for
large job shops, 2001.

Complexity: O(w + b²) per move for windows of w operations and blocks of b.
"""

import numpy as np
from parts.crossing_shop import Shop
from parts.windows import compile_kernels, search_windows


def run(env_data, state, calc_makespan_fn):
    """Improve `state` until the share of the budget is spent or the schedule is proven optimal."""
    shop = Shop(env_data)
    makespan = shop.load(shop.operations(np.asarray(state.sequence)))
    compile_kernels(shop)
    search_windows(shop, makespan, True)
    state.sequence = np.ascontiguousarray(shop.problem[3][shop.topology[0]], dtype=np.int32)
    return state
