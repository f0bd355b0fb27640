"""No test fails because the machine is busy, and whole programs are tried first: with several workers, the
files that wait and start processes should not be left to one of them at the end."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# For NumPy's BLAS and torch, before they are loaded: where workers share the cores, their threads wait for
# each other, and what takes half a second with one thread takes fifteen with two.
os.environ.setdefault("OMP_NUM_THREADS", "1")
if (published := os.environ.pop("DGA2D_DATA", None)) is not None:
    os.environ["DGA2D_TEST_DATA"] = published  # for tests that read instances, not for programs they start

from hypothesis import HealthCheck, settings
from tests.fakes.postgres_server import PostgresServer, running_server

from dga2d.domains.core import plugins

if TYPE_CHECKING:
    from xdist.remote import Producer

settings.register_profile(
    "untimed", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("untimed"), max_examples=1000)
settings.load_profile("untimed")

HERE = Path(__file__).parent
FIRST = ("system/test_bad_input", "system/attacks", "runtime", "system", "browser", "docs", "agents")
"""Files and folders of tests that come before all others, in this order: the first one makes the run that
many of ``system`` look at, while the other workers do without it."""
TOGETHER = ("tests/browser/", "tests/agents/policy/")
"""Folders that one worker takes whole: they share a browser, or an import of PyTorch, which takes seconds."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server that all tests of a worker share, each with databases of its own."""
    with running_server() as server:
        yield server


@pytest.fixture(autouse=True)
def no_problem_file_is_left_behind() -> Iterator[None]:
    """Forget problems in files that a test made known: a process has one list of domains."""
    before = dict(plugins._problem_files), dict(plugins._recorded)
    yield
    plugins._problem_files, plugins._recorded = before


def pytest_configure() -> None:
    """Let programs that tests interrupt hear of it: what a shell starts in the background ignores SIGINT, and
    so does all that this starts."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector leave alone what stays to the end: thousands of tests and all modules."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _place(item.path.relative_to(HERE).as_posix()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Any:
    """Hand out whole files with ``--dist loadfile``, but the folders of `TOGETHER` in one piece."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrFolder(LoadFileScheduling):  # type: ignore[misc]  # it has no types
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return next((folder for folder in TOGETHER if file.startswith(folder)), file)

    return ByFileOrFolder(config, log)


def _place(path: str) -> int:
    return next((n for n, folder in enumerate(FIRST) if path.startswith(folder)), len(FIRST))
