"""Max-Cut as a constraint program for OR-Tools CP-SAT: the baseline to compare with, without any hint."""

from __future__ import annotations

from typing import Any

import numpy as np

from dga2d.domains.core.contract import Instance, State
from dga2d.domains.shared.or_tools import solve_model


def solve(instance: Instance, time_limit_s: float, seed: int, workers: int = 1) -> State | None:
    """Return the heaviest cut CP-SAT finds within `time_limit_s`; ``None`` if it finds none.

    Raises
    ------
    ImportError
        OR-Tools is not installed.
    """
    sides, _ = solve_with_status(instance.data, time_limit_s, seed, workers)
    return None if sides is None else State(np.array(sides, dtype=np.int32))


def solve_with_status(
    data: Any, time_limit_s: float, seed: int, workers: int = 1
) -> tuple[list[int] | None, bool]:
    """Return the side of each vertex, and whether the cut is proven to be the heaviest.

    `data` is `Instance.data`. One binary variable per vertex (vertex 0 stays on side 0) and one per edge,
    which is 1 where the edge is cut; only the inequalities that the sign of the weight calls for are stated.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    side = [model.new_bool_var(f"side{v}") for v in range(data["n_vertices"])]
    model.add(side[0] == 0)
    terms = []
    for k, ((a, b), weight) in enumerate(zip(data["edges"].tolist(), data["weights"].tolist(), strict=True)):
        is_cut = model.new_bool_var(f"cut{k}")
        if weight > 0:
            model.add_bool_or(side[a], side[b], is_cut.negated())
            model.add_bool_or(side[a].negated(), side[b].negated(), is_cut.negated())
        else:
            model.add_bool_or(side[a], side[b].negated(), is_cut)
            model.add_bool_or(side[a].negated(), side[b], is_cut)
        terms.append(weight * is_cut)
    if terms:
        model.maximize(sum(terms))
    solved = solve_model(model, time_limit_s, seed, workers)
    if solved is None:
        return None, False
    return [int(solved.solver.value(variable)) for variable in side], solved.is_proven
