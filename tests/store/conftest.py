"""Stores in temporary files and databases, and drafts to fill them with.

A test that asks for `url` or `store` runs on both databases, one that asks for `path` or `raw` on SQLite
alone. A module may name its `KINDS`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from sqlalchemy import URL
from tests.fakes.postgres_server import PostgresServer

from dga2d.events import BlobDigest, Draft, RunId
from dga2d.events.payloads import GenerationStarted, LLMCallReserved, RunPaused
from dga2d.store import EventStore, open_store

RUN = RunId("run-1")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kind" in metafunc.fixturenames:
        kinds: tuple[str, ...] = getattr(metafunc.module, "KINDS", ("sqlite", "postgresql"))
        is_of_files = {"path", "raw"} & set(metafunc.fixturenames)
        metafunc.parametrize("kind", ["sqlite"] if is_of_files else kinds)


@pytest.fixture
def run_id() -> RunId:
    return RUN


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log with space%20?.db"


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest) -> str:
    """Where the test's log is, or will be made."""
    if kind == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres_server")
        return server.new_url()
    return URL.create("sqlite+aiosqlite", database=str(request.getfixturevalue("path"))).render_as_string()


@pytest.fixture
async def store(url: str) -> AsyncIterator[EventStore]:
    async with open_store(url) as store:
        yield store


@pytest.fixture
def note() -> Callable[[object], Draft]:
    """A draft that may be repeated."""
    return lambda text: Draft("conductor", RunPaused(reason=str(text)))


@pytest.fixture
def once() -> Callable[[int], Draft]:
    """A draft whose operation is unique per number."""
    return lambda t: Draft(
        "conductor", GenerationStarted(generation=t, graph_digest="g", pools_digest="p"), generation=t
    )


@pytest.fixture
def reserve() -> Callable[[int], Draft]:
    """A draft that books a numbered call."""
    return lambda call: Draft(
        "initializer",
        LLMCallReserved(
            call=call,
            purpose="initialize",
            subject="initialize",
            attempt=1,
            prompt=BlobDigest("0" * 64),
            template="t/1",
            model="m",
        ),
    )


@pytest.fixture
def raw(path: Path) -> Callable[[], sqlite3.Connection]:
    """A connection as any program on the machine may open it, with SQLite's own defaults."""
    return lambda: sqlite3.connect(path, isolation_level=None)
