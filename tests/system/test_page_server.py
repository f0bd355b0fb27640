"""The page's server ends by a signal: streams end as answers do, the store is closed, nothing complains."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

WAIT_S = 30


def served(database: Path) -> subprocess.Popen[str]:
    """Start ``dga2d serve`` over a database."""
    store = ("--store", f"sqlite+aiosqlite:///{database}")
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dga2d", "serve", "--port", "0", "--json", *store],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line, "the program ended"
        text += line
    return str(json.loads(text)["address"])


@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGTERM, -signal.SIGTERM, ""), (signal.SIGINT, 3, "interrupted")]
)
def test_open_streams_end_with_the_server_and_nothing_complains(
    finished: Any, number: signal.Signals, code: int, said: str
) -> None:
    with served(finished.database) as process:
        try:
            base = address(process)
            with (
                httpx.Client(timeout=WAIT_S) as client,
                client.stream("GET", f"{base}changes") as changes,
                client.stream("GET", f"{base}runs/done/stream?after=0") as events,
            ):
                streams: list[Iterator[str]] = [changes.iter_lines(), events.iter_lines()]
                for stream in streams:
                    assert next(stream)
                process.send_signal(number)
                for stream in streams:  # an answer without its end raises RemoteProtocolError
                    assert len(list(stream)) >= 1
            _, errors = process.communicate(timeout=WAIT_S)
        finally:
            process.kill()
    assert process.returncode == code
    assert errors.strip() == said
