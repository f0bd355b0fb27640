"""Instances in files: JSON with the system, its parameters, the initial state and a reference.

    {"system": "lorenz", "parameters": {"sigma": 10, "rho": 28, "beta": 2.6666666666666665},
     "initial": [1, 1, 1], "reference": ["-5.37…", "-3.2…", "25.4…"]}

The reference is the exact solution at the system's end as decimal numbers, in quotes so that no digit is
lost: without it there is no error and no score.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.core.errors import InstanceFormatError
from dga2d.domains.ode.suite import generate
from dga2d.domains.ode.systems import NOMINAL_STEP, SYSTEMS

SUFFIXES = (".json",)
FIELDS = ("system", "parameters", "initial", "reference")


def read_fields(path: Path) -> Mapping[str, Any]:
    """Read one file.

    Raises
    ------
    InstanceFormatError
        The file is missing, is no JSON object of the four fields, names no system, or has parameters, numbers
        of unknowns or entries that the system does not have.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InstanceFormatError(path, None, f"is no JSON file: {error}") from error
    if not isinstance(fields, dict) or sorted(fields) != sorted(FIELDS):
        raise InstanceFormatError(path, None, f"expected an object of {', '.join(FIELDS)}")
    name = fields["system"]
    if not isinstance(name, str) or name not in SYSTEMS:
        raise InstanceFormatError(path, None, f"expected a system of {', '.join(SYSTEMS)}, got {name!r:.60}")
    n = SYSTEMS[name].dimension
    initial = _numbers(path, "initial", fields["initial"], (n,))
    return {
        "system": name,
        "parameters": _parameters(path, name, fields["parameters"]),
        "initial": initial,
        "reference": _decimals(path, fields["reference"], n),
    }


def _parameters(path: Path, system: str, given: Any) -> dict[str, Any]:
    example = generate(system, "design")
    assert example is not None
    expected: dict[str, Any] = example["parameters"]
    if not isinstance(given, dict) or sorted(given) != sorted(expected):
        raise InstanceFormatError(path, None, f"parameters of {system} are {', '.join(expected)}")
    found = {key: _numbers(path, key, given[key], np.shape(value)) for key, value in expected.items()}
    return {key: value if value.ndim else float(value) for key, value in found.items()}


def _numbers(path: Path, name: str, given: Any, shape: tuple[int, ...]) -> Any:
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InstanceFormatError(path, None, f"{name}: expected numbers") from None
    if found.shape != shape or not np.isfinite(found).all():
        raise InstanceFormatError(
            path, None, f"{name}: expected finite numbers of shape {shape}, got {found.shape}"
        )
    found.flags.writeable = False
    return found


def _decimals(path: Path, given: Any, n: int) -> tuple[Decimal, ...]:
    if not isinstance(given, list) or len(given) != n:
        raise InstanceFormatError(path, None, f"reference: expected {n} decimal numbers")
    try:
        found = tuple(Decimal(str(number)) for number in given)
    except InvalidOperation:
        raise InstanceFormatError(path, None, "reference: expected decimal numbers") from None
    if not all(number.is_finite() and abs(number) < Decimal("1e300") for number in found):
        raise InstanceFormatError(path, None, "reference: expected finite decimal numbers")
    return found


def operator_environment(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card's keys but the functions; fresh, writable arrays."""
    system = SYSTEMS[data["system"]]
    return {
        "y0": np.array(data["initial"], dtype=np.float64),
        "t_end": system.end,
        "dimension": system.dimension,
        "nominal_step": NOMINAL_STEP,
        "autonomous": 1,
    }


def environment_of_file(path: Path) -> dict[str, Any]:
    """Return what operators see of the instance in a file; raises InstanceFormatError."""
    return operator_environment(read_fields(path))
