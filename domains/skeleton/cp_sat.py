"""The problem as a model for OR-Tools CP-SAT: a baseline to compare with (`dga2d solve --method cp-sat`)."""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.shared.or_tools import solve_model


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best packing CP-SAT finds within `time_limit_s`; ``None`` if it finds none.

    Raises
    ------
    ImportError
        OR-Tools is not installed.
    """
    from ortools.sat.python import cp_model

    items = instance.data["items"]
    values, weights = items.values.tolist(), items.weights.tolist()
    model = cp_model.CpModel()
    packed = [model.new_bool_var(f"packed{item}") for item in range(len(values))]
    model.add(sum(w * x for w, x in zip(weights, packed, strict=True)) <= items.capacity)
    model.maximize(sum(v * x for v, x in zip(values, packed, strict=True)))
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None
    is_left_out = [solved.solver.value(x) == 0 for x in packed]
    return State(np.argsort(is_left_out, kind="stable").astype(np.int32))
