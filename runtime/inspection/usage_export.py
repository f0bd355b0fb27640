"""Comparison of a run's ledger with a provider's export of usage.

Exports differ by provider; columns are found by the names that OpenAI, Anthropic, DeepSeek and gateways such
as OpenRouter give them. With an id in every row, calls are compared one by one, else in total.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dga2d.runtime.errors import UsageError

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
