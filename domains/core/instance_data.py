"""What the data of instances are: dataclasses whose arrays nobody may write to.

Readers and generators of exported solvers take this along, which is why it stands alone.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


class ReadOnlyArrays:
    """Base of a dataclass: its arrays become read-only when it is made."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)


def fields_of(data: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name, as `Instance.data` holds them."""
    return {field.name: getattr(data, field.name) for field in fields(data)}
