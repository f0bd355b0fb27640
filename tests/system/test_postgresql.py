"""Whole runs on a PostgreSQL server, which is killed, or they are, while they go on."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from sqlalchemy import make_url
from tests.fakes.postgres_server import PostgresServer, running_server
from tests.system.conftest import SMALL

from dga2d.events import RecordedEvent, RunId
from dga2d.store import MissingDatabaseError, UnknownRunError, open_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

EVOLVE = ("evolve", "jsp", *SMALL, "--run-id", "run")


def dga2d(*arguments: str, url: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dga2d", *arguments, "--store", url]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def printed(*arguments: str, url: str) -> Any:
    done = dga2d(*arguments, "--json", url=url)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def events(url: str) -> list[RecordedEvent]:
    async def read() -> list[RecordedEvent]:
        async with open_store(url, create=False, read_only=True) as store:
            return [event async for event in store.read(RunId("run"))]

    return anyio.run(read)


def digests(log: list[RecordedEvent]) -> list[str]:
    """States at the ends of generations."""
    return [json.loads(e.payload_bytes)["state_digest"] for e in log if e.type == "GenerationCompleted"]


@pytest.fixture(scope="module")
def reference(postgres_server: PostgresServer) -> str:
    """URL of a log that holds an undisturbed run."""
    url = postgres_server.new_url()
    done = dga2d(*EVOLVE, url=url)
    assert done.returncode == 0, done.stderr
    return url


def test_a_run_on_a_server_is_verified_exported_imported_and_served(reference: str, tmp_path: Path) -> None:
    [run] = printed("runs", url=reference)
    assert (run["run"], run["status"]) == ("run", "completed")
    assert printed("replay", "run", "--verify", url=reference)["events"] == run["events"]
    assert all(check["holds"] for check in printed("audit", "run", url=reference)["checks"])
    assert dga2d("verify-store", url=reference).returncode == 0
    assert dga2d("export", "run", "-o", str(tmp_path / "run.zip"), url=reference).returncode == 0
    in_file = f"sqlite+aiosqlite:///{tmp_path / 'log.db'}"
    assert dga2d("import", str(tmp_path / "run.zip"), url=in_file).returncode == 0
    assert events(in_file) == events(reference)
    with served(reference) as address:
        assert "run" in httpx.get(address, follow_redirects=True).text


GRANTS = """
CREATE ROLE writer LOGIN; CREATE ROLE reader LOGIN;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO writer;
GRANT UPDATE ON leases, runs TO writer; GRANT DELETE ON snapshots, blobs TO writer;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
"""
"""As ``docs/tutorials/postgresql.md`` has it."""


def test_few_rights_suffice_and_a_copy_made_by_the_servers_own_tools_is_whole(
    postgres_server: PostgresServer,
) -> None:
    server = postgres_server
    for database in ("original", "copied"):
        server.sql(f"CREATE DATABASE {database}")
    owner = server.url("original")
    assert (
        dga2d("evolve", "jsp", *SMALL, "--generations", "1", "--run-id", "first", url=owner).returncode == 0
    )
    server.sql(GRANTS, owner)
    writer, reader = (str(make_url(owner).set(username=role)) for role in ("writer", "reader"))
    ended = dga2d("evolve", "jsp", *SMALL, "--llm-tokens", "100000", "--run-id", "run", url=writer)
    assert ended.returncode == 0, ended.stderr
    assert dga2d("gc", url=writer).returncode == 0
    assert {row["run"] for row in printed("runs", url=reader)} == {"first", "run"}
    assert printed("replay", "run", "--verify", url=reader)["events"] == len(events(owner))
    refused = dga2d("fork", "run", "--generation", "1", "--no-run", url=reader)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    server.copy_database("original", "copied")
    copied = server.url("copied")
    assert dga2d("verify-store", url=copied).returncode == 0
    assert events(copied) == events(owner)


@contextmanager
def served(url: str) -> Iterator[str]:
    command = [sys.executable, "-m", "dga2d", "serve", "--port", "0", "--json", "--store", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = "".join(takewhile(lambda line: line != "}\n", process.stdout))
            yield json.loads(told + "}")["address"]
        finally:
            process.terminate()


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=[pytest.mark.long, pytest.mark.timeout(7200)])])
def test_a_run_ends_the_same_however_often_it_or_its_server_is_killed(reference: str, kills: int) -> None:
    rng, seen = random.Random(kills), list[RecordedEvent]()
    with running_server() as server:
        url = server.new_url()
        for number in range(kills + 1):
            resumed = seen and seen[-1].type != "RunCompleted"
            arguments = ("resume", "run", "--quiet", "--no-report") if resumed else EVOLVE
            if seen and not resumed:  # it was quicker than the kills: begin another
                url, seen = server.new_url(), []
            command = [sys.executable, "-m", "dga2d", *arguments, "--store", url]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                if number < kills:
                    wait_for_growth(url, len(seen), run)
                    time.sleep(rng.uniform(0.0, 3.0))
                    if rng.random() < 0.5:
                        server.restart(rng.choice([signal.SIGINT, signal.SIGQUIT, signal.SIGKILL]))
                        time.sleep(rng.uniform(0.0, 1.0))
                    run.kill()
                output = run.communicate()
                assert number < kills or run.returncode == 0, output
            seen = grown(seen, url)
            print(f"kill {min(number + 1, kills)} of {kills}: {len(seen)} events", file=sys.stderr)
        assert seen[-1].type == "RunCompleted"
        assert printed("replay", "run", "--verify", url=url)["events"] == len(seen)
        assert all(check["holds"] for check in printed("audit", "run", url=url)["checks"])
        assert dga2d("verify-store", url=url).returncode == 0
    assert_nothing_twice(seen)
    if not any(event.type == "LLMCallAbandoned" for event in seen):  # a call lost in a crash stays spent
        assert digests(seen) == digests(events(reference))


def wait_for_growth(url: str, n_events: int, run: subprocess.Popen[str]) -> None:
    """Wait until the run has written something new, or has ended."""

    async def head() -> int:
        try:
            async with open_store(url, create=False, read_only=True) as store:
                return (await store.head(RunId("run"))).seq
        except (MissingDatabaseError, UnknownRunError):
            return 0

    while run.poll() is None and anyio.run(head) <= n_events:
        time.sleep(0.5)


def grown(before: list[RecordedEvent], url: str) -> list[RecordedEvent]:
    """The log, in which everything that was there once is there for ever, and unchanged."""
    try:
        after = events(url)
    except (MissingDatabaseError, UnknownRunError):
        after = []
    assert after[: len(before)] == before
    return after


def assert_nothing_twice(log: list[RecordedEvent]) -> None:
    evaluations = Counter(
        tuple(json.loads(e.payload_bytes)[key] for key in ("split", "generation", "candidate", "instance"))
        for e in log
        if e.type == "EvaluationRecorded"
    )
    assert set(evaluations.values()) == {1}
    calls = [json.loads(e.payload_bytes)["call"] for e in log if e.type == "LLMCallReserved"]
    assert calls == list(range(1, len(calls) + 1))


def test_a_run_goes_on_through_restarts_of_its_server(reference: str) -> None:
    with running_server() as server:
        url = server.new_url()
        command = [sys.executable, "-m", "dga2d", *EVOLVE, "--store", url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            for number, how in enumerate((signal.SIGINT, signal.SIGQUIT, signal.SIGKILL)):
                wait_for_growth(url, 30 * number, run)
                server.restart(how)
            output = run.communicate()
        assert run.returncode == 0, output
        log = events(url)
        assert_nothing_twice(log)
        assert digests(log) == digests(events(reference))


def test_a_server_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    done = dga2d(*EVOLVE, url=f"postgresql+asyncpg://me:secret@/runs?host={tmp_path}")
    assert done.returncode == 2
    assert "no server answers" in done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
