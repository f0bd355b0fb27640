"""Whatever moment the program dies at: nothing acknowledged is lost, nothing is done or paid twice."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from tests.system.conftest import SMALL, Command, Program, Row, await_end, cut, descendants, digests, is_log

pytestmark = pytest.mark.timeout(400)

CALL_LIMIT = 12


def assert_grown(before: list[Row], after: list[Row]) -> None:
    """What was there once is there for ever, and unchanged."""
    assert after[: len(before)] == before


def assert_sound(program: Program, command: Command, run: str, reference: list[Row]) -> None:
    """A completed run whose log verifies, with nothing twice, and with the states of `reference`."""
    rows = program.rows(run)
    assert rows[-1].type == "RunCompleted"
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    evaluations = Counter(
        tuple(row.fields[key] for key in ("split", "generation", "candidate", "instance"))
        for row in rows
        if row.type == "EvaluationRecorded"
    )
    assert set(evaluations.values()) == {1}
    calls = [row.fields["call"] for row in rows if row.type == "LLMCallReserved"]
    assert calls == list(range(1, len(calls) + 1))
    assert len(calls) <= CALL_LIMIT

    replayed = command("replay", run, "--json", program=program)
    assert (replayed.code, replayed.err) == (0, "")
    assert replayed.json["events"] == len(rows)
    assert {g["generation"]: g["state_digest"] for g in replayed.json["generations"]} == digests(rows)
    audited = command("audit", run, "--json", program=program)
    assert (audited.code, audited.err) == (0, "")
    assert all(check["holds"] for check in audited.json["checks"])
    assert audited.json["ledger"]["used"] == len(calls)
    assert_same_states(rows, reference)


def assert_same_states(rows: list[Row], reference: list[Row]) -> None:
    """Every generation closed as in the uninterrupted run, up to the first call lost in a crash: that call
    stays spent, so the ledger, and what the repeated call is asked, may differ from then on."""
    abandoned = [row.generation for row in rows if row.type == "LLMCallAbandoned"]
    first = min((generation or 1 for generation in abandoned), default=None)
    expected = digests(reference)
    if first is None:
        assert digests(rows) == expected
    else:
        present = digests(rows)
        assert all(present[t] == expected[t] for t in expected if t < first)


class Tormentor:
    """Starts and resumes a run, kills it at random moments, and keeps every event ever seen."""

    def __init__(self, program: Program, seed: int, method: Sequence[str] = ()) -> None:
        self.program = program
        self.method = method
        self.rng = random.Random(seed)
        self.run = ""
        self.seen: list[Row] = []
        self.kills = 0

    def torment(self, kills: int) -> str:
        """Kill a new run up to `kills` times, let it complete, and return its name."""
        self.seen = []
        for _ in range(kills):
            if self._life():
                break
        else:
            outcome = self.program.run(*self._arguments())
            assert (outcome.code, outcome.err) == (0, ""), outcome
        assert_grown(self.seen, self.program.rows(self.run))
        return self.run

    def _arguments(self) -> list[str]:
        """The command that takes the run on. One that was killed before its first event is no run yet, but
        its name may be taken."""
        if self.seen:
            return ["resume", self.run, "--quiet", "--no-report"]
        self.run = f"run-{self.kills}"
        return ["evolve", "tsp", *SMALL, *self.method, "--run-id", self.run]

    def _life(self) -> bool:
        """One process, ended by SIGKILL at a random moment or by itself; whether the run is complete."""
        with self.program.started(*self._arguments()) as process:
            if self.rng.random() < 0.3:
                time.sleep(self.rng.uniform(0.0, 4.0))
            else:
                self._await_events(process, len(self.seen) + self.rng.randrange(1, 30))
                time.sleep(self.rng.uniform(0.0, 0.02))
            below = descendants(process)
            before = self.program.rows(self.run)
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=20)
            if process.returncode == 0:
                return True
            assert process.returncode == -signal.SIGKILL, process.communicate()
            self.kills += 1
            await_end(below)
        after = self.program.rows(self.run)
        assert_grown(self.seen, before)
        assert_grown(before, after)
        self.seen = after
        return bool(after) and after[-1].type == "RunCompleted"  # killed while it was saying goodbye

    def _await_events(self, process: subprocess.Popen[str], count: int) -> None:
        """Poll until the log has `count` events or the program has ended."""
        while process.poll() is None and len(self.program.rows(self.run)) < count:
            time.sleep(0.002)


@pytest.mark.parametrize(
    ("kills", "seed"),
    [
        pytest.param(3, 1, marks=pytest.mark.slow),
        pytest.param(50, 2, marks=[pytest.mark.long, pytest.mark.timeout(3000)]),
    ],
)
def test_kill_9_at_random_moments_loses_and_repeats_nothing(
    program: Program, command: Command, finished: Program, kills: int, seed: int
) -> None:
    reference = finished.rows("done")
    tormentor = Tormentor(program, seed)
    while tormentor.kills < kills:
        run = tormentor.torment(min(kills - tormentor.kills, 8))
        assert_sound(program, command, run, reference)


@pytest.mark.long
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("method", ["random", "eoh", "reevo", "mcts-ahd", "meoh", "tree"])
def test_kill_9_at_twenty_random_moments_changes_no_decision_of_a_method(
    program: Program, command: Command, method: str
) -> None:
    given = ("--method", method, "--population", "3")
    outcome = program.run("evolve", "tsp", *SMALL, *given, "--run-id", "whole")
    assert (outcome.code, outcome.err) == (0, ""), outcome
    tormentor = Tormentor(program, 3, given)
    while tormentor.kills < 20:
        run = tormentor.torment(min(20 - tormentor.kills, 7))
        assert_sound(program, command, run, program.rows("whole"))


def points(rows: list[Row]) -> dict[str, int]:
    """Moments at which a crash is most delicate, by the last event it leaves."""
    last = {row.type: row.seq for row in rows}
    first = {row.type: row.seq for row in reversed(rows)}
    return {
        "before the graph": first["RunStarted"],
        "first call in flight": first["LLMCallReserved"],
        "answer not used": first["LLMCallSettled"],
        "pipelines sampled": first["PipelineSampled"],
        "half evaluated": first["EvaluationRecorded"] + 2,
        "scored, not credited": first["GenerationScored"],
        "last call in flight": last["LLMCallReserved"],
        "validation half done": first["PipelinesDecoded"] + 1,
        "before the end": last["GenerationCompleted"],
    }


@pytest.mark.parametrize(
    "point",
    [
        pytest.param("last call in flight", marks=pytest.mark.slow),
        pytest.param("before the graph", marks=pytest.mark.slow),
        pytest.param("first call in flight", marks=pytest.mark.long),
        pytest.param("answer not used", marks=pytest.mark.slow),
        pytest.param("pipelines sampled", marks=pytest.mark.long),
        pytest.param("half evaluated", marks=pytest.mark.slow),
        pytest.param("scored, not credited", marks=pytest.mark.long),
        pytest.param("validation half done", marks=pytest.mark.slow),
        pytest.param("before the end", marks=pytest.mark.long),
    ],
)
def test_resume_goes_on_from_any_event(
    doomed: Program, command: Command, finished: Program, point: str
) -> None:
    reference = finished.rows("done")
    seq = points(reference)[point]
    cut(doomed, "done", seq)
    assert command("show", "done", "--json", program=doomed).json["status"] == "stopped"
    outcome = doomed.run("resume", "done", "--quiet", "--no-report")
    assert (outcome.code, outcome.err) == (0, ""), outcome
    rows = doomed.rows("done")
    assert_grown(reference[:seq], rows)
    assert rows[seq].type == "RunResumed"
    assert_sound(doomed, command, "done", reference)
    lost = [row.fields["call"] for row in rows if row.type == "LLMCallAbandoned"]
    in_flight = reference[seq - 1].type == "LLMCallReserved"
    assert lost == ([reference[seq - 1].fields["call"]] if in_flight else [])


def grown(count: int) -> Callable[[list[Row]], bool]:
    """Whether a log has `count` events or more."""
    return lambda rows: len(rows) >= count


@pytest.mark.slow
def test_signals_pause_a_run_which_then_goes_on(
    program: Program, command: Command, finished: Program
) -> None:
    seen: list[Row] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        arguments = ["resume", "run", "--quiet"] if seen else ["evolve", "tsp", *SMALL, "--run-id", "run"]
        with program.started(*arguments) as process:
            program.wait_for("run", grown(len(seen) + 12))
            below = descendants(process)
            assert below
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        assert process.returncode == 3
        assert is_log(err.splitlines()), err
        assert number.name in out
        await_end(below)
        rows = program.rows("run")
        assert_grown(seen, rows)
        seen = rows
        assert rows[-1].type == "RunPaused"
        assert number.name in rows[-1].fields["reason"]
    (listed,) = command("runs", "--json", program=program).json
    assert (listed["status"], listed["in_use"]) == ("paused", False)
    outcome = program.run("resume", "run", "--quiet", "--no-report")
    assert (outcome.code, outcome.err) == (0, "")
    assert_grown(seen, program.rows("run"))
    assert_sound(program, command, "run", finished.rows("done"))


@pytest.mark.slow
def test_a_second_process_on_a_run_is_refused_and_the_first_goes_on(
    program: Program, command: Command, finished: Program
) -> None:
    with program.started("evolve", "tsp", *SMALL, "--run-id", "run") as process:
        program.wait_for("run", grown(5))
        second = program.run("resume", "run", "--quiet", "--no-report")
        assert second.code == 2
        assert f"process {process.pid}" in second.error
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, ""), out
    rows = program.rows("run")
    assert all(row.type != "RunResumed" for row in rows)
    assert_sound(program, command, "run", finished.rows("done"))
