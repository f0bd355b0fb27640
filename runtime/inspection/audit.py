"""The account of a run's model calls: what was charged, what each call bought, and whether the log holds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from dga2d.events import RecordedEvent, RunId
from dga2d.events import payloads as p
from dga2d.replay.state.fold import fold
from dga2d.replay.state.ledger import Call, Ledger
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.runs import DIFFERENCES
from dga2d.runtime.inspection.views import calls_view, gap_of, ledger_view, totals_of
from dga2d.store import open_store, verified

Bought = dict[int, dict[str, Any]]
"""Call → what came of its answer."""


async def audit_run(url: str, run_id: str) -> dict[str, Any]:
    """Ledger of a run, every call with what it bought, and the checks of its log.

    Raises
    ------
    UnknownRunError
        There is no such run.
    """
    state, difference, bought = RunState(), None, Bought()
    async with open_store(url, create=False, read_only=True) as store:
        head = await store.head(RunId(run_id))
        try:
            async for event in verified(store.read(RunId(run_id))):
                state = fold(state, event)
                _note(bought, event)
        except DIFFERENCES as error:
            difference = str(error)
    nothing = {"bought": None, "uses": None, "gap_before_percent": None, "gap_after_percent": None}
    what = {number: _effect(state, number, row) for number, row in bought.items()}
    return {
        "run": run_id,
        "events": state.seq,
        "ledger": {**ledger_view(state.ledger), **_groups(state.ledger)},
        "calls": [{**row, **what.get(row["call"], nothing)} for row in calls_view(state.ledger)],
        "refused": _refused(state.ledger),
        "checks": [{"check": text, "holds": holds} for text, holds in _checks(state, difference)],
        "difference": difference,
        "head_hash": head.hash.hex(),
    }


def _note(bought: Bought, event: RecordedEvent) -> None:
    """Remember what an accepted answer brought."""
    payload = event.payload
    if isinstance(payload, p.GraphInitialized) and payload.call is not None:
        what = f"graph of {len(payload.operators)} operators and {len(payload.edges)} edges"
        bought[payload.call] = {"bought": what, "generation": 0}
    elif isinstance(payload, p.ImplementationAdded | p.ImplementationReplaced):
        implementation = payload.implementation
        bought[payload.call] = {
            "bought": f"implementation {implementation}",
            "generation": payload.generation,
            "is_used": lambda walk: implementation in walk,
        }
    elif isinstance(payload, p.EdgeReplaced):
        edges = set(payload.added)
        bought[payload.call] = {
            "bought": "edge " + ", ".join(f"{a} -> {b}" for a, b in payload.added),
            "generation": payload.generation,
            "is_used": lambda walk: bool(edges & set(_edges(walk))),
        }


def _edges(walk: tuple[str, ...]) -> list[tuple[str, str]]:
    """Edges that a candidate went along; an implementation is named ``OPERATOR.DIGEST``."""
    nodes = ["START", *(step.rpartition(".")[0] for step in walk), "END"]
    return list(pairwise(nodes))


def _effect(state: RunState, number: int, row: dict[str, Any]) -> dict[str, Any]:
    """What the score did: the best gap so far when the call was made and one generation later, and how many
    later candidates used what was bought."""
    generation = row["generation"]
    is_used: Callable[[tuple[str, ...]], bool] | None = row.get("is_used")
    later = [summary for t, summary in state.history.items() if t > generation]
    return {
        "bought": row["bought"],
        "uses": None if is_used is None else sum(is_used(walk) for s in later for walk in s.walks),
        "gap_before_percent": _best_so_far(state, generation),
        "gap_after_percent": _best_so_far(state, generation + 1),
    }


def _best_so_far(state: RunState, generation: int) -> float | None:
    summary = state.history.get(generation)
    return None if summary is None else gap_of(summary.best_so_far, state.settings.failure_reward)


def _groups(ledger: Ledger) -> dict[str, dict[str, Any]]:
    """Totals by agent, by generation and by model, as those by purpose are."""
    keys: dict[str, Callable[[Call], str]] = {
        "by_agent": lambda call: call.agent,
        "by_generation": lambda call: str(call.generation or 0),
        "by_model": lambda call: call.model,
    }
    calls = list(ledger.calls.values())
    groups: dict[str, dict[str, Any]] = {}
    for name, key in keys.items():
        members: dict[str, list[Call]] = {}
        for call in calls:
            members.setdefault(key(call), []).append(call)
        order = sorted(members, key=lambda k: (len(k), k) if name == "by_generation" else (0, k))
        groups[name] = {group: totals_of(members[group]) for group in order}
    return groups


def _refused(ledger: Ledger) -> list[dict[str, Any]]:
    return [
        {
            "purpose": refused.purpose,
            "agent": refused.agent,
            "generation": refused.generation,
            "subject": refused.subject,
            "attempt": refused.attempt,
            "limit": refused.limit,
            "reason": refused.reason,
        }
        for refused in sorted(ledger.refusals.values(), key=lambda refused: refused.seq)
    ]


def _limit(limit: int | None, unit: float) -> str:
    return "which nothing limits" if limit is None else f"no more than {limit / unit:.12g}"


def _checks(state: RunState, difference: str | None) -> list[tuple[str, bool]]:
    """What must hold of any run, in words, and whether it does."""
    ledger = state.ledger
    calls = [ledger.calls[number] for number in sorted(ledger.calls)]
    still_open = sum(call.status == "reserved" for call in calls)
    has_ended = state.status != "running"
    tokens, money = ledger.token_limit, ledger.microusd_limit
    return [
        ("the hash chain, the order and every invariant hold", difference is None),
        (
            "calls are numbered 1, 2, … without gaps",
            [call.number for call in calls] == list(range(1, len(calls) + 1)),
        ),
        (f"no more than {ledger.limit} calls were charged", ledger.used <= ledger.limit),
        (
            f"{ledger.charged_tokens} tokens were charged, {_limit(tokens, 1)}",
            tokens is None or ledger.charged_tokens <= tokens,
        ),
        (
            f"{ledger.charged_microusd / 1e6:g} USD were charged, {_limit(money, 1e6)}",
            money is None or ledger.charged_microusd <= money,
        ),
        (
            "no call used more than was reserved for it",
            all(
                call.charged_tokens <= call.reserved_tokens
                and call.charged_microusd <= call.reserved_microusd
                for call in calls
            ),
        ),
        (
            "every abandoned call says why",
            all(call.reason for call in calls if call.status == "abandoned"),
        ),
        (
            "every call was settled or abandoned" if has_ended else f"calls still open: {still_open}",
            not has_ended or not still_open,
        ),
    ]
