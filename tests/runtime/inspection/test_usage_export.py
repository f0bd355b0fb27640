"""What counts as a difference between a ledger and a provider's export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dga2d.runtime.errors import UsageError
from dga2d.runtime.inspection.audit import ExportedUsage, find_differences, read_export


def call(number: int, **changed: Any) -> dict[str, Any]:
    """A settled call that used 100 and 10 tokens."""
    values = {
        "call": number,
        "status": "settled",
        "response_id": f"id-{number}",
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "charged_tokens": 110,
        "is_estimated": False,
    }
    return {**values, **changed}


LOST = call(3, status="abandoned", response_id=None, prompt_tokens=0, completion_tokens=0, charged_tokens=500)
CALLS = [call(1), call(2), LOST]
AGREED = [ExportedUsage("id-1", 1, 100, 10), ExportedUsage("id-2", 1, 100, 10)]


@pytest.mark.parametrize(
    ("export", "found"),
    [
        (AGREED, []),
        ([*AGREED, ExportedUsage("lost", 1, 100, 9)], []),
        (AGREED[:1], ["call 2 (id-2): not in the export"]),
        ([*AGREED, AGREED[0]], ["id-1: twice in the export"]),
        (
            [*AGREED, ExportedUsage("x", 1, 1, 1), ExportedUsage("y", 1, 1, 1)],
            ["y: not in the ledger, and no abandoned call is left for it"],
        ),
        (
            [AGREED[0], ExportedUsage("id-2", 1, 101, 12)],
            [
                "call 2 (id-2): 100 prompt tokens here, 101 there",
                "call 2 (id-2): 10 answer tokens here, 12 there",
            ],
        ),
        ([ExportedUsage(None, 2, 200, 20)], []),
        ([ExportedUsage(None, 3, 600, 120)], []),
        ([ExportedUsage(None, 1, 200, 20)], ["1 requests there; here 2 answered and 1 others"]),
        ([ExportedUsage(None, 4, 200, 20)], ["4 requests there; here 2 answered and 1 others"]),
        ([ExportedUsage(None, 2, 199, 20)], ["219 tokens there, 220 reported to us"]),
        ([ExportedUsage(None, 3, 700, 21)], ["721 tokens there, 720 charged here"]),
        ([], ["0 requests there; here 2 answered and 1 others", "0 tokens there, 220 reported to us"]),
    ],
)
def test_differences(export: list[ExportedUsage], found: list[str]) -> None:
    assert find_differences(CALLS, export) == found


def test_estimated_counts_are_not_compared() -> None:
    assert find_differences([call(1, is_estimated=True)], [ExportedUsage("id-1", 1, 7, 7)]) == []


ROWS = [{"id": "a", "prompt_tokens": 1, "completion_tokens": 2}, {"id": "b", "prompt_tokens": 3}]
EXPECTED = [ExportedUsage("a", 1, 1, 2), ExportedUsage("b", 1, 3, 0)]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        json.dumps({"data": ROWS}),
        "\n".join(map(json.dumps, ROWS)) + "\n",
        json.dumps([{"id": "a", "usage": {"input_tokens": 1, "output_tokens": 2}}, ROWS[1]]),
        "\ufeffGeneration ID,Input-Tokens,output_tokens\na,1,2\nb,3,\n",
        'id,n_context_tokens_total,n_generated_tokens_total,n_requests\na,1,2,1\nb,"3",0,\n',
    ],
)
def test_exports_are_read_in_the_forms_providers_give_them(tmp_path: Path, text: str) -> None:
    file = tmp_path / "export"
    file.write_text(text, encoding="utf-8")
    assert read_export(file) == EXPECTED


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1,2\n", "row 1: no column of token counts"),
        (b"input_tokens\nmany\n", "row 1: 'many' is not a count"),
        (b"[1, 2]", "expected a list of rows"),
        (b"{nonsense", "neither CSV nor JSON"),
        (b"\xff\xfe", "cannot be read"),
    ],
)
def test_what_is_no_export_is_refused_in_words(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "export"
    file.write_bytes(data)
    with pytest.raises(UsageError, match=message):
        read_export(file)
