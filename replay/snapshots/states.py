"""A state as bytes. Its history shares what its generations have in common: graphs, names, credits."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

import orjson
from immutables import Map

from dga2d.events import ImplementationId
from dga2d.replay.snapshots.records import Codec, codec_of
from dga2d.replay.state.credit import CreditTable, Transition, TransitionRecord
from dga2d.replay.state.graph import OperatorGraph
from dga2d.replay.state.run_state import GenerationSummary, RunState

APART = ("graph", "walks", "credits")
"""Fields of a summary that are written in a form of their own."""


def _members(kind: type, without: tuple[str, ...]) -> list[tuple[str, Codec]]:
    hints = get_type_hints(kind)
    return [(f.name, codec_of(hints[f.name])) for f in fields(kind) if f.name not in without]


def encode_state(state: RunState) -> bytes:
    """JSON of a state."""
    values = {name: codec.to_json(getattr(state, name)) for name, codec in _members(RunState, ("history",))}
    return orjson.dumps({**values, "history": _history_to_json(state)})


def decode_state(data: bytes) -> RunState:
    """The state that was encoded as `data`.

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
