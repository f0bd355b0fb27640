"""What people see of model calls: the table for a spreadsheet, and the prompts."""

from __future__ import annotations

import csv
import io

import pytest
from tests.system.conftest import Command, Program

pytestmark = pytest.mark.timeout(400)


def test_audit_prints_every_call_as_csv(finished: Program, command: Command) -> None:
    calls = command("audit", "done", "--json", program=finished).json["calls"]
    rows = list(csv.DictReader(io.StringIO(command("audit", "done", "--csv", program=finished).out)))
    assert [int(row["call"]) for row in rows] == [call["call"] for call in calls] != []
    for row, call in zip(rows, calls, strict=True):
        assert set(row) == set(call)
        assert (row["subject"], row["status"]) == (call["subject"], call["status"])
        assert int(row["prompt_tokens"]) == call["prompt_tokens"]


@pytest.mark.parametrize(
    "kind", ["initialize", "implement-add", "implement-replace", "connect-replace", "connect-delta"]
)
@pytest.mark.parametrize("domain", ["jsp", "tsp"])
def test_prompt_prints_what_a_run_would_send(command: Command, kind: str, domain: str) -> None:
    outcome = command("prompt", domain, kind)
    assert outcome.code == 0, outcome.err
    for key in {"jsp": ("machines_matrix", "num_jobs"), "tsp": ("distance_matrix", "num_nodes")}[domain]:
        assert key in outcome.out
    assert "{{" not in outcome.out
    assert "{%" not in outcome.out
    document = command("prompt", domain, kind, "--json").json
    assert document["text"] == outcome.out
    assert (document["schema"] is None) is kind.startswith("implement")


def test_a_repair_prompt_holds_the_diagnostic(command: Command) -> None:
    words = "line 7: name 'nmpy' is not defined"
    outcome = command("prompt", "jsp", "implement-add", "--operator", "giffler_thompson", "--refused", words)
    assert words in outcome.out
    assert words not in command("prompt", "jsp", "implement-add", "--operator", "giffler_thompson").out


def test_an_unknown_operator_is_refused_with_the_known_ones(command: Command) -> None:
    outcome = command("prompt", "jsp", "implement-add", "--operator", "giffler_tomson")
    assert outcome.code == 2
    assert "giffler_thompson" in outcome.error
