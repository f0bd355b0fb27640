"""The first place at which two payloads differ, in words."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import orjson

from dga2d.events import Payload, canonical_bytes, encode_payload
from dga2d.replay.errors import DecisionMismatchError

SHOWN_CHARS = 120


def require_same(expected: Payload, got: Payload, seq: int, agent: str) -> None:
    """Compare the canonical bytes of a decision made again with those of the recorded one.

    Raises
    ------
    DecisionMismatchError
        They differ; the error names the first field, by path.
    """
    event_type = type(got).__name__
    if type(expected) is not type(got):
        wanted = f"{type(expected).__name__} {shown(expected.model_dump())}"
        raise DecisionMismatchError(seq, event_type, agent, "type", wanted, event_type)
    ours, theirs = encode_payload(expected), encode_payload(got)
    if ours != theirs:
        found = first_difference(orjson.loads(ours), orjson.loads(theirs), "payload")
        assert found is not None
        raise DecisionMismatchError(seq, event_type, agent, *found)


def first_difference(expected: Any, got: Any, path: str) -> tuple[str, str, str] | None:
    """Path, expected and recorded value of the first difference of two JSON values, ``None`` if equal.

    Keys are compared in sorted order, lists from the front; a missing item is shown as ``nothing``.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted({*expected, *got}):
            if key not in expected or key not in got:
                return f"{path}.{key}", _item(expected, key), _item(got, key)
            if found := first_difference(expected[key], got[key], f"{path}.{key}"):
                return found
        return None
    if isinstance(expected, list) and isinstance(got, list):
        for index in range(max(len(expected), len(got))):
            if index >= min(len(expected), len(got)):
                missing = [shown(side[index]) if index < len(side) else "nothing" for side in (expected, got)]
                return f"{path}[{index}]", missing[0], missing[1]
            if found := first_difference(expected[index], got[index], f"{path}[{index}]"):
                return found
        return None
    ours, theirs = (canonical_bytes(value).decode() for value in (expected, got))
    if ours == theirs:
        return None
    pairs = enumerate(zip_longest(ours, theirs))
    place = next(index for index, (one, other) in pairs if one != other)
    return path, _around(ours, place), _around(theirs, place)


def _item(values: dict[str, Any], key: str) -> str:
    return shown(values[key]) if key in values else "nothing"


def shown(value: Any) -> str:
    """A value as JSON on one line, shortened."""
    return _around(canonical_bytes(value).decode(), 0)


def _around(text: str, place: int) -> str:
    """A text, of a long one the part with `place` in it."""
    if len(text) <= SHOWN_CHARS:
        return text
    start = min(max(0, place - SHOWN_CHARS // 2), len(text) - SHOWN_CHARS + 2)
    before, after = "…" if start else "", "…" if start + SHOWN_CHARS - 2 < len(text) else ""
    return f"{before}{text[start : start + SHOWN_CHARS - 2]}{after}"
