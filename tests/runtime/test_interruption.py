"""Signals while a command writes a log: the first ends what is under way, the second the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import anyio
import pytest

from dga2d.runtime.runs import interruption
from dga2d.runtime.runs.interruption import Interruption, StoppedWhileStartingError


class Told:
    """An announcer that remembers."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def announce_stop(self) -> None:
        self.words.append("stopping")

    def announce_abort(self) -> None:
        self.words.append("abandoned")


class Exited(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def exits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        raise Exited

    monkeypatch.setattr(os, "_exit", leave)
    return codes


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_before_the_event_loop_the_first_signal_interrupts(number: signal.Signals) -> None:
    told = Told()
    stop = Interruption(told)
    with pytest.raises(KeyboardInterrupt), stop.handles_signals():
        os.kill(os.getpid(), number)
    assert (stop.signal_name, told.words) == (number.name, ["stopping"])


async def test_a_signal_inside_a_callback_whose_exceptions_are_lost_is_kept_without_a_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    stop, entity = Interruption(), Told()

    def on_end(_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):  # the handler runs between two instructions
            pass

    reference = weakref.ref(entity, on_end)
    hook = sys.unraisablehook
    with stop.handles_signals():
        del entity
        assert reference() is None
        assert stop.signal_name == "SIGTERM"
        with anyio.CancelScope() as scope, stop.cancels(scope):
            await anyio.sleep(9)
            raise AssertionError("the signal was lost")
    assert sys.unraisablehook is hook
    assert capfd.readouterr().err == ""


def test_a_signal_inside_executed_text_leaves_the_exit_code_alone(tmp_path: Path) -> None:
    (tmp_path / "stopped.py").write_text(
        "import contextlib, sys\n"
        "from dga2d.runtime.runs.interruption import Interrupted, Interruption\n"
        "with Interruption().handles_signals(), contextlib.suppress(Interrupted):\n"
        "    exec('import os, signal; os.kill(os.getpid(), signal.SIGTERM)')\n"
        "sys.exit(3)\n"
    )
    ended = subprocess.run([sys.executable, "-m", "stopped"], cwd=tmp_path, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (3, b"")


async def test_inside_a_scope_the_first_signal_cancels_it_and_nothing_else() -> None:
    stop = Interruption()
    with anyio.fail_after(10), anyio.CancelScope() as scope, stop.handles_signals(), stop.cancels(scope):
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert stop.signal_name == "SIGINT"


async def test_the_innermost_scope_is_the_one_that_is_cancelled() -> None:
    stop = Interruption()
    with (
        anyio.fail_after(10),
        anyio.CancelScope() as outer,
        stop.handles_signals(),
        stop.cancels(outer),
        anyio.CancelScope() as inner,
        stop.cancels(inner),
    ):
        os.kill(os.getpid(), signal.SIGTERM)
        await anyio.sleep_forever()
    assert (inner.cancelled_caught, outer.cancel_called) == (True, False)


async def test_a_signal_that_came_before_counts_for_a_later_scope() -> None:
    stop = Interruption()
    with anyio.CancelScope() as early, stop.handles_signals(), stop.cancels(early):
        os.kill(os.getpid(), signal.SIGINT)
    with anyio.fail_after(10), anyio.CancelScope() as late, stop.cancels(late):
        await anyio.sleep_forever()
    assert late.cancelled_caught


async def test_a_signal_after_the_end_cancels_nothing() -> None:
    told = Told()
    stop = Interruption(told)
    with anyio.CancelScope() as scope, stop.handles_signals(), stop.cancels(scope):
        stop.finish()
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep(0)
    assert not scope.cancel_called
    assert told.words == ["stopping"]


@pytest.mark.parametrize(
    ("go_on", "words"), [("dga2d test x", "`dga2d test x` goes on"), (None, "at once\n")]
)
async def test_the_second_signal_ends_the_process_and_says_how_to_go_on(
    exits: list[int], capfd: pytest.CaptureFixture[str], go_on: str | None, words: str
) -> None:
    told = Told()
    stop = Interruption(told, go_on)
    with stop.handles_signals(), anyio.CancelScope() as scope, stop.cancels(scope):
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Exited):
            os.kill(os.getpid(), signal.SIGTERM)
    assert exits == [3]
    assert told.words == ["stopping", "abandoned"]
    assert words in capfd.readouterr().err


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in interruption.SIGNALS]
    with Interruption().handles_signals():
        assert [signal.getsignal(number) for number in interruption.SIGNALS] != before
    assert [signal.getsignal(number) for number in interruption.SIGNALS] == before


def test_another_thread_leaves_the_handlers_alone() -> None:
    seen: list[object] = []

    def look() -> None:
        with Interruption().handles_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


@pytest.mark.parametrize(
    ("go_on", "words"), [(None, "nothing was recorded"), ("dga2d test x", "`dga2d test x` goes on")]
)
def test_an_early_end_says_what_is_left(go_on: str | None, words: str) -> None:
    error = StoppedWhileStartingError("SIGTERM", go_on)
    assert str(error) == f"stopped by SIGTERM while starting; {words}"
    assert error.exit_code == 3
