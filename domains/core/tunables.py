"""Tunable constants of an implementation, declared in its text.

A tunable is a module constant with a marker comment on its line::

    TENURE = 12  # tunable: int 4..40
    ALPHA = 0.3  # tunable: float 0.05..0.9
    RULE = "mwkr"  # tunable: choice mwkr spt fdd
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from dga2d.domains.core.statements import parse_quietly

Value = int | float | str | bool
TunableKind = Literal["int", "float", "choice"]

WIDE_RATIO = 20.0
"""A positive range with ``high/low`` of at least this is varied on a logarithmic scale."""

_MARKER = re.compile(r"\s*#\s*tunable:\s*(?P<kind>\w+)\s+(?P<range>\S.*?)\s*")
_LINE_END = re.compile(rb"\r\n|\r|\n")


class TunableFault(NamedTuple):
    """A marker that declares nothing usable."""

    line: int
    message: str


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
    SyntaxError
        The text is not Python.
    """
    return tuple(found for found in _scan(source) if isinstance(found, Tunable))


_COMPILERS = frozenset({"njit", "jit", "vectorize", "guvectorize", "cfunc", "stencil", "overload"})


@lru_cache(maxsize=256)
def compiled_part(source: str) -> str:
    """Return the text without the values of tunables on which no machine code depends.

    Texts that have this in common have the machine code in common: their values differ only where nothing
    but plain Python functions reads them, which are not called while the module is loaded.

    Raises
    ------
    SyntaxError
        The text is not Python.
    """
    data = source.encode()
    for tunable in reversed(find_tunables(source)):
        if tunable.name in _read_by_python(source):
            data = data[: tunable.start] + data[tunable.end :]
    return data.decode()


@lru_cache(maxsize=256)
def _read_by_python(source: str) -> frozenset[str]:
    """Return the tunables that plain functions alone read; none where it is unclear what is compiled."""
    module = parse_quietly(source)
    plain = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef) and _is_plain(node)}
    elsewhere: list[ast.AST] = [node for node in module.body if node not in plain.values()]
    elsewhere += [node.args for node in plain.values()]  # defaults and annotations
    nodes = (node for part in elsewhere for node in ast.walk(part))
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if read & plain.keys() or any(map(_compiles, plain.values())) or any(map(_renames, ast.walk(module))):
        return frozenset()
    return frozenset(tunable.name for tunable in find_tunables(source)) - read


def _is_plain(node: ast.FunctionDef) -> bool:
    """Return whether a function and all those inside it are decorated by nothing."""
    return not any(getattr(inner, "decorator_list", ()) for inner in ast.walk(node))


def _compiles(node: ast.AST) -> bool:
    """Return whether a compiler is named somewhere in the code."""
    names = (getattr(inner, "id", getattr(inner, "attr", "")) for inner in ast.walk(node))
    return not _COMPILERS.isdisjoint(names)


def _renames(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and any(
        alias.asname is not None and alias.name in _COMPILERS for alias in node.names
    )


def tunable_faults(source: str) -> tuple[TunableFault, ...]:
    """Return what is wrong with every marker that declares no usable tunable: its constant stays fixed."""
    return tuple(found for found in _scan(source) if isinstance(found, TunableFault))


@lru_cache(maxsize=256)
def _scan(source: str) -> tuple[Tunable | TunableFault, ...]:
    data = source.encode()
    starts = [0, *(match.end() for match in _LINE_END.finditer(data))]
    found: list[Tunable | TunableFault] = []
    for node in parse_quietly(source).body:
        if not isinstance(node, ast.Assign) or node.end_lineno is None or node.end_col_offset is None:
            continue
        value_end = starts[node.end_lineno - 1] + node.end_col_offset
        line_end = _LINE_END.search(data, value_end)
        tail = data[value_end : line_end.start() if line_end else len(data)].decode()
        if re.match(r"\s*#\s*tunable\b", tail):
            value_start = starts[node.value.lineno - 1] + node.value.col_offset
            found.append(_read_declaration(node, tail, value_start, value_end))
    return tuple(found)


def _read_declaration(node: ast.Assign, tail: str, start: int, end: int) -> Tunable | TunableFault:
    """Return the tunable that an assignment and the comment behind it declare, or what is wrong with them."""
    marker = _MARKER.fullmatch(tail)
    if marker is None:
        expected = "expected NAME = VALUE  # tunable: int|float LOW..HIGH or choice WORDS"
        return TunableFault(node.lineno, expected)
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return TunableFault(node.lineno, "a tunable is one plain name")
    name = node.targets[0].id
    value = scalar(node.value)
    if value is None:
        return TunableFault(node.lineno, f"{name} is not a number or a text")
    tunable = _with_range(name, marker["kind"], marker["range"], value, start, end)
    declared = f"{marker['kind']} {marker['range']}"
    if tunable is None:
        return TunableFault(node.lineno, f"{name} has the unknown range {declared}")
    if not tunable.accepts(value):
        return TunableFault(node.lineno, f"{name} = {value!r} is outside its range {declared}")
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
    is_range = bool(dots) and low <= high and math.isfinite(low) and math.isfinite(high - low)
    if not is_range or (kind == "int" and not (low.is_integer() and high.is_integer())):
        return None
    return Tunable(name, "int" if kind == "int" else "float", value, low, high, start=start, end=end)


def _choice(word: str, value: Value) -> Value:
    """Return a word of a choice as a value: text where the constant is text, a literal otherwise."""
    bare = word.strip("'\"")
    if isinstance(value, str):
        return bare
    literal = scalar(bare)
    return bare if literal is None else literal


def scalar(text: ast.expr | str) -> Value | None:
    """Return the number or text that a literal stands for; ``None`` for anything else, however odd."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, int | float | str) else None
