"""A loaded container, drawn."""

from __future__ import annotations

import numpy as np

from dga2d.domains.clp3d.verifier import packing_of, verify_sequence
from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Drawing
from dga2d.domains.shared.packing.picture import packing_drawing


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the container; boxes with the same sides have the same colour and pattern."""
    size, sides = instance.data["bin_size"], instance.data["item_sizes"]
    allowed = instance.data["orientation_allowed"]
    objective = require_feasible(verify_sequence(size, sides, allowed, state))
    packing = packing_of(size, sides, allowed, state.sequence)
    kinds = np.unique(sides, axis=0, return_inverse=True)[1].ravel().tolist()
    packed = int((packing.bins >= 0).sum())
    title = f"{instance.key}: {packed} of {len(sides)} boxes, {objective:.2f} % of the volume"
    return packing_drawing(packing, size.tolist(), kinds, title)
