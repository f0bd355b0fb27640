"""Equations of the families in JSON files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.rootfind.families import NAMES, RADIUS, TOLERANCE, Equation


def read_equation(path: Path) -> Equation:
    """Read ``{"family": "osc", "x0": [1.2], "r": 1.0, "omega": 3.0, "alpha": 0.1}``.

    Raises
    ------
    InstanceFormatError
        The file is not of that form, or lacks a parameter of its family.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as JSON: {error}") from error
    family = table.get("family") if isinstance(table, dict) else None
    if family not in NAMES:
        raise InstanceFormatError(path, None, f'"family" must be one of {", ".join(NAMES)}, not {family!r}')
    x0 = [_number(path, value) for value in table["x0"]] if isinstance(table.get("x0"), list) else []
    n = 2 if family == "system2d" else 1
    if len(x0) != n:
        raise InstanceFormatError(path, None, f'"x0" must be a list of {n} numbers')
    parameters = [_number(path, table.get(name), name) for name in NAMES[family]]
    if family == "ill" and (parameters[1] != int(parameters[1]) or not 1 <= parameters[1] <= 20):
        raise InstanceFormatError(path, None, '"m" must be a whole number from 1 to 20')
    return Equation(family, np.array(parameters), np.array(x0))


def _number(path: Path, value: Any, name: str = "x0") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e100:
        raise InstanceFormatError(path, None, f'"{name}" must be a finite number, not {value!r}')
    return float(value)


def public_environment(x0: Any) -> dict[str, Any]:
    """Return what operators are told of an equation: nothing of its function."""
    start = np.array(x0, dtype=np.float64)
    return {"dimension": int(start.size), "x0": start, "radius": RADIUS, "tolerance": TOLERANCE}
