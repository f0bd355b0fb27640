"""CP-SAT as a baseline of the job shop for side-by-side tables."""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.shared.shops.cp_sat import shop_order


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best schedule found within `time_limit_s` seconds of wall-clock time, or ``None``."""
    machines, times = instance.data["machines"], instance.data["times"]
    order = shop_order(machines, times, True, time_limit_s, seed, workers)
    return None if order is None else State((order // times.shape[1]).astype(np.int32))
