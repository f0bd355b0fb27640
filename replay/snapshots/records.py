"""Immutable records as JSON values and back, by their annotations; no code is ever read from a file."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from immutables import Map
from msgspec.structs import astuple
from pydantic import BaseModel

Convert = Callable[[Any], Any]


class Codec(NamedTuple):
    """Both directions for one type."""

    to_json: Convert
    from_json: Convert


def _same(value: Any) -> Any:
    return value


SAME = Codec(_same, _same)


@cache
def codec_of(hint: Any) -> Codec:
    """The codec of an annotation: plain values, tuples, frozen sets, maps, records of any make, models;
    bytes are those of JSON.

    Raises
    ------
    TypeError
        There is no such codec.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hasattr(hint, "__supertype__"):
        return codec_of(hint.__supertype__)
    if origin is Literal or hint in (int, float, str, bool, type(None)):
        return SAME
    if hint is bytes:
        return Codec(bytes.decode, str.encode)
    if origin in (Union, types.UnionType):
        return _optional(arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is frozenset:
        item = codec_of(arguments[0])
        return Codec(
            lambda value: sorted(map(item.to_json, value)),
            lambda value: frozenset(map(item.from_json, value)),
        )
    if isinstance(origin, type) and issubclass(origin, Mapping | Map):
        return _map(dict if origin is dict else Map, *arguments)
    if isinstance(hint, type):
        return _record(hint)
    raise TypeError(f"no codec for {hint!r}")


def _optional(arguments: tuple[Any, ...]) -> Codec:
    kinds = [kind for kind in arguments if kind is not type(None)]
    if len(kinds) != 1:
        raise TypeError(f"no codec for a union of {kinds}")
    item = codec_of(kinds[0])
    return Codec(
        lambda value: None if value is None else item.to_json(value),
        lambda value: None if value is None else item.from_json(value),
    )


def _tuple(arguments: tuple[Any, ...]) -> Codec:
    if arguments[-1] is Ellipsis:
        item = codec_of(arguments[0])
        if item is SAME:
            return Codec(list, tuple)
        return Codec(
            lambda value: [item.to_json(i) for i in value],
            lambda value: tuple(item.from_json(i) for i in value),
        )
    items = [codec_of(kind) for kind in arguments]
    return Codec(
        lambda value: [c.to_json(i) for c, i in zip(items, value, strict=True)],
        lambda value: tuple(c.from_json(i) for c, i in zip(items, value, strict=True)),
    )


def _map(make: Callable[[Iterable[tuple[Any, Any]]], Any], key_type: Any, value_type: Any) -> Codec:
    key, item = codec_of(key_type), codec_of(value_type)
    return Codec(
        lambda value: sorted(([key.to_json(k), item.to_json(v)] for k, v in value.items()), key=_first),
        lambda value: make((key.from_json(k), item.from_json(v)) for k, v in value),
    )


def _first(pair: list[Any]) -> Any:
    return pair[0]


def _record(kind: type) -> Codec:
    if issubclass(kind, BaseModel):
        return Codec(lambda value: value.model_dump(mode="json"), kind.model_validate)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        whole = _tuple(tuple(hints[name] for name in kind._fields))
        return Codec(whole.to_json, lambda value: kind(*whole.from_json(value)))
    hints = get_type_hints(kind)
    if issubclass(kind, msgspec.Struct):
        names = kind.__struct_fields__
        if kind.__struct_config__.array_like:
            row = _tuple(tuple(hints[name] for name in names))
            return Codec(lambda value: row.to_json(astuple(value)), lambda value: kind(*row.from_json(value)))
    elif is_dataclass(kind):
        names = tuple(field.name for field in fields(kind))
    else:
        raise TypeError(f"no codec for {kind!r}")
    members = [(name, codec_of(hints[name])) for name in names]
    return Codec(
        lambda value: {name: c.to_json(getattr(value, name)) for name, c in members},
        lambda value: kind(**{name: c.from_json(value[name]) for name, c in members}),
    )
