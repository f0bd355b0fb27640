"""The account of a run's model calls: what was charged, what each call bought, and whether the log holds; and
its comparison with a provider's export of usage.

Exports differ by provider; columns are found by the names that OpenAI, Anthropic, DeepSeek and gateways such
as OpenRouter give them. With an id in every row, calls are compared one by one, else in total.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from dga2d.events import RecordedEvent, RunId
from dga2d.events import payloads as p
from dga2d.replay.state.ledger import Call, Ledger
from dga2d.replay.state.run_state import RunState
from dga2d.runtime.errors import UsageError
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
    elif isinstance(payload, p.OperatorAdded) and payload.call is not None:
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


ID = ("response_id", "completion_id", "generation_id", "id")
REQUESTS = ("num_model_requests", "n_requests", "num_requests", "requests", "request_count")
PROMPT = (
    *("prompt_tokens", "input_tokens", "tokens_prompt", "n_context_tokens_total"),
    *("usage_input_tokens", "usage_input_tokens_no_cache"),
)
ANSWER = (
    *("completion_tokens", "output_tokens", "tokens_completion", "n_generated_tokens_total"),
    "usage_output_tokens",
)


@dataclass(frozen=True)
class ExportedUsage:
    """One row of an export."""

    response_id: str | None
    requests: int
    prompt_tokens: int
    completion_tokens: int


def read_export(path: Path) -> list[ExportedUsage]:
    """Return the rows of a CSV file, a JSON list (or an object with a list under ``data``), or JSON lines.

    Raises
    ------
    UsageError
        The file cannot be read or has no columns of token counts, or a count is not a number.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not text'})"
        ) from None
    rows = _json_rows(path, text) if text.lstrip()[:1] in ("[", "{") else _csv_rows(text)
    return [_usage(path, number, row) for number, row in enumerate(rows, 1)]


def _csv_rows(text: str) -> list[Mapping[str, Any]]:
    return list(csv.DictReader(io.StringIO(text)))


def _json_rows(path: Path, text: str) -> list[Mapping[str, Any]]:
    try:
        value = json.loads(text)
    except ValueError:
        try:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise UsageError(f"{path}: is neither CSV nor JSON ({error})") from None
    if isinstance(value, dict):
        value = value.get("data", [value])
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise UsageError(f"{path}: expected a list of rows")
    return [{**row, **(row["usage"] if isinstance(row.get("usage"), dict) else {})} for row in value]


def _usage(path: Path, number: int, row: Mapping[str, Any]) -> ExportedUsage:
    found = {_plain(name): value for name, value in row.items() if name is not None}

    def cell(names: Sequence[str]) -> Any:
        return next((found[name] for name in names if found.get(name) not in (None, "")), None)

    def count(names: Sequence[str], default: int) -> int:
        value = cell(names)
        try:
            return default if value is None else int(str(value).replace(",", ""))
        except ValueError:
            raise UsageError(f"{path}, row {number}: {value!r} is not a count") from None

    if not any(name in found for name in (*PROMPT, *ANSWER)):
        known = ", ".join((*PROMPT, *ANSWER))
        raise UsageError(f"{path}, row {number}: no column of token counts; known are {known}")
    name = cell(ID)
    return ExportedUsage(
        None if name is None else str(name), count(REQUESTS, 1), count(PROMPT, 0), count(ANSWER, 0)
    )


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def find_differences(calls: Sequence[Mapping[str, Any]], export: Sequence[ExportedUsage]) -> list[str]:
    """Return every difference in words; empty when ledger and export agree.

    `calls` are rows of ``calls_view``. An abandoned call may or may not have reached the provider, and what
    it used is unknown: its being in the export or not is no difference, as long as the totals stay below
    what was charged.
    """
    if export and all(row.response_id is not None for row in export):
        return _by_id(calls, export)
    return _in_total(calls, export)


def _by_id(calls: Sequence[Mapping[str, Any]], export: Sequence[ExportedUsage]) -> list[str]:
    ours = {call["response_id"]: call for call in calls if call["response_id"] is not None}
    abandoned = sum(call["status"] == "abandoned" for call in calls)
    found: list[str] = []
    seen: set[str] = set()
    unknown = 0
    for row in export:
        assert row.response_id is not None
        if row.response_id in seen:
            found.append(f"{row.response_id}: twice in the export")
        seen.add(row.response_id)
        call = ours.get(row.response_id)
        if call is None:
            unknown += 1
            if unknown > abandoned:
                found.append(f"{row.response_id}: not in the ledger, and no abandoned call is left for it")
        elif not call["is_estimated"]:
            found += _token_differences(f"call {call['call']} ({row.response_id})", call, row)
    for response_id, call in ours.items():
        if response_id not in seen:
            found.append(f"call {call['call']} ({response_id}): not in the export")
    return found


def _token_differences(name: str, call: Mapping[str, Any], row: ExportedUsage) -> list[str]:
    pairs = (
        ("prompt", call["prompt_tokens"], row.prompt_tokens),
        ("answer", call["completion_tokens"], row.completion_tokens),
    )
    return [
        f"{name}: {ours} {part} tokens here, {theirs} there" for part, ours, theirs in pairs if ours != theirs
    ]


def _in_total(calls: Sequence[Mapping[str, Any]], export: Sequence[ExportedUsage]) -> list[str]:
    settled = [call for call in calls if call["status"] == "settled"]
    requests = sum(row.requests for row in export)
    found = []
    if not len(settled) <= requests <= len(calls):
        found.append(
            f"{requests} requests there; here {len(settled)} answered and {len(calls) - len(settled)} others"
        )
    least = sum(c["prompt_tokens"] + c["completion_tokens"] for c in settled if not c["is_estimated"])
    most = sum(call["charged_tokens"] for call in calls)
    theirs = sum(row.prompt_tokens + row.completion_tokens for row in export)
    if theirs < least:
        found.append(f"{theirs} tokens there, {least} reported to us")
    elif theirs > most:
        found.append(f"{theirs} tokens there, {most} charged here")
    return found
