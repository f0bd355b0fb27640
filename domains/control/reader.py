"""Episodes in JSON files: a system, its parameters and an initial state.

{"system": "pendulum", "x0": [3.0, 0.0], "mass": 1.1, "length": 0.9}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.control.plants import ANGLES, PARAMETERS, SYSTEMS, Episode, wrap_angle
from dga2d.domains.core.errors import InstanceFormatError

SUFFIXES = (".json",)


def read_episode(path: Path) -> Episode:
    """Read one file; a parameter that is not named is the nominal one.

    Raises
    ------
    InstanceFormatError
        The file is not of that form, names something else, or holds no finite numbers.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InstanceFormatError(path, None, f"cannot be read as JSON: {error}") from error
    name = table.get("system") if isinstance(table, dict) else None
    if not isinstance(name, str) or name not in SYSTEMS:
        raise InstanceFormatError(
            path, None, f'"system" must be one of {", ".join(SYSTEMS)}, not {name!r:.60}'
        )
    system = SYSTEMS[name]
    n = len(system.initial)
    given = table.get("x0")
    if not isinstance(given, list) or len(given) != n:
        raise InstanceFormatError(path, None, f'"x0" must be a list of {n} numbers')
    x0 = np.array([_number(path, "x0", value) for value in given])
    angles = list(ANGLES[system.model])
    x0[angles] = wrap_angle(x0[angles])
    names = PARAMETERS.get(system.model, ())
    unknown = sorted(set(table) - {"system", "x0", *names})
    if unknown:
        raise InstanceFormatError(path, None, f'"{unknown[0]}" is no parameter of {name}')
    parameters = np.array(system.nominal)
    for index, parameter in enumerate(names):
        if parameter in table:
            parameters[index] = _number(path, parameter, table[parameter])
            if not parameters[index] > 0.0:
                raise InstanceFormatError(path, None, f'"{parameter}" must be above 0')
    return Episode(name, parameters, x0)


def _number(path: Path, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e6:
        raise InstanceFormatError(
            path, None, f'"{name}" must be a finite number below 1e6, not {value!r:.60}'
        )
    return float(value)
