"""What operators see of an instance: exactly the keys of the card."""

from __future__ import annotations

from typing import Any

from dga2d.domains.skeleton.reader import Items


def operator_environment(items: Items) -> dict[str, Any]:
    """Fresh, writable arrays: operators may scribble on them without harm to the instance."""
    return {
        "num_items": int(items.values.size),
        "capacity": int(items.capacity),
        "values": items.values.copy(),
        "weights": items.weights.copy(),
    }
