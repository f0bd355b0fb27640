"""Canonical bytes of payloads: sorted keys, UTF-8, shortest round-trip floats (orjson).

Values that JSON would change silently (NaN and infinities, integers over 64 bits, non-string keys, lone
surrogates) are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any

import orjson
from pydantic import ValidationError

from dga2d.events._errors import CanonicalEncodingError, PayloadError, UnknownEventTypeError
from dga2d.events._payload import Model, Payload
from dga2d.events.payloads import PAYLOAD_TYPES

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

_ALWAYS_LOSSLESS = frozenset({str, bool, type(None)})
_CONTAINERS = frozenset({dict, list, tuple})
_ROWS = frozenset({list, tuple})
_KEYS = frozenset({str})


def _untimed_candidates(test: dict[str, Any]) -> dict[str, Any]:
    """Give each candidate of a test no time limit of its own: it had the run's budget."""
    return {**test, "candidates": [{**c, "time_limit_s": None} for c in test["candidates"]]}


def _without_inheritance(replaced: dict[str, Any]) -> dict[str, Any]:
    """Say that the new implementation inherited no credits."""
    return {**replaced, "inherits_credits": False}


def _without_costs_of_calls(data: dict[str, Any]) -> dict[str, Any]:
    """Say that no time of calls was told apart: nobody looked for it."""
    return {**data, "points": [{**point, "call_s": 0.0} for point in data["points"]]}


UPCASTERS: dict[tuple[str, int], Upcaster] = {
    ("TestStarted", 1): _untimed_candidates,
    ("ImplementationReplaced", 1): _without_inheritance,
    ("WorkRateMeasured", 1): _without_costs_of_calls,
}
"""``(type, old version)`` → function that turns its payload into one of the next version."""


def canonical_bytes(value: Any, path: str = "value") -> bytes:
    """Return the one byte string that stands for `value`; models are written as the dicts of their fields.

    Raises
    ------
    CanonicalEncodingError
        `value` holds something without a canonical form; `path` names the place.
    """
    if not _is_lossless(value):
        _name_what_is_lossy(value, path)
    try:
        return orjson.dumps(value, _fields_of_model, orjson.OPT_SORT_KEYS)
    except (TypeError, orjson.JSONEncodeError) as error:
        raise CanonicalEncodingError(path, str(error)) from error


def _fields_of_model(model: Any) -> dict[str, Any]:
    fields: dict[str, Any] = model.__dict__
    absent = [name for name in model.left_out if fields[name] is None]
    return {name: value for name, value in fields.items() if name not in absent} if absent else fields


class _IsModel(dict[type, bool]):
    """Cache of whether the objects of a type are models: asked for every part of every payload."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = issubclass(kind, Model)
        return self[kind]


_IS_MODEL = _IsModel()


def _is_lossless(value: Any) -> bool:
    """Return whether JSON keeps `value` as it is; texts are checked by the encoder."""
    kind = type(value)
    if kind is list or kind is tuple:
        items = value
        if len(items) > 8 and _ROWS.issuperset(map(type, items)):
            return all(map(_is_lossless_column, zip_longest(*items)))
    elif kind is dict:
        if not _KEYS.issuperset(map(type, value)):
            return False
        items = value.values()
    else:
        items = value.__dict__.values() if _IS_MODEL[kind] else (value,)
    for item in items:  # plain values without a call each: every append and every state digest comes here
        kind = type(item)
        if kind is float:
            if not math.isfinite(item):
                return False
        elif kind is int:
            if not -(2**63) <= item < 2**63:
                return False
        elif kind not in _ALWAYS_LOSSLESS and not (
            (kind in _CONTAINERS or _IS_MODEL[kind]) and _is_lossless(item)
        ):
            return False
    return True


def _is_lossless_column(items: tuple[Any, ...]) -> bool:
    """Return the same for many values that are mostly of one kind, as in a column of a table."""
    kinds = set(map(type, items))
    if kinds <= _ALWAYS_LOSSLESS:
        return True
    if kinds == {float}:
        return all(map(math.isfinite, items))
    if kinds == {int}:
        return fits_64_bits(min(items)) and fits_64_bits(max(items))
    return _is_lossless(items)


def fits_64_bits(number: int) -> bool:
    """Return whether −2⁶³ ≤ number < 2⁶³."""
    return -(2**63) <= number < 2**63


def _name_what_is_lossy(value: Any, path: str) -> None:
    """Raise for the first place in `value` that is not lossless."""
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise CanonicalEncodingError(path, f"key {key!r} is not a string")
            _name_what_is_lossy(item, f"{path}.{key}")
    elif kind is list or kind is tuple:
        for index, item in enumerate(value):
            _name_what_is_lossy(item, f"{path}[{index}]")
    elif _IS_MODEL[kind]:
        _name_what_is_lossy(value.__dict__, path)
    elif not _is_lossless(value):
        reasons = {float: f"{value} is not a finite number", int: f"{value} does not fit in 64 bits"}
        raise CanonicalEncodingError(path, reasons.get(kind, f"a {kind.__name__} has no canonical form"))


def decode_payload(type_name: str, version: int, data: bytes) -> Payload:
    """Return the typed payload stored as `data`.

    Raises
    ------
    UnknownEventTypeError
        The type is not in the registry, or the version is newer than this program.
    PayloadError
        The bytes are not JSON or do not fit the model.
    """
    model = PAYLOAD_TYPES.get(type_name)
    if model is None or version > model.version:
        raise UnknownEventTypeError(type_name, version)
    try:
        if version == model.version:
            payload: Payload = model.__pydantic_validator__.validate_json(data)
            return payload
        return model.model_validate_json(canonical_bytes(upcast(type_name, version, orjson.loads(data))))
    except (ValidationError, orjson.JSONDecodeError) as error:
        raise PayloadError(type_name, str(error).replace("\n", "; ")) from error


def upcast(
    type_name: str,
    version: int,
    data: dict[str, Any],
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
) -> dict[str, Any]:
    """Carry an old payload to its type's current version, one version at a time.

    Raises
    ------
    UnknownEventTypeError
        A step is missing.
    """
    for step in range(version, PAYLOAD_TYPES[type_name].version):
        if (type_name, step) not in upcasters:
            raise UnknownEventTypeError(type_name, step)
        data = upcasters[type_name, step](data)
    return data
