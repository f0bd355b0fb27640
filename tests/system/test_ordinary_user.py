"""The whole program as an ordinary user: a home of its own, a careful umask, places it may not write."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.system.conftest import SMALL, WAIT_S, Outcome
from tests.system.ordinary_user import NOBODY, as_ordinary_user

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@dataclass(frozen=True)
class User:
    """Somebody without rights, in a folder of their own."""

    folder: Path
    prefix: list[str] = field(default_factory=as_ordinary_user)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def command(self, *arguments: str, **environment: str) -> tuple[list[str], dict[str, Any]]:
        """A command line of the program, and how to start it."""
        words = [*self.prefix, sys.executable, "-P", "-m", "dga2d", *arguments]
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1"}
        return words, {"cwd": self.folder, "env": {**kept, **environment}, "text": True}

    def run(self, *arguments: str, umask: int = 0o022, **environment: str) -> Outcome:
        """Start the program and wait for its end."""
        words, options = self.command(*arguments, **environment)
        done = subprocess.run(words, capture_output=True, check=False, timeout=600, umask=umask, **options)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def make(self, name: str, mode: int = 0o755) -> Path:
        """Make a folder of this user."""
        path = self.folder / name
        path.mkdir()
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
        path.chmod(mode)
        return path


@pytest.fixture
def user() -> Iterator[User]:
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to other users
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    try:
        yield User(folder)
    finally:
        for path in folder.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def cache() -> Iterator[str]:
    """A folder for compiled code, shared by the tests that are about other folders."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        yield folder


def assert_said(outcome: Outcome, code: int, message: str) -> None:
    """The program ended with `code` and one line, no traceback."""
    assert (outcome.code, outcome.err.count("\n")) == (code, 1), outcome
    assert re.search(message, outcome.error), outcome.err


def test_everything_works_for_an_ordinary_user(user: User) -> None:
    user.make("home")
    evolved = user.run("evolve", "tsp", *SMALL, "--run-id", "run")
    assert (evolved.code, evolved.err) == (0, ""), evolved
    for arguments in (("replay", "run", "--verify"), ("audit", "run"), ("show", "run"), ("doctor",)):
        outcome = user.run(*arguments)
        assert (outcome.code, outcome.err) == (0, ""), outcome
    solved = user.run("solve", "tsp", "rnd50-1", "--time-limit", "1", "--run", "run")
    assert "Traceback" not in solved.err
    words, options = user.command("serve", "--port", "0", "--json")
    with subprocess.Popen(words, stdout=subprocess.PIPE, **options) as server:
        assert server.stdout is not None
        try:
            text = ""
            while not text.endswith("}\n"):
                text += (line := server.stdout.readline())
                assert line, "the page did not start"
            with urllib.request.urlopen(f"{json.loads(text)['address']}runs/run", timeout=WAIT_S) as page:
                assert page.status == 200
        finally:
            server.terminate()
    owners = {path.stat().st_uid for path in user.folder.rglob("*")}
    assert owners == {NOBODY if os.geteuid() == 0 else os.geteuid()}


@pytest.mark.long
def test_a_careful_umask_keeps_everything_to_the_user(user: User) -> None:
    user.make("home", 0o700)
    evolved = user.run("evolve", "tsp", *SMALL, "--run-id", "run", umask=0o077)
    assert (evolved.code, evolved.err) == (0, ""), evolved
    assert user.run("replay", "run", "--verify", umask=0o077).code == 0
    opened = [path for path in user.folder.rglob("*") if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    assert not opened


@pytest.mark.long
def test_a_home_that_cannot_be_written_is_said_in_a_line_and_another_folder_helps(
    user: User, cache: str
) -> None:
    user.make("home", 0o555)
    refused = user.run("evolve", "tsp", *SMALL, "--run-id", "run")
    assert_said(refused, 2, "compiled code cannot be kept in .*home.*: permission denied.*DGA2D_CACHE")
    assert_said(user.run("domains", "check", "tsp"), 2, "DGA2D_CACHE")
    doctor = user.run("doctor")
    assert (doctor.code, doctor.err) == (1, "")
    assert "not writable, set DGA2D_CACHE" in doctor.out
    evolved = user.run("evolve", "tsp", *SMALL, "--run-id", "run", DGA2D_CACHE=cache)
    assert (evolved.code, evolved.err) == (0, ""), evolved
    assert user.run("replay", "run", "--verify").code == 0


@pytest.mark.long
def test_folders_and_databases_that_cannot_be_written_are_said_in_a_line(user: User, cache: str) -> None:
    user.make("home")
    closed = user.make("closed", 0o555)
    elsewhere = ("--store", f"sqlite+aiosqlite:///{closed / 'log.db'}")
    refused = user.run("evolve", "tsp", *SMALL, "--run-id", "run", *elsewhere, DGA2D_CACHE=cache)
    assert_said(refused, 2, "log.db")
    assert user.run("evolve", "tsp", *SMALL, "--run-id", "run", DGA2D_CACHE=cache).code == 0
    assert_said(
        user.run("export", "run", "-o", str(closed / "run.zip")), 2, "cannot write .*permission denied"
    )
    database = user.folder / "dga2d.db"
    closed.chmod(0o755)
    shutil.copy(database, closed / "log.db")
    (closed / "log.db").chmod(0o444)
    closed.chmod(0o555)
    for reading in (("show", "run"), ("audit", "run"), ("replay", "run", "--verify")):
        outcome = user.run(*reading, *elsewhere)
        assert (outcome.code, outcome.err) == (0, ""), outcome
    resumed = user.run(
        *("resume", "run", "--generations", "5", "--quiet", "--no-report", *elsewhere), DGA2D_CACHE=cache
    )
    assert_said(resumed, 2, "readonly|read-only")
