"""``--json`` of every command: one document on stdout, with the keys that scripts rely on."""

from __future__ import annotations

import pytest
from tests.system.conftest import Command, Program, assert_has

pytestmark = pytest.mark.timeout(400)

LEDGER = {"limit", "used", "left", "prompt_tokens", "completion_tokens", "cost_usd", "status", "by_purpose"}
PROGRAM = {"generation", "candidate", "score", "gap_percent", "is_safe_baseline", "pipeline"}
VERDICT = {"outcome", "sentence", "split", "points", "interval_points", "instances", "won", "lost"}
HISTORY = {
    *("generation", "candidates", "failures", "mean_score", "best_gap_percent"),
    *("best_so_far_percent", "validation_gap_percent", "calls", "state_digest"),
}
FINISHED = {
    *("run", "status", "reason", "store", "generations", "best", "checkpoint"),
    *("test", "verdict", "ledger", "history", "head_hash", "report"),
}


def test_runs(finished: Program, command: Command) -> None:
    (row,) = command("runs", "--json", program=finished).json
    assert_has(
        row,
        {
            *("run", "domain", "created_at", "events", "last_event", "last_recorded_at", "in_use"),
            *("head_hash", "status", "generations", "calls", "best_gap_percent"),
        },
    )
    assert (row["run"], row["domain"], row["status"], row["generations"]) == ("done", "tsp", "completed", 3)
    assert row["last_event"] == "RunCompleted"


def test_show(finished: Program, command: Command) -> None:
    view = command("show", "done", "--json", program=finished).json
    assert_has(
        view,
        {
            *("run", "seq", "status", "reason", "domain", "seed", "code_version", "settings"),
            *("completed_generations", "open_generation", "state_digest", "graph", "operators", "best"),
            *("checkpoint", "verdict", "history", "ledger", "policy", "test"),
        },
    )
    assert_has(view["graph"], {"operators", "initialisers", "edges", "pipelines"})
    assert_has(view["operators"][0], {"operator", "credit", "implementations"})
    assert_has(view["best"], PROGRAM)
    assert_has(view["checkpoint"], {*PROGRAM, "interval_percent", "instances"})
    assert_has(view["verdict"], VERDICT)
    assert_has(view["history"][0], HISTORY)
    assert_has(view["ledger"], LEDGER)
    assert (view["status"], view["completed_generations"], view["test"]) == ("completed", 3, None)
    assert view["settings"]["work"] == 300
    early = command("show", "done", "--at", "1", "--json", program=finished).json
    assert (early["seq"], early["graph"], early["best"]) == (1, None, None)


def test_replay(finished: Program, command: Command) -> None:
    report = command("replay", "done", "--json", program=finished).json
    assert_has(report, {"run", "events", "generations", "difference", "state_digest", "head_hash"})
    assert [set(row) for row in report["generations"]] == [{"generation", "state_digest"}] * 3
    assert report["difference"] is None


def test_audit(finished: Program, command: Command) -> None:
    report = command("audit", "done", "--json", program=finished).json
    assert_has(report, {"run", "events", "ledger", "calls", "checks", "difference", "head_hash"})
    assert_has(report["ledger"], LEDGER)
    assert len(report["calls"]) == report["ledger"]["used"] > 0
    assert_has(
        report["calls"][0],
        {
            *("call", "purpose", "agent", "generation", "subject", "attempt", "model", "status", "verdict"),
            *("diagnostic", "prompt_tokens", "completion_tokens", "cost_usd", "prompt", "response"),
        },
    )
    assert all(set(check) == {"check", "holds"} for check in report["checks"])


def test_report(doomed: Program, command: Command) -> None:
    view = command("report", "done", "-o", "page.html", "--json", program=doomed).json
    assert_has(view, {"run", "report", "format", "head_hash"})
    assert view["head_hash"] == doomed.rows("done")[-1].hash.hex()
    assert (doomed.folder / "page.html").stat().st_size > 1000


def test_config(command: Command) -> None:
    values = command("config", "--json").json
    assert (values["generations"], values["llm_calls"], values["work"]) == (50, 500, None)


def test_domains(command: Command) -> None:
    rows = command("domains", "--json").json
    assert {"jsp", "tsp"} <= {row["domain"] for row in rows}
    assert_has(rows[0], {"domain", "title", "operators"})
    view = command("domains", "jsp", "--json").json
    assert_has(
        view,
        {
            *("domain", "title", "objective", "encoding", "decoder", "environment", "constraints"),
            *("instances", "baseline", "operators"),
        },
    )
    assert {part: len(keys) for part, keys in view["instances"].items()} == {
        "train": 48,
        "validation": 48,
        "test": 48,
    }
    assert_has(
        view["operators"][0],
        {"id", "title", "category", "tier", "requires", "provides", "implementations", "source"},
    )


def test_doctor(program: Program) -> None:
    outcome = program.run("doctor", "--json")
    assert outcome.code == 0
    assert_has(
        outcome.json,
        {
            *("dga2d", "python", "platform", "executable", "packages", "cores", "memory_gib", "cache"),
            *("store", "database", "sandbox", "is_cache_usable", "is_database_usable", "warmed"),
        },
    )
    assert not program.database.exists()


def test_solve(program: Program, finished: Program, command: Command) -> None:
    url = ("--store", finished.url)
    arguments = ("solve", "tsp", "E100.0", "--run", "done", "--work", "300", "-o", "tour.txt", "--json")
    outcome = command(*arguments, *url, program=program)
    assert (outcome.code, outcome.err) == (0, "")
    view = outcome.json
    assert_has(
        view,
        {
            *("domain", "instance", "algorithm", "objective", "reference", "reference_kind"),
            *("gap_percent", "elapsed_s", "work", "startup_s", "output", "fallback"),
        },
    )
    assert view["fallback"] is None
    assert view["instance"] == "uniform/E100.0"
    assert view["startup_s"] > 0
    gap = 100 * (view["objective"] - view["reference"]) / view["reference"]
    assert view["gap_percent"] == pytest.approx(gap, abs=1e-3)
    assert "TOUR_SECTION" in (program.folder / "tour.txt").read_text()


@pytest.mark.slow
def test_resume(doomed: Program) -> None:
    outcome = doomed.run("resume", "done", "--generations", "4", "--quiet", "--no-report", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    view = outcome.json
    assert_has(view, FINISHED)
    assert (view["run"], view["status"], view["generations"], view["test"]) == ("done", "completed", 4, None)
    assert_has(view["best"], PROGRAM)
    assert_has(view["history"][0], HISTORY)
    assert_has(view["ledger"], LEDGER)
