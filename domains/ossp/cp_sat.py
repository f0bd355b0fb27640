"""CP-SAT as a baseline of the open shop for side-by-side tables."""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.shared.shops.cp_sat import by_start, solve_shop


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best schedule found within `time_limit_s` seconds of wall-clock time, or ``None``."""
    times = instance.data["times"]
    machines = np.tile(np.arange(times.shape[1]), (len(times), 1))
    starts = solve_shop(machines, times, False, time_limit_s, seed, workers)
    if starts is None:
        return None
    order = by_start(starts, times)
    return State(order.astype(np.int32))
