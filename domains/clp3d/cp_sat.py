"""Container loading by OR-Tools' CP-SAT solver: a baseline for tables, not an operator.

References
----------
The model of Appendix A.2 of the DGA2D paper, with the permitted orientations added: is an item packed, how is
it turned, where does it lie; six relative positions per pair of items.
"""

from __future__ import annotations

import numpy as np

from dga2d.domains.clp3d.reader import COLUMNS
from dga2d.domains.core.contract import Instance, State
from dga2d.domains.shared.or_tools import keep_apart, solve_model

MAX_ITEMS = 300
"""Above this the model alone takes longer than any sensible limit."""


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the best loading found within `time_limit_s` seconds, without hints; ``None`` if there is none.

    The answer is the packed items' order by z, y, x, then the items left out by falling volume:
    what the domain's packing rule makes of it can differ from the solver's own loading. Instances
    above `MAX_ITEMS` items are not tried.
    """
    from ortools.sat.python import cp_model

    size, items = instance.data["bin_size"].tolist(), instance.data["item_sizes"].tolist()
    n, volumes = len(items), [a * b * c for a, b, c in items]
    if n > MAX_ITEMS:
        return None
    model = cp_model.CpModel()
    is_packed = [model.new_bool_var("") for _ in range(n)]
    starts = [[model.new_int_var(0, length, "") for length in size] for _ in range(n)]
    ends = []
    for i, flags in enumerate(instance.data["orientation_allowed"].tolist()):
        turned = [model.new_bool_var("") for _ in COLUMNS]
        model.add_exactly_one(turned)
        for literal, flag in zip(turned, flags, strict=True):
            if not flag:
                model.add(literal == 0)
        ends.append(
            [
                starts[i][axis]
                + sum(
                    items[i][column[axis]] * literal for column, literal in zip(COLUMNS, turned, strict=True)
                )
                for axis in range(3)
            ]
        )
        for axis in range(3):
            model.add(ends[i][axis] <= size[axis]).only_enforce_if(is_packed[i])
        for j in range(i):
            keep_apart(model, starts, ends, i, j, [~is_packed[i], ~is_packed[j]])
    model.add(sum(v * s for v, s in zip(volumes, is_packed, strict=True)) <= size[0] * size[1] * size[2])
    model.maximize(sum(v * s for v, s in zip(volumes, is_packed, strict=True)))
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None
    value = solved.solver.value
    places = []
    for i in range(n):
        at = [value(starts[i][axis]) for axis in (2, 1, 0)]
        places.append([0, *at] if value(is_packed[i]) else [1, -volumes[i], 0, 0])
    return State(np.lexsort(np.array(places).T[::-1]).astype(np.int32))
