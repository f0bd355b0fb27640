"""Tunable constants varied and rewritten in the text of an implementation.

Rewriting changes the value's own characters and nothing else of the text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dga2d.domains.core.tunables import Tunable, Value, find_tunables

SIGNIFICANT_DIGITS = 4
"""Digits of a varied float."""


def rewrite(source: str, values: Mapping[str, Value]) -> str:
    """Return the source with new values for some of its tunables; every other byte stays.

    Raises
    ------
    ValueError
        A name is no tunable of the source, or its value is outside the declared range.
    """
    tunables = {tunable.name: tunable for tunable in find_tunables(source)}
    data = source.encode()
    for name in sorted(values, key=lambda key: -tunables[key].start if key in tunables else 0):
        if name not in tunables:
            raise ValueError(f"{name} is not a tunable of this source")
        tunable, value = tunables[name], values[name]
        if not tunable.accepts(value):
            raise ValueError(f"{value!r} is outside the range of {name}")
        if value != tunable.value:
            data = data[: tunable.start] + _literal(value).encode() + data[tunable.end :]
    return data.decode()


def _literal(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def vary(tunable: Tunable, rng: np.random.Generator) -> Value:
    """Draw another value within the range: usually a step of about a fifth of it, sometimes anywhere.

    Small integer ranges and choices are drawn evenly from the other values. The tunable must be able to
    vary.
    """
    if tunable.kind == "choice":
        others = [choice for choice in tunable.choices if choice != tunable.value]
        return others[int(rng.integers(len(others)))]
    assert not isinstance(tunable.value, str)
    is_fresh = rng.random() < 0.2 or (tunable.kind == "int" and tunable.high - tunable.low <= 8)
    here = _to_scale(tunable, float(tunable.value))
    there = float(rng.random()) if is_fresh else here + float(rng.normal(0.0, 0.2))
    return _nearest_other(tunable, _from_scale(tunable, min(max(there, 0.0), 1.0)), upwards=there >= here)


def step_away(tunable: Tunable, worse: Value, factor: float) -> Value | None:
    """Return the value moved on by `factor` times its distance from a `worse` value of the same constant.

    ``None`` for choices and where the two values are equal or of different kinds.
    """
    if tunable.kind == "choice" or not tunable.accepts(worse) or worse == tunable.value:
        return None
    here, there = _to_scale(tunable, float(tunable.value)), _to_scale(tunable, float(worse))
    target = min(max(here + factor * (here - there), 0.0), 1.0)
    return _round(tunable, _from_scale(tunable, target))


def _to_scale(tunable: Tunable, value: float) -> float:
    """Return the position of a value in its range: 0 at the lower end, 1 at the upper."""
    if tunable.is_logarithmic:
        return math.log(value / tunable.low) / math.log(tunable.high / tunable.low)
    return (value - tunable.low) / (tunable.high - tunable.low)


def _from_scale(tunable: Tunable, position: float) -> float:
    if tunable.is_logarithmic:
        return tunable.low * math.pow(tunable.high / tunable.low, position)
    return tunable.low + position * (tunable.high - tunable.low)


def _round(tunable: Tunable, value: float) -> Value:
    if tunable.kind == "int":
        return min(max(round(value), int(tunable.low)), int(tunable.high))
    return min(max(float(f"{value:.{SIGNIFICANT_DIGITS}g}"), tunable.low), tunable.high)


def _nearest_other(tunable: Tunable, value: float, *, upwards: bool) -> Value:
    """Return `value` rounded to the kind; if that is the current value, a neighbour of it."""
    rounded = _round(tunable, value)
    if rounded != tunable.value:
        return rounded
    if tunable.kind == "float":
        return tunable.low if tunable.value != tunable.low else tunable.high
    assert isinstance(tunable.value, int)
    is_up = tunable.value < tunable.high if upwards else tunable.value <= tunable.low
    return tunable.value + (1 if is_up else -1)
