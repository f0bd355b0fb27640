"""Instances of a problem in one file as fields: numbers, texts and arrays by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dga2d.domains.core.contract import GIVEN_TO_ALL
from dga2d.domains.core.errors import DomainError, InstanceFormatError
from dga2d.domains.own.encodings import PREFIX
from dga2d.domains.own.problem import Fields, Problem
from dga2d.domains.own.scoring import AUTHORS_ERRORS, WHOLE, fault

KINDS = {"b": np.int64, "i": np.int64, "u": np.int64, "f": np.float64}
"""Kind of array → its element type for operators."""


def fields_from(problem: Problem, value: Any, key: str, part: str = "instances") -> Fields:
    """Return the fields of an instance that a `part` of the problem gave; a number, a text, an array or a
    list that makes one is a single field.

    Raises
    ------
    ProblemFaultError
        It holds what is no number, text or array of numbers.
    """
    if isinstance(value, Fields):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif isinstance(value, (bool, int, float, str, np.generic, np.ndarray, list)) or type(value) is tuple:
        return Fields({WHOLE: _plain(problem, value, WHOLE, key, part)})
    elif not isinstance(value, Mapping):
        value = getattr(value, "_asdict", lambda: getattr(value, "__dict__", None))()
    if not isinstance(value, Mapping) or not value:
        hint = "is no number, array, mapping, dataclass or object with attributes that hold its data"
        raise fault(problem, part, key, hint)
    return Fields(
        {str(name): _plain(problem, member, str(name), key, part) for name, member in value.items()}
    )


def _plain(problem: Problem, value: Any, name: str, key: str, part: str) -> Any:
    if not name.isidentifier() or name.startswith(PREFIX):
        hint = f"has a field {name!r}; expected a Python name that does not begin with {PREFIX!r}"
        raise fault(problem, part, key, hint)
    if name in GIVEN_TO_ALL:
        hint = f"has a field {name!r}, a name under which operators find something else; rename the field"
        raise fault(problem, part, key, hint)
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, str):
        return value
    try:
        array = np.array(value)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in KINDS:
        hint = (
            f"field {name!r} is a {type(value).__name__} that is no number, text or rectangular array of "
            "numbers; split it into fields that are"
        )
        raise fault(problem, part, key, hint)
    return np.ascontiguousarray(array, dtype=KINDS[array.dtype.kind])


def read_fields(problem: Problem, path: Path) -> Fields:
    """Return the fields of the instance in a file.

    Raises
    ------
    InstanceFormatError
        The problem's `read` fails, or gives what is no instance.
    """
    try:
        return fields_from(problem, problem.read(path), str(path), "read")
    except DomainError:
        raise
    except AUTHORS_ERRORS as error:  # whatever the author's reader raises
        reason = f"cannot be read: {type(error).__name__}: {error}"
        raise InstanceFormatError(path, getattr(error, "lineno", None), reason) from error
