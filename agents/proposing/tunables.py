"""Tunable constants of an implementation: found, varied and rewritten in its text.

A tunable is a module constant with a marker comment on its line::

    TENURE = 12  # tunable: int 4..40
    ALPHA = 0.3  # tunable: float 0.05..0.9
    RULE = "mwkr"  # tunable: choice mwkr spt fdd

Rewriting changes the value's own characters and nothing else of the text.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from dga2d.agents.proposing.answers import parse_source

Value = int | float | str | bool
TunableKind = Literal["int", "float", "choice"]

WIDE_RATIO = 20.0
"""A positive range with ``high/low`` of at least this is varied on a logarithmic scale."""
SIGNIFICANT_DIGITS = 4
"""Digits of a varied float."""

_MARKER = re.compile(r"\s*#\s*tunable:\s*(?P<kind>\w+)\s+(?P<range>\S.*?)\s*")
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True)
class Tunable:
    """A constant that may be varied within its declared range."""

    name: str
    kind: TunableKind
    value: Value
    low: float = 0.0
    """Smallest value, inclusive; unused for choices."""
    high: float = 0.0
    """Largest value, inclusive; unused for choices."""
    choices: tuple[Value, ...] = ()
    start: int = 0
    """Byte offset of the value's text in the UTF-8 source."""
    end: int = 0

    @property
    def is_logarithmic(self) -> bool:
        """Whether the range is wide enough to be varied by factors."""
        return self.kind != "choice" and self.low > 0 and self.high / self.low >= WIDE_RATIO

    @property
    def can_vary(self) -> bool:
        """Whether the range holds a second value."""
        return len(self.choices) > 1 if self.kind == "choice" else self.low < self.high

    def accepts(self, value: Value) -> bool:
        """Return whether `value` lies in the declared range and has the declared type."""
        if self.kind == "choice":
            return any(value == choice and type(value) is type(choice) for choice in self.choices)
        expected = int if self.kind == "int" else float
        return type(value) is expected and self.low <= value <= self.high


def find_tunables(source: str) -> tuple[Tunable, ...]:
    """Return the well-formed tunables of a source text, in order.

    Raises
    ------
    ProposalError
        ``syntax``: the text is not Python.
    """
    return tuple(found for found in _scan(source) if isinstance(found, Tunable))


def tunable_faults(source: str) -> tuple[str, ...]:
    """Return one line for every marker that declares no usable tunable: such a constant stays fixed."""
    return tuple(found for found in _scan(source) if isinstance(found, str))


@lru_cache(maxsize=256)
def _scan(source: str) -> tuple[Tunable | str, ...]:
    data = source.encode()
    starts = [0, *(match.end() for match in _LINE_END.finditer(data))]
    found: list[Tunable | str] = []
    for node in parse_source(source).body:
        if not isinstance(node, ast.Assign) or node.end_lineno is None or node.end_col_offset is None:
            continue
        value_end = starts[node.end_lineno - 1] + node.end_col_offset
        line_end = _LINE_END.search(data, value_end)
        tail = data[value_end : line_end.start() if line_end else len(data)].decode()
        if re.match(r"\s*#\s*tunable\b", tail):
            value_start = starts[node.value.lineno - 1] + node.value.col_offset
            found.append(_read_declaration(node, tail, value_start, value_end))
    return tuple(found)


def _read_declaration(node: ast.Assign, tail: str, start: int, end: int) -> Tunable | str:
    """Return the tunable that an assignment and the comment behind it declare, or what is wrong with them."""
    where = f"line {node.lineno}"
    marker = _MARKER.fullmatch(tail)
    if marker is None:
        return f"{where}: expected '# tunable: int|float|choice RANGE'"
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return f"{where}: a tunable is one plain name"
    name = node.targets[0].id
    try:
        value = ast.literal_eval(node.value)
    except ValueError:
        return f"{where}: {name} is not a literal"
    tunable = _with_range(name, marker["kind"], marker["range"], value, start, end)
    if tunable is None:
        return f"{where}: {name} has the unknown range {marker['kind']} {marker['range']}"
    if not tunable.accepts(value):
        return f"{where}: {name} = {value!r} is outside its range {marker['kind']} {marker['range']}"
    return tunable


def _with_range(name: str, kind: str, text: str, value: Value, start: int, end: int) -> Tunable | None:
    if kind == "choice":
        words = [word for word in re.split(r"[\s,|]+", text) if word]
        choices = tuple(dict.fromkeys(_choice(word, value) for word in words))
        return Tunable(name, "choice", value, choices=choices, start=start, end=end)
    if kind not in ("int", "float"):
        return None
    low_text, dots, high_text = text.partition("..")
    try:
        low, high = float(low_text), float(high_text)
    except ValueError:
        return None
    is_range = bool(dots) and low <= high and math.isfinite(low) and math.isfinite(high)
    if not is_range or (kind == "int" and not (low.is_integer() and high.is_integer())):
        return None
    return Tunable(name, "int" if kind == "int" else "float", value, low, high, start=start, end=end)


def _choice(word: str, value: Value) -> Value:
    """Return a word of a choice as a value: text where the constant is text, a literal otherwise."""
    bare = word.strip("'\"")
    if isinstance(value, str):
        return bare
    try:
        literal: Value = ast.literal_eval(bare)
    except (ValueError, SyntaxError):
        return bare
    return literal


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
