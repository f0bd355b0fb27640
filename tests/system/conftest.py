"""The program as a user starts it, and one finished run that many tests look at."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import psutil
import pytest
from filelock import FileLock

WAIT_S = 120.0
"""Longest wait for something that must happen; a loaded machine with cold caches stays far below."""

SMALL = (
    *("--preset", "none"),
    *("--policy", "uniform", "--library", "basic", "--operator-limit", "4", "--generations", "3"),
    *("--pipelines", "3", "--batch-size", "2", "--validation-instances", "1", "--test-instances", "1"),
    *("--work", "300", "--llm-calls", "12", "--evaluators", "1", "--seed", "2", "--quiet", "--no-report"),
    *("--race-contenders", "2", "--race-instances", "2", "--set", 'calibration="off"'),
)
"""A run of few seconds with evolution and validation; uncalibrated work, so that it repeats bit for bit."""


class Row(NamedTuple):
    """An event as it lies in the database."""

    seq: int
    type: str
    operation: str | None
    generation: int | None
    payload: bytes
    prev_hash: bytes
    hash: bytes

    @property
    def fields(self) -> dict[str, Any]:
        """The payload, decoded."""
        value: dict[str, Any] = json.loads(self.payload)
        return value


def is_log(lines: list[str]) -> bool:
    """Whether lines of stderr are all dated entries of the log for people."""
    return all(re.match(r"\d{4}-\d\d-\d\dT\S+ \[", line) for line in lines)


@dataclass(frozen=True)
class Outcome:
    """How the program ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What ``--json`` printed."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one error line; nothing but log lines may stand before it."""
        *log, line = [line for line in self.err.splitlines() if not line.startswith("starting: ")]
        assert line.startswith("error: "), self.err
        assert is_log(log), self.err
        return line


@dataclass(frozen=True)
class Program:
    """``dga2d`` in other processes, with its own folder and store."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        return self.folder / "log.db"

    @property
    def url(self) -> str:
        return f"sqlite+aiosqlite:///{self.database}"

    def run(self, *arguments: str, wait_s: float = WAIT_S, **more: Any) -> Outcome:
        """Start the program and wait for its end."""
        with self.started(*arguments, **more) as process:
            out, err = process.communicate(timeout=wait_s)
        return Outcome(process.returncode, out, err)

    @contextmanager
    def started(
        self, *arguments: str, env: Mapping[str, str] | None = None, **more: Any
    ) -> Iterator[subprocess.Popen[str]]:
        """The running program; killed with the block if it still runs."""
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "dga2d", *arguments],
            env={**os.environ, "DGA2D_STORE": self.url, **self.environment, **(env or {})},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    def rows(self, run: str) -> list[Row]:
        """What another reader sees of a run's log now; nothing if there is no log yet."""
        query = (
            "SELECT seq, type, operation, generation, payload, prev_hash, hash "
            "FROM events WHERE run_id = ? ORDER BY seq"
        )
        try:
            with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
                return [Row(*values) for values in connection.execute(query, (run,))]
        except sqlite3.OperationalError:  # the file or its tables are not there yet
            return []

    def wait_for(self, run: str, condition: Callable[[list[Row]], bool]) -> list[Row]:
        """Poll until the log fulfils `condition`."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            rows = self.rows(run)
            if condition(rows):
                return rows
            time.sleep(0.005)
        raise TimeoutError(f"{run}: nothing of the kind after {WAIT_S:g} s, {len(self.rows(run))} events")

    def copy(self, folder: Path) -> Program:
        """The same store in another folder."""
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Program(folder, self.environment)


def descendants(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """All processes below `process`."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def await_end(processes: list[psutil.Process]) -> None:
    """Wait until all of `processes` have ended by themselves."""
    _, alive = psutil.wait_procs(processes, timeout=20)
    assert not alive, alive


def digests(rows: list[Row]) -> dict[int, str]:
    """State digest of every closed generation."""
    return {
        row.fields["generation"]: row.fields["state_digest"]
        for row in rows
        if row.type == "GenerationCompleted"
    }


def cut(program: Program, run: str, seq: int) -> None:
    """Leave the log in the file as a crash right after event `seq` leaves it."""
    with closing(sqlite3.connect(program.database, isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for table in ("settlements", "charges", "reservations", "events"):
            connection.execute(f"DELETE FROM {table} WHERE run_id = ? AND seq > ?", (run, seq))
        for _, sql in triggers:
            connection.execute(sql)


def assert_has(document: Any, keys: set[str]) -> None:
    """A document may gain keys, never lose one."""
    assert keys <= set(document), keys - set(document)


class Command(Protocol):
    """``dga2d`` in this process: for commands that only read, or refuse."""

    def __call__(self, *arguments: str, program: Program | None = None) -> Outcome: ...


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    from dga2d.runtime.cli import main

    def call(*arguments: str, program: Program | None = None) -> Outcome:
        used = Program(tmp_path) if program is None else program
        monkeypatch.chdir(used.folder)
        monkeypatch.setenv("DGA2D_STORE", used.url)
        monkeypatch.setattr(sys, "argv", ["dga2d", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Outcome(end.value.code, out, err)

    return call


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a copy of a folder that `make` fills, once for all workers of pytest-xdist."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"{name}-of-all-workers"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            filled = factory.mktemp(f"{name}-new")
            make(filled)
            filled.rename(folder)
    return Path(shutil.copytree(folder, factory.mktemp(name), dirs_exist_ok=True))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """A store with the complete, uninterrupted run ``done`` of the small settings. Look, don't write."""
    environment = {"PYTHONHASHSEED": "0"}

    def make(folder: Path) -> None:
        program = Program(folder, environment)
        # the first run of all compiles its operators
        outcome = program.run("evolve", "tsp", *SMALL, "--run-id", "done", wait_s=3 * WAIT_S)
        assert (outcome.code, outcome.err) == (0, ""), outcome
        failures = [r for r in program.rows("done") if r.type == "EvaluationRecorded" and r.fields["failure"]]
        assert not failures, failures[0]

    return Program(made_once(tmp_path_factory, "finished", make), environment)


class Tested(NamedTuple):
    """The finished run after its held-out test, and what the test printed. Look, don't write."""

    program: Program
    view: dict[str, Any]


@pytest.fixture(scope="session")
def tested(finished: Program, tmp_path_factory: pytest.TempPathFactory) -> Tested:
    def make(folder: Path) -> None:
        program = finished.copy(folder)
        outcome = program.run("test", "done", "--quiet", "--json", "--report", "report.html")
        assert (outcome.code, outcome.err) == (0, "")
        (folder / "printed.json").write_text(outcome.out, encoding="utf-8")

    folder = made_once(tmp_path_factory, "tested", make)
    printed = json.loads((folder / "printed.json").read_text(encoding="utf-8"))
    return Tested(Program(folder, finished.environment), printed)


@pytest.fixture
def doomed(finished: Program, tmp_path: Path) -> Program:
    """A copy of the finished store, to be damaged."""
    return finished.copy(tmp_path)
