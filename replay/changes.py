"""What changed between two states: graph, pools, credits, settings, budget, results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dga2d.replay.state.digest import state_digest
from dga2d.replay.state.run_state import RunState, ScoredProgram


def changes(before: RunState, after: RunState) -> dict[str, Any]:
    """Everything that differs, as plain JSON-able values; parts without a difference are left out.

    A change is a pair of the value before and the value after, ``None`` where there was none.
    """
    found = {
        "settings": _changed(before.settings.model_dump(), after.settings.model_dump()),
        "operators": _exchanged(_operators(before), _operators(after)),
        "edges": _exchanged(_edges(before), _edges(after)),
        "pools": {
            operator: difference
            for operator in sorted({*before.pools, *after.pools})
            if (difference := _exchanged(before.pools.get(operator, ()), after.pools.get(operator, ())))
        },
        "credits": _changed(_credits(before), _credits(after)),
        "budget": _changed(_budget(before), _budget(after)),
        "progress": _changed(_progress(before), _progress(after)),
        "state_digest": _changed({"": state_digest(before)}, {"": state_digest(after)}).get(""),
    }
    return {key: value for key, value in found.items() if value}


def first_divergence(one: RunState, other: RunState) -> int | None:
    """The first generation after which the recorded digests of two runs differ, ``None`` if none that both
    closed does."""
    both = sorted(set(one.history) & set(other.history))
    return next((t for t in both if one.history[t].state_digest != other.history[t].state_digest), None)


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    keys = sorted({*before, *after})
    return {key: [before.get(key), after.get(key)] for key in keys if before.get(key) != after.get(key)}


def _exchanged(before: Iterable[str], after: Iterable[str]) -> dict[str, list[str]]:
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
