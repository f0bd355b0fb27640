"""A picture of a packing (`dga2d solve --picture FILE`): what fills the capacity, and what was left out."""

from __future__ import annotations

import numpy as np

from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Axis, Dots, Drawing, Panel
from dga2d.domains.skeleton.reader import operator_environment
from dga2d.domains.skeleton.verifier import packed_items, verify_packing


def picture(instance: Instance, state: State) -> Drawing:
    """Draw one dot per item, weight against value; the packed ones are filled.

    Raises
    ------
    InvalidSolutionError
        The state does not pass the verifier.
    """
    environment = operator_environment(instance.data["items"])
    value = require_feasible(verify_packing(environment, state))
    weights, values = environment["weights"], environment["values"]
    chosen = packed_items(environment, state.sequence.tolist())
    points = np.stack((weights, values), axis=1).astype(np.float64)
    words = [f"item {i}: weight {w:g}, value {v:g}" for i, (w, v) in enumerate(points.tolist())]
    panel = Panel(
        (
            Dots(points, 0, words, "left out", radius=4.0, shape="ring"),
            Dots(points[chosen], 0, [words[i] for i in chosen], "packed", radius=4.0),
        ),
        Axis("weight"),
        Axis("value"),
    )
    return Drawing(f"{instance.key}: value {value:g}", ((panel,),))
