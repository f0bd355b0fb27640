"""Which progress is shown, and that lines of it let nothing through."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from immutables import Map
from rich.console import Console
from tests.runtime.run_states import HOSTILE, RUNNING, call, closed, evaluation, event

from dga2d.events import InstanceKey
from dga2d.events import payloads as p
from dga2d.replay.state.ledger import Ledger
from dga2d.replay.state.work_rates import WorkRates
from dga2d.runtime.terminal.live_view import live_view
from dga2d.runtime.terminal.progress import (
    LiveProgress,
    ProgressLines,
    is_live_terminal,
    show_progress,
    silent,
)
from dga2d.runtime.terminal.run_metrics import Measurements


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        (Screen(), {"TERM": "xterm"}, True),
        (io.StringIO(), {"TERM": "xterm"}, False),
        (Screen(), {"TERM": "dumb"}, False),
        (Screen(), {}, False),
        (Screen(), {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (Screen(), {"TERM": "xterm", "NO_COLOR": ""}, True),
    ],
)
def test_only_a_capable_terminal_is_drawn_on(
    stream: io.StringIO, environment: dict[str, str], expected: bool
) -> None:
    assert is_live_terminal(stream, environment) is expected


@pytest.mark.parametrize(
    ("quiet", "as_json", "term", "kind"),
    [
        (False, False, "xterm", LiveProgress),
        (False, True, "xterm", ProgressLines),
        (False, False, "dumb", ProgressLines),
        (True, False, "xterm", type(silent)),
    ],
)
def test_the_progress_shown_follows_flags_and_terminal(
    monkeypatch: pytest.MonkeyPatch, quiet: bool, as_json: bool, term: str, kind: type
) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", term)
    monkeypatch.delenv("NO_COLOR", raising=False)
    with show_progress(quiet, as_json) as chosen:
        assert type(chosen) is kind
    assert ("\x1b[?25l" in screen.getvalue()) is (kind is LiveProgress)  # the cursor is hidden


class Load:
    workers, busy, compiling = 2, 1, 3


def test_lines_tell_what_is_going_on_every_half_minute() -> None:
    stream, now = io.StringIO(), [0.0]
    lines = ProgressLines(stream, clock=lambda: now[0])
    for second in range(1, 75):
        now[0] = float(second)
        lines.pulse()
        if second == 40:
            lines.show_workload(Load())
            lines(RUNNING, event(evaluation(), 1))
    starting = "loading the policy, starting the evaluation workers"
    told = stream.getvalue().splitlines()
    assert told[:2] == [f"starting: {starting}", f"  … {starting}; 0:31"]
    facts = "evaluating, 1 of 8 evaluations; compiling 3 implementations; workers busy 1 of 2"
    assert told[2:] == [f"  … {facts}; {clock}, about 47:15 left" for clock in ("0:41", "1:11")]
    lines.announce_stop()
    now[0] += 30.0
    lines.pulse()
    asked, waiting = stream.getvalue().splitlines()[4:]
    assert asked.startswith("stopping: evaluations and calls under way are given up, the pause is recorded")
    assert asked.endswith("a second Ctrl-C stops at once, and the log is whole either way")
    assert waiting.startswith("  … stopping: evaluations and calls under way")


def test_a_generation_says_that_nothing_is_accepted_and_why() -> None:
    calls = {
        n: replace(call(n), judged_seq=n, verdict="rejected", diagnostic=f"trial: no {n} {HOSTILE}")
        for n in range(1, 8)
    }
    for n, is_said in ((5, False), (7, True)):
        state = replace(RUNNING, ledger=Ledger(limit=9, calls=Map(list(calls.items())[:n])))
        stream = io.StringIO()
        ProgressLines(stream)(state, event(p.GenerationCompleted(generation=2, state_digest="")))
        said = f"the last {n} answers with code were all rejected, most often ({n}): trial: no {n}"
        assert (said in stream.getvalue()) is is_said
        screen = Console(file=io.StringIO(), width=80)
        screen.print(live_view(state, Measurements()))
        drawn = screen.file.getvalue()  # type: ignore[attr-defined]
        assert ("most often (7): trial: no 7" in " ".join(drawn.replace("│", " ").split())) is is_said
        assert "\x1b" not in stream.getvalue() + drawn


def test_a_generation_in_which_everything_failed_says_why() -> None:
    failed = evaluation().model_copy(update={"failure": "runtime_error", "diagnostic": "no\nmore"})
    stream = io.StringIO()
    lines = ProgressLines(stream)
    for failures in (3, 4):
        lines(RUNNING, event(failed))
        state = replace(RUNNING, history=Map({2: closed(2, -5.0, failures)}))
        lines(state, event(p.GenerationCompleted(generation=2, state_digest="")))
    assert (
        stream.getvalue().count(
            "! every candidate failed, most often (once, first on g/0): runtime_error: no more\n"
        )
        == 1
    )


@pytest.mark.parametrize(("work", "is_said"), [(0, True), (1000, False)])
def test_it_is_said_that_no_unit_of_work_could_be_measured(work: int, is_said: bool) -> None:
    point = p.WorkRatePoint(instance=InstanceKey("g/0"), size=10, work=work, cpu_s=0.1)
    measured = p.WorkRateMeasured(subject="baseline", process=1, source="measured", points=(point,))
    state = replace(RUNNING, work_rates=WorkRates().with_reference(measured.points, 2))
    stream = io.StringIO()
    ProgressLines(stream)(state, event(measured))
    screen = Console(file=io.StringIO(), width=80)
    screen.print(live_view(state, Measurements()))
    drawn = screen.file.getvalue()  # type: ignore[attr-defined]
    for said in (stream.getvalue(), " ".join(drawn.replace("│", " ").split())):
        assert ("the safe baseline has nothing to do" in said) is is_said


def test_lines_escape_what_an_endpoint_says() -> None:
    stream = io.StringIO()
    ProgressLines(stream)(RUNNING, event(p.CallsSuspended(reason=HOSTILE)))
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()
    assert r"\x1b[2J" in stream.getvalue()
