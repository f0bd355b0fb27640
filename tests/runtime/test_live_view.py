"""The live view for states as they come: what it shows, on 80 columns, and what it does not let through."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from tests.runtime.run_states import BEGUN, HOSTILE, RUNNING, STEPS, closed, header

from dga2d.events import InstanceKey
from dga2d.events import payloads as p
from dga2d.replay.settings import RunSettings
from dga2d.replay.state.generation_state import Scoring
from dga2d.replay.state.outcomes import Outcomes
from dga2d.replay.state.run_state import RunState, TestState
from dga2d.runtime.terminal.live_view import curve, live_view
from dga2d.runtime.terminal.output import printable
from dga2d.runtime.terminal.phase import clock, generations_left, phase, time_left_s
from dga2d.runtime.terminal.run_metrics import AcceptedEdit, Measurements

MEASURED = Measurements(
    run="tsp-k3v9q2",
    elapsed_s=751.0,
    evaluations=214,
    evaluations_per_s=1.84,
    workers=2,
    busy=1,
    generation_s=20.0,
    generation_times_s=(90.0, 110.0),
    edits=(AcceptedEdit(1, ("+ implementation nearest.2",)), AcceptedEdit(2, ("- edge a→b", "+ edge b→a"))),
)
TEST = TestState(
    seq=90,
    attempt=1,
    forced=False,
    candidates=(
        p.TestCandidate(label="evolved", pipeline=STEPS, time_limit_s=None),
        p.TestCandidate(label="baseline", pipeline=STEPS, time_limit_s=None),
    ),
    instances=(InstanceKey("g/0"), InstanceKey("g/1")),
)


def text(state: RunState, measured: Measurements, width: int = 80) -> str:
    """The view without colours, as a terminal of `width` columns shows it."""
    console = Console(record=True, width=width, file=io.StringIO(), color_system=None)
    console.print(live_view(state, measured))
    return console.export_text()


def test_before_its_first_event_a_run_is_said_to_start() -> None:
    told = text(RunState(), Measurements(elapsed_s=3.0))
    assert "starting" in told
    assert "loading the policy, starting the evaluation workers" in told
    assert "0:03" in told
    assert "Ctrl-C stops at the next event" in told


def test_a_run_without_a_closed_generation_promises_no_end() -> None:
    told = text(BEGUN, Measurements(run="r"))
    assert "making the initial graph" in told
    assert "0 of 10" in told
    assert "time left not known yet" in told
    assert "evaluators busy –" in told


def test_a_running_generation_shows_all_that_matters() -> None:
    told = text(RUNNING, MEASURED)
    for words in (
        "tsp-k3v9q2 · tsp · seed 7 · running",
        "3 of 10",
        "12:31, about 13:00 left",
        "evaluating, 1 of 8 evaluations",
        "best -0.0123 (generation 2)   mean -0.2500 (generation 2)",
        "incumbent 1.23 %   baseline 5.00 %   █▁",
        "214 (1.8/s)   failed 1 of 4",
        "evaluators busy 1 of 2   calls in flight 21   waits for",
        "21 of 500   tokens 1,700,000 of 2,000,000   cost $0.12 of $5.00",
        "1  + implementation nearest.2",
        "2  - edge a→b",
        "   + edge b→a",
    ):
        assert words in told, words


def test_the_last_edits_are_shown_whole_and_others_left_out() -> None:
    edits = tuple(AcceptedEdit(t, tuple(f"+ {t}.{n}" for n in range(t))) for t in (1, 2, 3, 2))
    told = text(RUNNING, replace(MEASURED, edits=edits))
    assert all(line in told for line in ("2  + 2.0", "   + 2.1", "3  + 3.0", "   + 3.2"))
    assert "+ 1.0" not in told
    many = (AcceptedEdit(1, tuple(f"+ {n}." for n in range(9))),)
    assert "+ 8." in text(RUNNING, replace(MEASURED, edits=many))


def test_the_mean_is_that_of_the_open_generation_once_it_is_scored() -> None:
    assert RUNNING.generation is not None
    scored = replace(RUNNING.generation, scoring=Scoring(20, -0.375, 0.1, ()))
    assert "mean -0.3750 (generation 3)" in text(replace(RUNNING, generation=scored), MEASURED)


def test_an_outage_is_shown_with_its_reason_and_length() -> None:
    state = replace(RUNNING, suspension="connection refused")
    assert "outage" not in text(RUNNING, MEASURED)
    told = text(state, replace(MEASURED, suspended_s=130.0))
    assert "calls wait for 2:10: connection refused" in told


def test_a_wish_to_stop_is_acknowledged() -> None:
    told = text(RUNNING, replace(MEASURED, is_stopping=True))
    assert "stopping: ending the evaluations; Ctrl-C again stops at once" in told


def test_code_that_is_compiled_is_counted() -> None:
    assert "compiling" not in text(RUNNING, MEASURED)
    assert "214 (1.8/s)   compiling 3" in text(RUNNING, replace(MEASURED, compiling=3))


def test_a_paused_run_shows_why_and_offers_no_key() -> None:
    told = text(replace(RUNNING, status="paused", reason="interrupted by SIGINT"), MEASURED)
    assert "paused: interrupted by SIGINT" in told
    assert "Ctrl-C" not in told
    assert "left" not in told


def test_a_finished_run_shows_its_test() -> None:
    done = replace(RUNNING, status="completed", reason="all 10 generations done", completed=2)
    told = text(replace(done, test=replace(TEST, mean_gaps=(0.0127, None))), MEASURED)
    assert "completed: all 10 generations done" in told
    assert "evolved 1.27 %   baseline failed   (2 instances)" in told


def test_an_open_test_shows_how_far_it_is() -> None:
    assert RUNNING.generation is not None
    begun = replace(TEST, outcomes=RUNNING.generation.outcomes)
    under_way = replace(RUNNING, status="completed", test=begun)
    told = text(under_way, replace(MEASURED, evaluations_per_s=0.5))
    assert "held-out test, 1 of 4 evaluations" in told
    assert "seed 7 · testing" in told
    assert "about 0:06 left" in told
    assert "Ctrl-C" in told


def hostile_states() -> list[tuple[RunState, Measurements]]:
    measured = replace(MEASURED, run=HOSTILE, edits=(AcceptedEdit(1, (HOSTILE,)),))
    return [
        (replace(RUNNING, started=header(HOSTILE), suspension=HOSTILE), measured),
        (replace(RUNNING, status="paused", reason=HOSTILE), measured),
    ]


@pytest.mark.parametrize(("state", "measured"), hostile_states())
def test_text_of_a_model_is_shown_and_does_nothing(state: RunState, measured: Measurements) -> None:
    console = Console(width=300, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(live_view(state, measured))
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert r"\x1b[2J\x1b]0;owned\x07 \r\n \u202e" in written
    assert "[red]x[/red]" in written
    assert "[link=http" in written
    assert "\x1b[2J" not in written
    assert not {"\x07", "\r", "\u202e"} & set(written)
    assert "\x1b]" not in written


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize(
    ("state", "measured"),
    [
        (RunState(), Measurements()),
        (RUNNING, MEASURED),
        *hostile_states(),
        (replace(RUNNING, test=TEST), replace(MEASURED, is_stopping=True)),
    ],
)
def test_no_line_is_wider_than_the_terminal(state: RunState, measured: Measurements, width: int) -> None:
    lines = text(state, measured, width).splitlines()
    assert {len(line) for line in lines} == {width}
    assert len(lines) <= 16


@pytest.mark.parametrize(
    ("character", "expected"),
    [
        ("a", "a"),
        ("é→漢 🙂", "é→漢 🙂"),
        ("\n", r"\n"),
        ("\x1b", r"\x1b"),
        ("\x9b", r"\x9b"),
        ("\u2028", r"\u2028"),
        ("\u202e", r"\u202e"),
        ("\U000e0001", r"\U000e0001"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_cannot_be_printed_is_shown_as_an_escape(character: str, expected: str) -> None:
    assert printable(character) == expected


FRESH = replace(MEASURED, generation_times_s=(), evaluations=1, evaluations_per_s=0.1)
"""The first generation is open, and one evaluation says little."""


RACES = RunSettings(generations=10, race_contenders=4)
"""Four contenders and the incumbent on 3 instances, then one of them and the incumbent on 16."""


@pytest.mark.parametrize(
    ("changes", "measured", "expected"),
    [
        ({}, MEASURED, 8 * 100.0 - 20.0),
        ({}, replace(MEASURED, generation_s=500.0), 7 * 100.0),
        ({}, replace(MEASURED, generation_times_s=()), (8 * 4 * 2 - 1) / 1.84),
        ({}, FRESH, (8 * 4 * 2 - 1) * RunSettings().time_limit / 2),
        ({"settings": RACES}, FRESH, (8 * (4 * 2 + (5 * 3 + 2 * 16)) - 1) * RunSettings().time_limit / 2),
        ({"settings": RunSettings(generations=10, work=5)}, FRESH, None),
        ({}, replace(FRESH, workers=None, busy=None), None),
        ({"status": "paused"}, MEASURED, None),
        ({"completed": 10, "generation": None}, MEASURED, 0.0),
        ({"test": TEST}, replace(MEASURED, evaluations_per_s=None), None),
        ({"test": TEST}, replace(MEASURED, evaluations_per_s=2.0), 2.0),
    ],
)
def test_time_left_is_what_is_to_come_at_the_present_pace(
    changes: dict[str, Any], measured: Measurements, expected: float | None
) -> None:
    assert time_left_s(replace(RUNNING, **changes), measured) == expected


def test_the_calls_may_end_a_run_before_its_last_generation() -> None:
    assert generations_left(RUNNING) == 8
    assert generations_left(replace(RUNNING, ledger=replace(RUNNING.ledger, limit=42))) == 2
    alone = RUNNING.settings.model_copy(update={"evolution": False})
    short = replace(RUNNING, ledger=replace(RUNNING.ledger, limit=42), settings=alone)
    assert generations_left(short) == 8


def test_the_curve_leaves_failed_generations_out() -> None:
    assert curve(RUNNING) == "█▁"
    assert curve(replace(RUNNING, history=RUNNING.history.set(1, closed(1, -5.0)))) == ""


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, "0:00"), (59.9, "0:59"), (60, "1:00"), (3599, "59:59"), (3600, "1:00:00")]
)
def test_clock_has_hours_only_when_there_are_some(seconds: float, expected: str) -> None:
    assert clock(seconds) == expected


def test_every_phase_has_words() -> None:
    assert phase(replace(RUNNING, generation=None)) == "between generations"
    assert RUNNING.generation is not None
    fresh = replace(RUNNING.generation, outcomes=Outcomes())
    assert phase(replace(RUNNING, generation=fresh)) == "sampling, 0 of 4 pipelines"
