"""The account of a run's model calls: what was charged, what each call bought, and whether the log holds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from dga2d.events import RecordedEvent, RunId
from dga2d.events import payloads as p
from dga2d.replay.state.ledger import Call, Ledger
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.inspection.call_views import calls_view, ledger_view, offers_view, totals_of
from dga2d.runtime.inspection.log_check import LogReport, check_log
from dga2d.runtime.inspection.measures import measure_of
from dga2d.runtime.inspection.views import gap_of
from dga2d.store import open_store

Bought = dict[int, dict[str, Any]]
"""Call → what came of its answer."""


async def audit_run(url: str, run_id: str, full: bool = False) -> dict[str, Any]:
    """Return the ledger of a run, every call with what it bought, and the checks of its log.

    All blobs that the run names are read with `full`, else prompts and answers alone.

    Raises
    ------
    UnknownRunError
        There is no such run.
    """
    bought = Bought()
    async with open_store(url, create=False, read_only=True) as store:
        head = await store.head(RunId(run_id))
        log = await check_log(
            store, RunId(run_id), all_blobs=full, on_event=lambda event: _note(bought, event)
        )
    state, blobs, snapshots = log.state, log.blobs, log.snapshots
    nothing = {"bought": None, "uses": None, "gap_before_percent": None, "gap_after_percent": None}
    what = {number: _effect(state, number, row) for number, row in bought.items()}
    return {
        "run": run_id,
        **({} if state.started is None else measure_of(state.header).entry),
        "events": state.seq,
        "ledger": {**ledger_view(state), **_groups(state.ledger)},
        "calls": [{**row, **what.get(row["call"], nothing)} for row in calls_view(state.ledger)],
        "offers": offers_view(state),
        "refused": _refused_calls(state.ledger),
        "checks": [{"check": text, "holds": holds} for text, holds in _checks(log, full)],
        "difference": log.difference,
        "differences": list(log.differences),
        "blobs": {
            "named": blobs.named,
            "checked": blobs.checked,
            "scope": "all" if full else "calls",
            "wrong": list(blobs.wrong),
        },
        "snapshots": {
            "kept": snapshots.kept,
            "sealed": snapshots.sealed,
            "ignored": snapshots.kept - snapshots.sealed,
            "wrong": list(snapshots.differences),
        },
        "tables": list(log.tables),
        "head_hash": head.hash.hex(),
    }


def _note(bought: Bought, event: RecordedEvent) -> None:
    """Remember what an accepted answer brought."""
    payload = event.payload
    if isinstance(payload, p.GraphInitialized) and payload.call is not None:
        what = f"graph of {len(payload.operators)} operators and {len(payload.edges)} edges"
        bought[payload.call] = {"bought": what, "generation": 0}
    elif isinstance(payload, p.ImplementationAdded | p.ImplementationReplaced) and payload.call is not None:
        implementation = payload.implementation
        bought[payload.call] = {
            "bought": f"implementation {implementation}",
            "generation": payload.generation,
            "is_used": lambda walk: implementation in walk,
        }
    elif isinstance(payload, p.OperatorAdded):
        first = payload.implementation
        bought[payload.call] = {
            "bought": f"operator {payload.operator}",
            "generation": payload.generation,
            "is_used": lambda walk: first in walk,
        }
    elif isinstance(payload, p.KernelReplaced):
        new = {host.implementation for host in payload.replaced}
        bought[payload.call] = {
            "bought": f"kernel {payload.kernel}, {payload.factor:.2f} times as fast",
            "generation": payload.generation,
            "is_used": lambda walk: bool(new.intersection(walk)),
        }
    elif isinstance(payload, p.EdgeReplaced):
        edges = set(payload.added)
        bought[payload.call] = {
            "bought": "edge " + ", ".join(f"{a} -> {b}" for a, b in payload.added),
            "generation": payload.generation,
            "is_used": lambda walk: bool(edges & set(_edges(walk))),
        }


def _edges(walk: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the edges that a candidate went along; an implementation is named ``OPERATOR.DIGEST``."""
    nodes = ["START", *(step.rpartition(".")[0] for step in walk), "END"]
    return list(pairwise(nodes))


def _effect(state: RunState, number: int, row: dict[str, Any]) -> dict[str, Any]:
    """Return what became of the score: the best gap so far when the call was made and one generation later,
    and how many later candidates used what was bought."""
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
    """Return the totals by agent, by generation and by model."""
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


def _refused_calls(ledger: Ledger) -> list[dict[str, Any]]:
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


def _checks(log: LogReport, full: bool) -> list[tuple[str, bool]]:
    """Return what must hold of any run, in words, and whether it does."""
    state, ledger = log.state, log.state.ledger
    scope = "" if full else " (prompts and answers; --full checks all)"
    ignored = log.snapshots.kept - log.snapshots.sealed
    calls = [ledger.calls[number] for number in sorted(ledger.calls)]
    still_open = sum(call.status == "reserved" for call in calls)
    has_ended = state.status != "running"
    tokens, money = ledger.token_limit, ledger.microusd_limit
    return [
        ("the hash chain, the order and every invariant hold", log.difference is None),
        ("the tables beside the events say the same", log.difference is None and not log.tables),
        (
            f"{log.blobs.checked} of {log.blobs.named} blobs were checked and are whole{scope}",
            not log.blobs.wrong,
        ),
        (
            f"{log.snapshots.kept} snapshots are states of the log; {ignored} without this user's seal are "
            "ignored",
            not log.snapshots.differences,
        ),
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
