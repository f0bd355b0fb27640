"""The instances and their reference states, both out of ``references.json``.

The file is written by ``benchmarks/ode_references.py``. It holds a seed of 128 bits for every instance, so
that knowing the generator is not knowing the parameters, and the terminal states to 30 digits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.core.contract import InstanceRef, Part
from dga2d.domains.ode.systems import SYSTEMS

TABLE = Path(__file__).with_name("references.json")
VALIDATION, TEST = 8, 4
"""Instances of each system besides the one that algorithms are designed on."""


def names() -> Mapping[str, Part]:
    """Return the instances of each system and the part that they belong to."""
    parts: dict[str, Part] = {"design": "train"}
    parts |= {f"validation{i}": "validation" for i in range(1, VALIDATION + 1)}
    parts |= {f"test{i}": "test" for i in range(1, TEST + 1)}
    return parts


def generated_refs() -> tuple[InstanceRef, ...]:
    """Return all instances, sorted by key."""
    found = [
        InstanceRef("ode", system, name, None, part=part)
        for system in SYSTEMS
        for name, part in names().items()
    ]
    return tuple(sorted(found, key=lambda ref: ref.key))


def draw(system: str, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Return the parameters and the initial state, float64 `(n,)`, of the instance with a seed."""
    return SYSTEMS[system].draw(np.random.default_rng(seed))


@cache
def table() -> Mapping[str, Any]:
    """Return the file: ``error_bound``, and ``seeds`` (hexadecimal) and ``states`` (decimals) by key."""
    found: Mapping[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def generate(system: str, name: str) -> Mapping[str, Any] | None:
    """Return `Instance.data`: ``system``, ``parameters``, ``initial``, ``reference`` (decimals); ``None``
    for a name that the suite does not have."""
    seed = table()["seeds"].get(f"{system}/{name}")
    if seed is None:
        return None
    parameters, initial = draw(system, int(seed, 16))
    initial.flags.writeable = False
    reference = tuple(Decimal(number) for number in table()["states"][f"{system}/{name}"])
    return {"system": system, "parameters": parameters, "initial": initial, "reference": reference}
