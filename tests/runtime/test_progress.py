"""Which progress is shown, and that lines of it let nothing through."""

from __future__ import annotations

import io

import pytest
from tests.runtime.run_states import HOSTILE, RUNNING, event

from dga2d.events import payloads as p
from dga2d.runtime.terminal.progress import (
    LiveProgress,
    ProgressLines,
    is_live_terminal,
    show_progress,
    silent,
)


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
    assert ("\x1b" in screen.getvalue()) is (kind is LiveProgress)


def test_lines_escape_what_an_endpoint_says() -> None:
    stream = io.StringIO()
    ProgressLines(stream)(RUNNING, event(p.CallsSuspended(reason=HOSTILE)))
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()
    assert r"\x1b[2J" in stream.getvalue()
