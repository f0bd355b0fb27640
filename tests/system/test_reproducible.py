"""The same seed and the same work give the same run, whatever the machine does meanwhile."""

from __future__ import annotations

import pytest
from tests.system.conftest import SMALL, Command, Program, cut, digests

pytestmark = pytest.mark.timeout(400)

EMBEDDED = tuple("embedded" if item == "uniform" else item for item in SMALL)
OTHER_HASHES = {"PYTHONHASHSEED": "4711"}


def without(arguments: tuple[str, ...], *flags: str) -> tuple[str, ...]:
    """The arguments but for some flags and their values."""
    dropped = {i + k for i, word in enumerate(arguments) if word in flags for k in (0, 1)}
    return tuple(word for i, word in enumerate(arguments) if i not in dropped)


@pytest.mark.slow
def test_two_runs_with_the_same_seed_and_work_have_the_same_states(
    program: Program, finished: Program
) -> None:
    arguments = ("evolve", "tsp", *SMALL, "--run-id", "again", "--evaluators", "2", "--json")
    outcome = program.run(*arguments, env=OTHER_HASHES)
    assert (outcome.code, outcome.err) == (0, "")
    expected = digests(finished.rows("done"))
    assert len(expected) == 3
    assert digests(program.rows("again")) == expected
    assert {row["generation"]: row["state_digest"] for row in outcome.json["history"]} == expected


def test_replay_rebuilds_the_state_of_every_generation(finished: Program, command: Command) -> None:
    rows = finished.rows("done")
    replayed = command("replay", "done", program=finished)
    assert replayed.code == 0
    lines = replayed.out.splitlines()
    recorded = digests(rows)
    for (generation, digest), line in zip(recorded.items(), lines, strict=False):
        assert line.split() == ["generation", str(generation), digest]
    assert rows[-1].hash.hex() in replayed.out
    for generation in recorded:
        shown = command("show", "done", "--generation", str(generation), "--json", program=finished)
        assert shown.json["completed_generations"] == generation
        assert shown.json["open_generation"] is None


@pytest.mark.slow
def test_another_seed_gives_another_run(program: Program, finished: Program) -> None:
    outcome = program.run("evolve", "tsp", *SMALL, "--seed", "3", "--run-id", "other")
    assert outcome.code == 0
    assert digests(program.rows("other"))[1] != digests(finished.rows("done"))[1]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_calibrated_runs_repeat_with_the_rates_of_the_first(program: Program) -> None:
    calibrated = (*SMALL, "--set", 'calibration="measured"', "--work", "3000")
    outcome = program.run("evolve", "tsp", *calibrated, "--run-id", "one", "--test", wait_s=400)
    assert (outcome.code, outcome.err) == (0, "")
    rates = [row.fields for row in program.rows("one") if row.type == "WorkRateMeasured"]
    assert [rate["subject"] for rate in rates].count("baseline") == 1
    assert len(rates) > 3
    again = (*calibrated, "--evaluators", "2", "--set", 'work_rates="one"')
    outcome = program.run("evolve", "tsp", *again, "--run-id", "two", wait_s=400)
    assert (outcome.code, outcome.err) == (0, "")
    assert digests(program.rows("two")) == digests(program.rows("one"))
    taken = [row.fields for row in program.rows("two") if row.type == "WorkRateMeasured"]
    assert {rate["source"] for rate in taken} == {"run one"}
    assert program.run("replay", "one", "--verify").code == 0
    assert program.run("replay", "two", "--verify").code == 0
    unknown = program.run("evolve", "tsp", *calibrated, "--set", 'work_rates="never"', "--run-id", "three")
    assert unknown.code == 2
    assert "work_rates = 'never'" in unknown.err


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_run_goes_by_the_rate_that_its_budget_was_measured_with(program: Program) -> None:
    seconds = (*without(SMALL, "--work", "--generations"), "--generations", "1", "--work-seconds", "0.01")
    calibrated = (*seconds, "--set", 'calibration="measured"')
    outcome = program.run("evolve", "tsp", *calibrated, "--run-id", "one", wait_s=400)
    assert (outcome.code, outcome.err) == (0, "")
    rows = program.rows("one")
    work = rows[0].fields["settings"]["work"]
    (baseline,) = [row.fields for row in rows if row.fields.get("subject") == "baseline"]
    rates = sorted((p["size"], p["work"] / p["cpu_s"]) for p in baseline["points"] if p["cpu_s"] >= 0.002)
    assert baseline["source"] == "measured"
    assert work == round(float(f"{0.01 * rates[len(rates) // 2][1]:.2g}"))
    outcome = program.run(
        "evolve", "tsp", *calibrated, "--set", 'work_rates="one"', "--run-id", "two", wait_s=400
    )
    assert outcome.code == 0
    assert program.rows("two")[0].fields["settings"]["work"] == work
    assert digests(program.rows("two")) == digests(rows)
    assert program.run("replay", "one", "--verify").code == 0
    refused = program.run("resume", "one", "--work-seconds", "0.02", "--generations", "2")
    assert (refused.code, "work_seconds = 0.01 for good" in refused.err) == (2, True)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_two_job_shop_runs_have_the_same_states(program: Program) -> None:
    for run, evaluators in (("one", "1"), ("two", "2")):
        arguments = ("evolve", "jsp", *SMALL, "--run-id", run, "--evaluators", evaluators)
        assert program.run(*arguments, wait_s=400).code == 0
    assert digests(program.rows("one")) == digests(program.rows("two"))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_learned_policy_is_rebuilt_from_the_log(program: Program) -> None:
    for run in ("whole", "cut"):
        outcome = program.run("evolve", "tsp", *EMBEDDED, "--run-id", run, wait_s=300)
        assert (outcome.code, outcome.err) == (0, "")
    whole, other = (program.rows(run) for run in ("whole", "cut"))
    assert digests(whole) == digests(other)
    updates = [row for row in other if row.type == "PolicyUpdated"]
    assert len({row.fields["parameters_digest"] for row in updates}) == 3
    cut(program, "cut", next(r.seq for r in other if r.operation == "generation-completed/2"))
    outcome = program.run("resume", "cut", "--quiet", "--no-report", wait_s=300)
    assert (outcome.code, outcome.err) == (0, "")
    assert digests(program.rows("cut")) == digests(whole)
    assert program.run("audit", "cut").code == 0


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_first_example_of_the_manual_runs_and_replays(program: Program) -> None:
    example = ("evolve", "jsp", "--generations", "10", "--time-limit", "0.25", "--seed", "1")
    outcome = program.run(*example, "--run-id", "first", wait_s=1500)
    assert outcome.code == 0, outcome
    replayed = program.run("replay", "first", "--json")
    assert replayed.code == 0
    recorded = digests(program.rows("first"))
    assert list(recorded) == list(range(1, 11))
    assert {g["generation"]: g["state_digest"] for g in replayed.json["generations"]} == recorded
