"""``replay --reevaluate`` runs recorded algorithms again and says where the log tells something else."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from tests.system.conftest import SMALL, WAIT_S, Command, Program, assert_has

from dga2d.events import canonical_bytes, link_hash
from dga2d.events._envelope import header_bytes

pytestmark = pytest.mark.timeout(400)

KEYS = {
    *("fraction", "same_program", "recorded", "made_again", "identical"),
    *("undecided", "differences", "spread"),
}
CLOCK = ("--generations", "1", "--pipelines", "2", "--batch-size", "1", "--time-limit", "0.05")


def rewrite_payload(program: Program, seq: int, field: str, value: object) -> None:
    """Another value in one event, and a chain that fits: a forgery that no hash betrays."""
    changed = canonical_bytes({**program.rows("done")[seq - 1].fields, field: value})
    with closing(sqlite3.connect(program.database, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE events SET payload = ? WHERE seq = ?", (changed, seq))
        rows = connection.execute(
            "SELECT prev_hash, payload, run_id, seq, event_id, type, version, agent, generation, caused_by, "
            "recorded_at FROM events WHERE seq >= ? ORDER BY seq",
            (seq,),
        ).fetchall()
        link = rows[0][0]
        for _, payload, *envelope in rows:
            before, link = link, link_hash(link, header_bytes(*envelope), payload)
            connection.execute(
                "UPDATE events SET prev_hash = ?, hash = ? WHERE seq = ?", (before, link, envelope[1])
            )


@pytest.mark.slow
def test_evaluations_under_a_work_budget_are_the_same_again(finished: Program, command: Command) -> None:
    outcome = command("replay", "done", "--reevaluate", "--json", program=finished)
    report = outcome.json["reevaluation"]
    assert_has(report, KEYS)
    evaluations = [row for row in finished.rows("done") if row.type == "EvaluationRecorded"]
    assert outcome.code == 0, report
    assert report["recorded"] == report["made_again"] == report["identical"] == len(evaluations) > 10
    assert (report["differences"], report["undecided"], report["spread"]) == ([], [], None)
    assert report["same_program"]


@pytest.mark.slow
def test_a_fraction_is_a_sample_and_always_the_same(finished: Program, command: Command) -> None:
    counts = []
    for fraction in ("1e-9", "0.3", "0.3"):
        outcome = command("replay", "done", "--reevaluate", fraction, program=finished)
        assert outcome.code == 0, outcome
        counts.append(outcome.out.splitlines()[-1])
    assert counts[0].startswith("1 of ")
    assert counts[1] == counts[2] != counts[0]


@pytest.mark.slow
def test_a_forged_solution_with_a_fitting_chain_is_named(doomed: Program, command: Command) -> None:
    first, *_, last = [row for row in doomed.rows("done") if row.type == "EvaluationRecorded"]
    assert first.fields["solution"] != last.fields["solution"]
    rewrite_payload(doomed, first.seq, "solution", last.fields["solution"])
    assert command("replay", "done", program=doomed).code == 0
    outcome = command("replay", "done", "--reevaluate", program=doomed)
    assert outcome.code == 1
    then, now = last.fields["solution"], first.fields["solution"]
    told = f"error: event {first.seq} ({first.operation}): solution was {then}, is {now} now"
    assert outcome.error == told


@pytest.mark.slow
def test_under_a_clock_the_differences_are_told_and_nothing_fails(program: Program, command: Command) -> None:
    under_work = SMALL.index("--work")
    rest = (*SMALL[:under_work], *SMALL[under_work + 2 :])
    assert program.run("evolve", "tsp", *rest, *CLOCK, "--run-id", "clock", wait_s=3 * WAIT_S).code == 0
    outcome = command("replay", "clock", "--reevaluate", "--json", program=program)
    report = outcome.json["reevaluation"]
    assert outcome.code == 0, outcome
    assert report["differences"] == []
    spread = report["spread"]
    assert spread["made_again"] == report["recorded"] == report["made_again"] > 0
    assert spread["compared"] + max(spread["failed_then"], spread["failed_again"]) <= spread["made_again"]
    if spread["compared"]:
        values = list(spread["quantiles_percent"].values())
        assert values == sorted(values)
        assert values[0] - 1e-9 <= spread["mean_percent"] <= values[-1] + 1e-9


@pytest.mark.parametrize("fraction", ["0", "1.5", "-1", "half"])
def test_what_is_no_fraction_is_refused(finished: Program, command: Command, fraction: str) -> None:
    assert command("replay", "done", "--reevaluate", fraction, program=finished).code == 2
