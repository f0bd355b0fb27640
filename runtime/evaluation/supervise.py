"""One child from its fork to its end: order, deadlines, the answer's size, cancellation, reaping.

A child is forked ahead of its work where that is safe: it then waits for its order, and the caller of an
evaluation does not wait for the fork. It has ended its work as soon as its whole answer is there.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.sandbox import namespaces

End = Literal["answered", "died", "timeout", "oversized_answer", "cancelled"]
_SEALED, _STARTED, _COMPILING, _COMPILED, _ANSWER = b"RSCcA"
_CHUNK = 1 << 16
_REAP_POLL_S = 0.002
_SHARE_AT_KILL = 0.95
"""Part of its processor time after which a killed child was killed for it: the kernel counts in ticks."""
_CPUCLOCK_SCHED = 2
"""Kind of a process's processor clock in the kernel's clock numbers."""


@dataclass(frozen=True)
class Deadlines:
    """Seconds a child may take."""

    load_s: float
    """From its order to its start mark."""
    run_s: float
    """From its start mark to its end."""
    total_s: float
    """From its order to its end, whatever its marks say."""
    cpu_s: float
    """Processor time from the order on; the kernel ends the child up to two seconds later."""
    excludes_compiler: bool
    """Whether `load_s` and `run_s` stop while the child says that it compiles."""


@dataclass(frozen=True)
class Ending:
    """How a child ended."""

    end: End
    exit_code: int
    """As :attr:`subprocess.Popen.returncode`: negative for a signal; 0 when it was ended from outside."""
    is_sealed: bool
    """Whether it got as far as the candidate's code; until then every fault is our own."""
    has_started: bool
    elapsed_s: float
    """From its start mark to its end; 0 when there was none."""
    cpu_s: float
    """Processor time of all its threads; 0 where the system does not tell."""
    has_compiled: bool
    """Whether it said, after its start mark, that it compiles: its time was not all its own."""
    answer: bytes


class Watch:
    """Reads a child's pipe and keeps its clocks."""

    def __init__(self, deadlines: Deadlines, answer_bytes: int, now: float) -> None:
        self._deadlines = deadlines
        self._answer_bytes = answer_bytes
        self._ordered = now
        self._is_sealed = False
        self._started: float | None = None
        self._compiling_since: float | None = None
        self._compiled_s = 0.0
        self._has_compiled = False
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
                self._has_compiled = self._started is not None
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
        total = self._ordered + self._deadlines.total_s
        if self._deadlines.excludes_compiler and self._compiling_since is not None:
            return total
        if self._started is None:
            phase = self._ordered + self._deadlines.load_s
        else:
            phase = self._started + self._deadlines.run_s
        if self._deadlines.excludes_compiler:
            phase += self._compiled_s
        return min(phase, total)

    @property
    def announced(self) -> int | None:
        """Length of the answer, once its first bytes have told."""
        if not self._is_answering or len(self._answer) < wire.PREFIX.size:
            return None
        header, body = wire.PREFIX.unpack_from(self._answer)
        return wire.PREFIX.size + int(header) + int(body)

    @property
    def is_oversized(self) -> bool:
        """Whether more bytes came than an answer may have."""
        return len(self._answer) > self._answer_bytes

    @property
    def is_complete(self) -> bool:
        """Whether all of the announced answer is there; what follows it is not read."""
        return self.announced is not None and len(self._answer) >= self.announced

    @property
    def has_answer(self) -> bool:
        """Whether the child has begun to answer."""
        return self._is_answering

    def ending(self, end: End, exit_code: int, now: float, cpu_s: float) -> Ending:
        """What is reported of a child that ended at `now` on the clock of the deadlines."""
        elapsed = now - self._started if self._started is not None else 0.0
        answer = bytes(self._answer[: self.announced]) if end == "answered" else b""
        has_started = self._started is not None
        return Ending(
            end, exit_code, self._is_sealed, has_started, elapsed, cpu_s, self._has_compiled, answer
        )


class Child:
    """A forked process that waits for one order, carries it out and is buried."""

    def __init__(self, pid: int, order: int, answer: int) -> None:
        self.pid = pid
        self._order = order
        self._answer = answer
        self._status: int | None = None

    @classmethod
    def fork(cls, carry_out: Callable[[bytes, int], None], rehearse: Callable[[], None] | None) -> Child:
        """Fork a process that will call `carry_out` with its order and the descriptor of its answer pipe.

        While it waits it calls `rehearse`, to have copied the memory that every order writes to.
        """
        order_reader, order_writer = os.pipe()
        answer_reader, answer_writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(order_writer)
                os.close(answer_reader)
                if rehearse is not None:
                    rehearse()
                order = _read_all(order_reader)
                if order:
                    carry_out(order, answer_writer)
            finally:
                os._exit(0 if sys.exc_info()[0] is None else 70)
        os.close(order_reader)
        os.close(answer_writer)
        return cls(pid, order_writer, answer_reader)

    def command(self, order: bytes) -> None:
        """Give the child its work.

        Raises
        ------
        BrokenPipeError
            It is dead.
        """
        view = memoryview(order)
        try:
            while view:
                view = view[os.write(self._order, view) :]
        finally:
            os.close(self._order)
            self._order = -1

    def see_end(
        self, deadlines: Deadlines, answer_bytes: int, is_cancelled: Callable[[], bool], control: int
    ) -> Ending:
        """Wait until it has answered, died, or must be ended; call :meth:`bury` afterwards, whatever happens.

        `is_cancelled` is asked whenever `control` becomes readable.
        """
        watch = Watch(deadlines, answer_bytes, time.monotonic())
        end = self._see_end(watch, is_cancelled, control)
        now, cpu_s = time.monotonic(), _cpu_s(self.pid)
        exit_code = 0
        if end == "died":
            exit_code = self._reap()
            if -exit_code == signal.SIGKILL and cpu_s >= _SHARE_AT_KILL * deadlines.cpu_s:
                end = "timeout"  # it ignored SIGXCPU
        return watch.ending(end, exit_code, now, cpu_s)

    def _see_end(self, watch: Watch, is_cancelled: Callable[[], bool], control: int) -> End:
        reader, is_open = self._answer, True
        os.set_blocking(reader, False)
        handle = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
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
                is_dead = handle in ready
                if is_open and (reader in ready or is_dead) and not _drain(reader, watch):
                    is_open = False
                    poll.unregister(reader)
                    is_dead = is_dead or handle is None
                if watch.is_oversized:
                    return "oversized_answer"
                if watch.is_complete:
                    return "answered"
                if control in ready and is_cancelled():
                    return "cancelled"
                if is_dead:
                    return "answered" if watch.has_answer else "died"
        finally:
            if handle is not None:
                os.close(handle)

    def bury(self, with_descendants: bool) -> None:
        """Kill the child, `with_descendants` all it may have left behind too, and collect them."""
        if self._order >= 0:
            os.close(self._order)
        os.close(self._answer)
        self._reap()
        if with_descendants:
            kill_descendants()

    def _reap(self) -> int:
        """Its exit code. A child that ended by itself is a zombie until now: its number means no other."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid == 0:
                os.kill(self.pid, signal.SIGKILL)
                _, status = os.waitpid(self.pid, 0)
            self._status = status
        return os.waitstatus_to_exitcode(self._status)


def _read_all(descriptor: int) -> bytes:
    chunks = []
    while chunk := os.read(descriptor, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def _cpu_s(pid: int) -> float:
    """Processor time of a process, dead or alive, that has not been reaped."""
    if sys.platform != "linux":
        return 0.0
    return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)


def _drain(reader: int, watch: Watch) -> bool:
    """Read what is there; ``False`` once the pipe has ended."""
    while not (watch.is_oversized or watch.is_complete):
        try:
            data = os.read(reader, _CHUNK)
        except BlockingIOError:
            return True
        if not data:
            return False
        watch.feed(data, time.monotonic())
    return True


def kill_descendants() -> None:
    """Kill and collect every child of this process and their orphans, which are ours too: as PID 1 of a
    namespace or as their subreaper."""
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
