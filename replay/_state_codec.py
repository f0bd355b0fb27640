"""States as bytes and back.

Records are written by their annotations; no code is ever read from a file. The history shares what its
generations have in common: graphs, names, credits.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
import orjson
from immutables import Map
from msgspec.structs import astuple
from pydantic import BaseModel

from dga2d.events import ImplementationId
from dga2d.replay.state.credit import CreditTable, Transition, TransitionRecord
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.run_state import GenerationSummary, RunState

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
    """Return the codec of an annotation: plain values, tuples, frozen sets, maps, records of any make,
    models; bytes are those of JSON.

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


APART = ("graph", "walks", "credits")
"""Fields of a summary that are written in a form of their own."""


def _members(kind: type, without: tuple[str, ...]) -> list[tuple[str, Codec]]:
    hints = get_type_hints(kind)
    return [(f.name, codec_of(hints[f.name])) for f in fields(kind) if f.name not in without]


def encode_state(state: RunState) -> bytes:
    """Return a state as JSON."""
    values = {name: codec.to_json(getattr(state, name)) for name, codec in _members(RunState, ("history",))}
    return orjson.dumps({**values, "history": _history_to_json(state)})


def decode_state(data: bytes) -> RunState:
    """Return the state that was encoded as `data`.

    Raises
    ------
    ValueError, TypeError, LookupError
        It is not one, or one of another version of this program.
    """
    values = orjson.loads(data)
    members = {name: codec.from_json(values[name]) for name, codec in _members(RunState, ("history",))}
    return RunState(**members, history=_history_from_json(values["history"]))


def _history_to_json(state: RunState) -> dict[str, Any]:
    members = _members(GenerationSummary, APART)
    graphs: dict[OperatorGraph, int] = {}
    names: dict[str, int] = {}
    rows = []
    before: Map[Transition, TransitionRecord] = Map()
    for _, summary in sorted(state.history.items()):
        records = summary.credits.records
        row = {name: codec.to_json(getattr(summary, name)) for name, codec in members}
        row["graph"] = graphs.setdefault(summary.graph, len(graphs))
        row["walks"] = [[names.setdefault(c, len(names)) for c in walk] for walk in summary.walks]
        row["order"] = summary.credits.order
        row["gone"] = [list(t) for t in before if t not in records]
        row["credits"] = [[*t, *r] for t, r in summary.credits.ordered if before.get(t) != r]
        rows.append(row)
        before = records
    graph = codec_of(OperatorGraph)
    return {"graphs": [graph.to_json(g) for g in graphs], "names": list(names), "rows": rows}


def _history_from_json(values: dict[str, Any]) -> Map[int, GenerationSummary]:
    members = _members(GenerationSummary, APART)
    graphs = [codec_of(OperatorGraph).from_json(value) for value in values["graphs"]]
    name_of = [ImplementationId(name) for name in values["names"]].__getitem__
    records: Map[Transition, TransitionRecord] = Map()
    found = {}
    for row in values["rows"]:
        changed = {Transition(s, t): TransitionRecord(credit, n) for s, t, credit, n in row["credits"]}
        records = records.update(changed)
        for pair in row["gone"]:
            records = records.delete(Transition(*pair))
        summary = GenerationSummary(
            **{name: codec.from_json(row[name]) for name, codec in members},
            graph=graphs[row["graph"]],
            walks=tuple(tuple(map(name_of, walk)) for walk in row["walks"]),
            credits=CreditTable(records, row["order"]),
        )
        found[summary.number] = summary
    return Map(found)
