"""Bin packing by OR-Tools' CP-SAT solver: a baseline for tables, not an operator.

References
----------
The model of Appendix A.2 of the DGA2D paper: a bin number and a position per item, six relative positions
per pair.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.shared.or_tools import keep_apart, solve_model

MAX_ITEMS = 300
"""Above this the model alone takes longer than any sensible limit."""


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best packing found within `time_limit_s` seconds, without hints; ``None`` if there is none.

    The answer is the items' order by bin, then z, y, x: what the domain's packing rule makes of it
    can need other bins than the solver's own packing. Instances above `MAX_ITEMS` items are not
    tried.
    """
    from ortools.sat.python import cp_model

    size, items = instance.data["bin_size"].tolist(), instance.data["item_sizes"].tolist()
    n = len(items)
    if n > MAX_ITEMS:
        return None
    model = cp_model.CpModel()
    bins = [model.new_int_var(0, item, "") for item in range(n)]
    last = model.new_int_var(0, n - 1, "")
    starts = [[model.new_int_var(0, size[axis] - sides[axis], "") for axis in range(3)] for sides in items]
    ends = [[starts[i][axis] + items[i][axis] for axis in range(3)] for i in range(n)]
    for i in range(n):
        model.add(bins[i] <= last)
        for j in range(i):
            before, after = model.new_bool_var(""), model.new_bool_var("")
            model.add(bins[i] < bins[j]).only_enforce_if(before)
            model.add(bins[i] > bins[j]).only_enforce_if(after)
            keep_apart(model, starts, ends, i, j, [before, after])
    model.minimize(last)
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None
    value = solved.solver.value
    places = [[value(bins[i]), *(value(starts[i][axis]) for axis in (2, 1, 0))] for i in range(n)]
    return State(np.lexsort(np.array(places).T[::-1]).astype(np.int32))
