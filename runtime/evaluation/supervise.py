"""Forks one child and watches it to its end: deadlines, the answer's size, cancellation, reaping."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dga2d.runtime.evaluation.sandbox import namespaces

End = Literal["answered", "died", "timeout", "oversized_answer", "cancelled"]
_SEALED, _STARTED, _COMPILING, _COMPILED, _ANSWER = b"RSCcA"
_CHUNK = 1 << 16
_REAP_POLL_S = 0.002


@dataclass(frozen=True)
class Deadlines:
    """Seconds a child may take."""

    load_s: float
    """From the fork to its start mark."""
    run_s: float
    """From its start mark to its end."""
    total_s: float
    """From the fork to its end, whatever its marks say."""
    excludes_compiler: bool
    """Whether `load_s` and `run_s` stop while the child says that it compiles."""


@dataclass(frozen=True)
class Ending:
    """How a child ended."""

    end: End
    exit_code: int
    """As :attr:`subprocess.Popen.returncode`: negative for a signal."""
    is_sealed: bool
    """Whether it got as far as the candidate's code; until then every fault is our own."""
    has_started: bool
    elapsed_s: float
    """From its start mark to its end; 0 when there was none."""
    answer: bytes


class Watch:
    """Reads a child's pipe and keeps its clocks."""

    def __init__(self, deadlines: Deadlines, answer_bytes: int, now: float) -> None:
        self._deadlines = deadlines
        self._answer_bytes = answer_bytes
        self._forked = now
        self._is_sealed = False
        self._started: float | None = None
        self._compiling_since: float | None = None
        self._compiled_s = 0.0
        self._answer = bytearray()
        self._is_answering = False

    def feed(self, data: bytes, now: float) -> None:
        """Take bytes from the pipe."""
        if self._is_answering:
            self._answer += data
            return
        for index, mark in enumerate(data):
            if mark == _SEALED:
                self._is_sealed = True
            elif mark == _STARTED and self._started is None:
                self._started = now
                self._compiled_s = 0.0
            elif mark == _COMPILING and self._compiling_since is None:
                self._compiling_since = now
            elif mark == _COMPILED and self._compiling_since is not None:
                self._compiled_s += now - self._compiling_since
                self._compiling_since = None
            elif mark == _ANSWER:
                self._is_answering = True
                self._answer += data[index + 1 :]
                return
            else:
                self._answer.append(mark)

    def deadline(self) -> float:
        """Moment at which the child must have ended, as far as is known now."""
        total = self._forked + self._deadlines.total_s
        if self._deadlines.excludes_compiler and self._compiling_since is not None:
            return total
        if self._started is None:
            phase = self._forked + self._deadlines.load_s
        else:
            phase = self._started + self._deadlines.run_s
        if self._deadlines.excludes_compiler:
            phase += self._compiled_s
        return min(phase, total)

    @property
    def is_oversized(self) -> bool:
        return len(self._answer) > self._answer_bytes

    def ending(self, end: End, exit_code: int, now: float) -> Ending:
        elapsed = now - self._started if self._started is not None else 0.0
        answer = bytes(self._answer) if end == "answered" else b""
        return Ending(end, exit_code, self._is_sealed, self._started is not None, elapsed, answer)

    @property
    def has_answer(self) -> bool:
        return self._is_answering


def supervise(
    run_child: Callable[[int], None],
    deadlines: Deadlines,
    answer_bytes: int,
    is_cancelled: Callable[[], bool],
    control: int,
) -> Ending:
    """Fork, let the child call `run_child` with the descriptor of its answer pipe, and see it end.

    `is_cancelled` is asked whenever `control` becomes readable. When this returns, no descendant is left.
    """
    reader, writer = os.pipe()
    watch_from = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            run_child(writer)
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 70)
    os.close(writer)
    watch = Watch(deadlines, answer_bytes, watch_from)
    try:
        end = _see_end(child, reader, watch, is_cancelled, control)
        now = time.monotonic()
    finally:
        os.close(reader)
        exit_code = _reap(child)
    return watch.ending(end, exit_code, now)


def _see_end(child: int, reader: int, watch: Watch, is_cancelled: Callable[[], bool], control: int) -> End:
    os.set_blocking(reader, False)
    handle = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
    poll = select.poll()
    for descriptor in (reader, control, handle):
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
    try:
        while True:
            left = watch.deadline() - time.monotonic()
            if left <= 0:
                return "timeout"
            ready = {descriptor for descriptor, _ in poll.poll(min(left, 60.0) * 1000 + 1)}
            if reader in ready and not _drain(reader, watch):
                poll.unregister(reader)
                if handle is None:
                    return "answered" if watch.has_answer else "died"
            if watch.is_oversized:
                return "oversized_answer"
            if control in ready and is_cancelled():
                return "cancelled"
            if handle is not None and handle in ready:
                _drain(reader, watch)
                if watch.is_oversized:
                    return "oversized_answer"
                return "answered" if watch.has_answer else "died"
    finally:
        if handle is not None:
            os.close(handle)


def _drain(reader: int, watch: Watch) -> bool:
    """Read what is there; ``False`` once the pipe has ended."""
    while not watch.is_oversized:
        try:
            data = os.read(reader, _CHUNK)
        except BlockingIOError:
            return True
        if not data:
            return False
        watch.feed(data, time.monotonic())
    return True


def _reap(child: int) -> int:
    """Kill the child and everything it left behind, and collect them; the child's exit code.

    A child that has ended by itself is a zombie until now, so its number cannot mean another process.
    """
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid == 0:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    _kill_descendants()
    return os.waitstatus_to_exitcode(status)


def _kill_descendants() -> None:
    """Orphans of the child are ours: as PID 1 of a namespace or as their subreaper."""
    while True:
        if os.getpid() == 1:
            namespaces.kill_all_others()
        else:
            for orphan in _own_children():
                os.kill(orphan, signal.SIGKILL)
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            time.sleep(_REAP_POLL_S)


def _own_children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []
