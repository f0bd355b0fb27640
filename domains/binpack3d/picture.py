"""A packing of all bins, drawn."""

from __future__ import annotations

from dga2d.domains.binpack3d.verifier import packing_of, verify_sequence
from dga2d.domains.core.contract import Instance, State, require_feasible
from dga2d.domains.drawing import Drawing
from dga2d.domains.shared.packing.picture import packing_drawing


def picture(instance: Instance, state: State) -> Drawing:
    """Draw the bins; an item has the same colour and pattern wherever it lies."""
    size, items = instance.data["bin_size"], instance.data["item_sizes"]
    objective = require_feasible(verify_sequence(size, items, state))
    packing = packing_of(size, items, state.sequence)
    n_bins = int(packing.bins.max()) + 1
    title = f"{instance.key}: {len(items)} items in {n_bins} bins (score {objective:.4f})"
    return packing_drawing(packing, size.tolist(), range(len(items)), title)
