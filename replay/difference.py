"""Differences between two states, and between a decision made again and the recorded one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

import orjson

from dga2d.events import Payload, canonical_bytes, encode_payload
from dga2d.replay.errors import DecisionMismatchError
from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.run_state import RunState, ScoredProgram


def compare_states(before: RunState, after: RunState) -> dict[str, Any]:
    """Return everything that differs, as plain JSON-able values; parts without a difference are left out.

    A change is a pair of the value before and the value after, ``None`` where there was none.
    """
    found = {
        "settings": _changes(before.settings.model_dump(), after.settings.model_dump()),
        "operators": _exchanges(_operators(before), _operators(after)),
        "edges": _exchanges(_edges(before), _edges(after)),
        "pools": {
            operator: difference
            for operator in sorted({*before.pools, *after.pools})
            if (difference := _exchanges(before.pools.get(operator, ()), after.pools.get(operator, ())))
        },
        "credits": _changes(_credits(before), _credits(after)),
        "budget": _changes(_budget(before), _budget(after)),
        "progress": _changes(_progress(before), _progress(after)),
        "state_digest": _changes({"": state_digest(before)}, {"": state_digest(after)}).get(""),
    }
    return {key: value for key, value in found.items() if value}


def first_divergence(one: RunState, other: RunState) -> int | None:
    """Return the first generation after which the recorded digests of two runs differ; ``None`` if they are
    alike wherever both closed one."""
    both = sorted(set(one.history) & set(other.history))
    return next((t for t in both if one.history[t].state_digest != other.history[t].state_digest), None)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    keys = sorted({*before, *after})
    return {key: [before.get(key), after.get(key)] for key in keys if before.get(key) != after.get(key)}


def _exchanges(before: Iterable[str], after: Iterable[str]) -> dict[str, list[str]]:
    old, new = set(before), set(after)
    parts = {"removed": sorted(old - new), "added": sorted(new - old)}
    return {key: value for key, value in parts.items() if value}


def _operators(state: RunState) -> tuple[str, ...]:
    return () if state.graph is None else state.graph.operators


def _edges(state: RunState) -> list[str]:
    return [] if state.graph is None else [f"{source} → {target}" for source, target in state.graph.edges]


def _credits(state: RunState) -> dict[str, Any]:
    return {f"{t.source} → {t.target}": [r.credit, r.activations] for t, r in state.credits.ordered}


def _budget(state: RunState) -> dict[str, Any]:
    ledger = state.ledger
    return {
        "calls": ledger.used,
        "calls_left": ledger.left,
        "prompt_tokens": ledger.prompt_tokens,
        "completion_tokens": ledger.completion_tokens,
        "cost_usd": ledger.cost_usd,
    }


def _progress(state: RunState) -> dict[str, Any]:
    return {
        "status": state.status,
        "events": state.seq,
        "generations": state.completed,
        "policy_updates": state.policy_updates,
        "best": _program(state.best),
        "checkpoint": _program(state.checkpoint),
    }


def _program(program: ScoredProgram | None) -> dict[str, Any] | None:
    if program is None:
        return None
    return {
        "generation": program.generation,
        "score": program.score,
        "pipeline": [step.implementation for step in program.steps],
    }


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
        wanted = f"{type(expected).__name__} {shorten(expected.model_dump())}"
        raise DecisionMismatchError(seq, event_type, agent, "type", wanted, event_type)
    ours, theirs = encode_payload(expected), encode_payload(got)
    if ours != theirs:
        found = first_difference(orjson.loads(ours), orjson.loads(theirs), "payload")
        assert found is not None
        raise DecisionMismatchError(seq, event_type, agent, *found)


def first_difference(expected: Any, got: Any, path: str) -> tuple[str, str, str] | None:
    """Return path, expected and recorded value of the first difference of two JSON values, ``None`` if equal.

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
                missing = [
                    shorten(side[index]) if index < len(side) else "nothing" for side in (expected, got)
                ]
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
    return shorten(values[key]) if key in values else "nothing"


def shorten(value: Any) -> str:
    """Return a value as JSON on one line, shortened."""
    return _around(canonical_bytes(value).decode(), 0)


def _around(text: str, place: int) -> str:
    """Return a text, or of a long one the part around `place`."""
    if len(text) <= SHOWN_CHARS:
        return text
    start = min(max(0, place - SHOWN_CHARS // 2), len(text) - SHOWN_CHARS + 2)
    before, after = "…" if start else "", "…" if start + SHOWN_CHARS - 2 < len(text) else ""
    return f"{before}{text[start : start + SHOWN_CHARS - 2]}{after}"
