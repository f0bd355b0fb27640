"""Messages at the end of a run: to an address, to a command, and what becomes of those that are lost."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from dga2d.runtime.errors import UsageError
from dga2d.runtime.runs.interruption import Interruption
from dga2d.runtime.terminal.notify import check_targets, notify

HOSTILE = "$(touch owned) \x1b[2J `touch owned`"
FACTS = {"run": "night", "status": "paused", "reason": HOSTILE, "verdict": None}
SENTENCE = r"dga2d run night paused: $(touch owned) \x1b[2J `touch owned`"


@pytest.fixture
def mailbox() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An address, and what was sent there; ``/no`` refuses."""
    letters: list[dict[str, Any]] = []

    class Box(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            letters.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(500 if self.path == "/no" else 204)
            self.end_headers()

        def log_message(self, *arguments: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Box) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", letters
        server.shutdown()


def test_an_address_gets_a_sentence_and_the_facts(mailbox: tuple[str, list[dict[str, Any]]]) -> None:
    url, letters = mailbox
    assert notify([url], {**FACTS, "reason": "", "verdict": "improved by 1 point"}) == []
    assert letters[0]["text"] == letters[0]["content"] == "dga2d run night paused. improved by 1 point"
    assert (letters[0]["run"], letters[0]["status"], letters[0]["reason"]) == ("night", "paused", "")


def test_a_command_gets_them_without_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "tell.py"
    program.write_text(
        "import os, sys, json\n"
        "json.dump([sys.argv[1:], sys.stdin.read(), os.environ['DGA2D_REASON']], open('told.json', 'w'))\n"
    )
    assert notify([f"{sys.executable} {program} 'two words'"], FACTS) == []
    arguments, text, reason = json.loads((tmp_path / "told.json").read_text())
    assert (arguments, text) == (["two words"], SENTENCE)
    assert SENTENCE.endswith(reason)
    assert not (tmp_path / "owned").exists()


def test_a_lost_message_is_a_line_and_the_others_are_sent(mailbox: tuple[str, list[dict[str, Any]]]) -> None:
    url, letters = mailbox
    lost = notify([f"{url}/no", "/nowhere/to/be/found", f"{sys.executable} -c 'exit(3)'", url], FACTS)
    assert len(letters) == 2
    assert [line.split(": ")[1] for line in lost] == [
        "HTTPStatusError",
        "FileNotFoundError",
        "CalledProcessError",
    ]


@pytest.mark.parametrize("target", ["", " ", "ftp://host/x", "mailto://a", "no-such-program x", "echo 'a"])
def test_a_target_that_nothing_can_be_sent_to_is_refused_before(target: str) -> None:
    check_targets(["https://a.example", f"{sys.executable} -m this", "cat -d @- https://b.example"])
    with pytest.raises(UsageError, match="--notify"):
        check_targets([target])


def test_a_run_is_asked_to_stop_when_its_hours_are_over() -> None:
    stop, asked = Interruption(), threading.Event()
    stop._act = asked.set
    with stop.after_hours(1e-6):
        assert asked.wait(20)
    assert stop.signal_name == "the limit of 1e-06 hours"
    other = Interruption()
    with other.after_hours(None), other.after_hours(1.0):
        assert other.signal_name is None
