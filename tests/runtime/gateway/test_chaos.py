"""Killed at any moment, a program never asks more often than its ledger says, nor than its limit allows."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from tests.fakes import chaos
from tests.fakes.behaviours import BEHAVIOURS, answer
from tests.fakes.conversation import KEY, read_state
from tests.fakes.endpoint import Asked, Exchange, RefusedError, serving

from dga2d.agents.calls import ABANDONED

if TYPE_CHECKING:
    from dga2d.replay.state.run_state import RunState

ROOT = Path(__file__).parents[3]
LIMIT = 8


@pytest.mark.parametrize("llm", ["openai:fake", "anthropic:fake"])
@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(3, marks=pytest.mark.slow),
        pytest.param(200, marks=[pytest.mark.long, pytest.mark.timeout(1800)]),
    ],
)
def test_the_server_counts_no_more_calls_than_the_ledger_and_the_ledger_no_more_than_the_limit(
    tmp_path: Path, runs: int, llm: str
) -> None:
    """The server's own count is the judge."""
    with serving({f"run-{run}": moody for run in range(runs)}) as server:
        base_url = f"http://127.0.0.1:{server.server_port}"
        arguments = [str(ROOT), str(tmp_path), base_url, llm, str(runs), "1", str(LIMIT)]
        done = subprocess.run(
            [sys.executable, "-P", chaos.__file__, *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
    in_flight = 0
    for run in range(runs):
        state = anyio.run(read_state, f"sqlite+aiosqlite:///{tmp_path}/{run}.db", "run")
        taken = server.ledger.taken[f"run-{run}"]
        assert taken <= state.ledger.used <= LIMIT
        check(state)
        in_flight += sum(call.reason == ABANDONED for call in state.ledger.calls.values())
        written = b"".join(path.read_bytes() for path in tmp_path.glob(f"{run}.db*"))
        assert KEY.encode() not in written
    assert KEY not in done.stderr
    assert int(done.stdout) >= runs
    print(f"{runs} runs, {done.stdout.strip()} processes killed, {in_flight} calls in flight at a kill")
    assert in_flight >= runs // 10, "too few processes died while a call was in flight"


def check(state: RunState) -> None:
    """Everything came to an end, and says how."""
    assert state.graph is not None
    calls = state.ledger.calls.values()
    assert {call.status for call in calls} <= {"settled", "abandoned"}
    assert all(call.reason for call in calls if call.status == "abandoned")


def moody(exchange: Exchange, asked: Asked) -> None:
    """Slow, unwilling, or unable, by chance."""
    rng = random.Random(f"{exchange.path} {asked.number}")
    mood = rng.random()
    if mood < 0.2:
        raise RefusedError(429 if mood < 0.1 else 503, Retry_After="0.01")
    if mood < 0.3:
        BEHAVIOURS["reset-after"](exchange, asked)
    elif mood < 0.4:
        BEHAVIOURS["half"](exchange, asked)
    else:
        time.sleep(rng.uniform(0.0, 0.1))
        answer(exchange, asked)
