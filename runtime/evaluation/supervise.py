"""One child from its fork to its end: order, instance, deadlines, the answer's size, cancellation, reaping.

A child is forked ahead of its work where that is safe: it then waits for its order, and the caller of an
evaluation does not wait for the fork. The instance is handed over once the child says that all texts are
imported; from then on its time counts. It has ended its work as soon as its whole answer is there.
"""

from __future__ import annotations

import gc
import math
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Protocol

from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.off_heap import OffHeapFile, read_chunk, wipe
from dga2d.runtime.evaluation.sandbox import namespaces, rlimits

End = Literal["answered", "died", "timeout", "cpu_timeout", "oversized_answer", "cancelled"]
_SEALED, _STARTED, _COMPILING, _COMPILED, _ANSWER = b"RSCcA"
_MAX_MARKS = 1 << 16
"""Bytes a child may send before its answer."""
_PIPE_BYTES = 1 << 20
_REAP_POLL_S = 0.002
_CPU_POLL_S = 0.005
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
    """From its start mark, at which it is handed the instance, to its end."""
    total_s: float
    """From its order to its end, whatever its marks say."""
    cpu_s: float
    """Processor time from the order on; the kernel ends the child up to two seconds later."""
    run_cpu_s: float | None
    """Processor time from its start mark on, ``None`` for no such limit."""
    excludes_compiler: bool
    """Whether `load_s` and `run_s` stop while the child says that it compiles."""


@dataclass(frozen=True)
class ChildEnding:
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
    """Processor time of all its threads from its start mark to its end; 0 where the system does not tell."""
    has_compiled: bool
    """Whether it said, after its start mark, that it compiles."""
    answer_bytes: int
    """Length of its answer; 0 without one."""


class Sink(Protocol):
    """Where an answer is collected."""

    def write(self, data: bytes | memoryview, /) -> object: ...


class Watch:
    """Follows what a child says and keeps its clocks.

    Parameters
    ----------
    answer_bytes
        Largest answer.
    sink
        Gets the bytes of the answer.
    now
        Time of the order on the clock of the deadlines, in seconds.
    """

    def __init__(self, deadlines: Deadlines, answer_bytes: int, sink: Sink, now: float) -> None:
        self._deadlines = deadlines
        self._answer_bytes = answer_bytes
        self._sink = sink
        self._ordered = now
        self._is_sealed = False
        self._started: float | None = None
        self._cpu_at_start = 0.0
        self._compiling_since: float | None = None
        self._compiled_s = 0.0
        self._has_compiled = False
        self._marks = 0
        self._prefix = b""
        self._received = 0
        self.has_answer = False
        """Whether the child has begun to answer."""

    def feed(self, data: bytes | memoryview, now: float, cpu_s: float = 0.0) -> None:
        """Take bytes from the pipe; `cpu_s` is the child's processor time so far."""
        if self.has_answer:
            self._take(data)
            return
        for index, mark in enumerate(data):
            self._marks += 1
            if mark == _SEALED:
                self._is_sealed = True
            elif mark == _STARTED and self._started is None:
                self._started = now
                self._cpu_at_start = cpu_s
                self._compiled_s = 0.0
            elif mark == _COMPILING and self._compiling_since is None:
                self._compiling_since = now
                self._has_compiled = self._started is not None
            elif mark == _COMPILED and self._compiling_since is not None:
                self._compiled_s += now - self._compiling_since
                self._compiling_since = None
            elif mark == _ANSWER:
                self.has_answer = True
                self._take(data[index + 1 :])
                return

    def _take(self, data: bytes | memoryview) -> None:
        missing = wire.PREFIX.size - len(self._prefix)
        if missing > 0:
            self._prefix += bytes(data[:missing])
        if self._received <= self._answer_bytes:
            self._sink.write(data)
        self._received += len(data)

    def deadline(self) -> float:
        """Return the moment at which the child must have ended, as far as is known now."""
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

    def cpu_left(self, cpu_s: float) -> float:
        """Return the seconds of processor time the child may still use, having used `cpu_s` so far."""
        if self._deadlines.run_cpu_s is None or self._started is None:
            return math.inf
        return self._deadlines.run_cpu_s - (cpu_s - self._cpu_at_start)

    @property
    def has_started(self) -> bool:
        """Whether all texts are imported, as the child says."""
        return self._started is not None

    @property
    def announced(self) -> int | None:
        """Length of the answer, once its first bytes have told."""
        if len(self._prefix) < wire.PREFIX.size:
            return None
        header, body = wire.PREFIX.unpack(self._prefix)
        return wire.PREFIX.size + int(header) + int(body)

    @property
    def is_oversized(self) -> bool:
        """Whether more bytes came than there may be."""
        return self._received > self._answer_bytes or self._marks > _MAX_MARKS

    @property
    def is_complete(self) -> bool:
        """Whether all of the announced answer is there; what follows it is not read."""
        return self.announced is not None and self._received >= self.announced

    def ending(self, end: End, exit_code: int, now: float, cpu_s: float) -> ChildEnding:
        """Return the report on a child that ended at `now` on the clock of the deadlines."""
        has_started = self._started is not None
        elapsed_s = 0.0 if self._started is None else now - self._started
        used_s = cpu_s - self._cpu_at_start if has_started else 0.0
        received = 0
        if end == "answered":
            received = min(self._received, self.announced or self._received)
        return ChildEnding(
            end, exit_code, self._is_sealed, has_started, elapsed_s, used_s, self._has_compiled, received
        )


class Child:
    """A forked process that waits for one order, carries it out and is buried."""

    def __init__(self, pid: int, order: int, answer: int, questions: socket.socket | None) -> None:
        self.pid = pid
        self.questions = questions
        """Our end of the socket through which it asks its oracle; ``None`` where there is none."""
        self._order = order
        self._answer = answer
        self._unsent = b""
        self._status: int | None = None

    @classmethod
    def fork(cls, carry_out: Callable[[int, int, int | None], None], asks: bool) -> Child:
        """Fork a process that calls `carry_out` with the descriptors of its order and its answer pipe and, if
        it `asks` an oracle, of a socket for that.

        The garbage collector sleeps in it: a collection would copy what it shares with its zygote.
        """
        order_reader, order_writer = os.pipe()
        answer_reader, answer_writer = os.pipe()
        own, theirs = socket.socketpair() if asks else (None, None)
        gc.disable()
        try:
            pid = os.fork()
            if pid == 0:
                try:
                    carry_out(order_reader, answer_writer, None if theirs is None else theirs.fileno())
                finally:
                    os._exit(0 if sys.exc_info()[0] is None else 70)
        finally:
            gc.enable()
        os.close(order_reader)
        os.close(answer_writer)
        if theirs is not None:
            theirs.close()
        os.set_blocking(order_writer, False)
        os.set_blocking(answer_reader, False)
        return cls(pid, order_writer, answer_reader, own)

    def command(self, order: bytes, cpu_s: float) -> None:
        """Send the child its order, as much of it as its pipe takes; :meth:`see_end` sends the rest.

        Raises
        ------
        BrokenPipeError, ProcessLookupError
            It is dead.
        """
        if sys.platform == "linux":  # elsewhere it limits itself
            rlimits.limit_cpu(cpu_s, self.pid)
        self._unsent = order[os.write(self._order, order) :]

    def see_end(
        self,
        deadlines: Deadlines,
        answer_bytes: int,
        programs: list[OffHeapFile],
        instance: OffHeapFile,
        answer: OffHeapFile,
        is_cancelled: Callable[[], bool],
        control: int,
        on_start: Callable[[], None] = lambda: None,
    ) -> ChildEnding:
        """Wait until it has answered, died, or must be ended; call :meth:`bury` afterwards, whatever happens.

        It gets `programs` at once and `instance` when it says that it has imported them, and `on_start` is
        called; what it sends back is in `answer` afterwards. `is_cancelled` is asked whenever `control`
        becomes readable.
        """
        watch = Watch(deadlines, answer_bytes, answer, time.monotonic())
        feed = _Feed(self._order, self._unsent, programs)
        try:
            end = self._see_end(watch, feed, instance, is_cancelled, control, on_start)
        finally:
            wipe()
        now, cpu_s = time.monotonic(), _cpu_s(self.pid)
        exit_code = 0
        if end == "died":
            exit_code = self._reap()
            if -exit_code == signal.SIGKILL and cpu_s >= _SHARE_AT_KILL * deadlines.cpu_s:
                end = "timeout"  # it ignored SIGXCPU
        return watch.ending(end, exit_code, now, cpu_s)

    def _see_end(
        self,
        watch: Watch,
        feed: _Feed,
        instance: OffHeapFile,
        is_cancelled: Callable[[], bool],
        control: int,
        on_start: Callable[[], None],
    ) -> End:
        reader, is_open, has_instance = self._answer, True, False
        handle = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None
        poll = select.poll()
        for descriptor in (reader, control, handle):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        try:
            while True:
                if watch.has_started and not has_instance:
                    feed.add(instance)
                    has_instance = True
                    on_start()
                feed.go_on(poll)
                left = watch.deadline() - time.monotonic()
                if left <= 0:
                    return "timeout"
                cpu_left = watch.cpu_left(_cpu_s(self.pid))
                if cpu_left <= 0:
                    return "cpu_timeout"
                left = min(left, max(cpu_left, _CPU_POLL_S))  # one thread uses a second in a second
                ready = {descriptor for descriptor, _ in poll.poll(min(left, 60.0) * 1000 + 1)}
                is_dead = handle in ready
                if is_open and (reader in ready or is_dead) and not self._drain(watch):
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

    def _drain(self, watch: Watch) -> bool:
        """Read what is there; return ``False`` once the pipe has ended."""
        while not (watch.is_oversized or watch.is_complete):
            try:
                data = read_chunk(self._answer)
            except BlockingIOError:
                return True
            if not data:
                return False
            watch.feed(data, time.monotonic(), 0.0 if watch.has_started else _cpu_s(self.pid))
        return True

    def bury(self, with_descendants: bool) -> None:
        """Kill the child, `with_descendants` all it may have left behind too, and collect them."""
        os.close(self._order)
        os.close(self._answer)
        if self.questions is not None:
            self.questions.close()
        self._reap()
        if with_descendants:
            kill_descendants()

    def _reap(self) -> int:
        """Collect the child, killing it if it still runs, and return its exit code.

        It is a zombie until then, so that its process id means no other process.
        """
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid == 0:
                os.kill(self.pid, signal.SIGKILL)
                _, status = os.waitpid(self.pid, 0)
            self._status = status
        return os.waitstatus_to_exitcode(self._status)


class _Feed:
    """Writes to a child's order pipe as much as it takes, so that no child can keep its zygote waiting."""

    def __init__(self, pipe: int, order: bytes, files: list[OffHeapFile]) -> None:
        self._pipe = pipe
        self._order = order
        self._files = list(files)
        self._offset = 0
        self._is_polled = False

    def add(self, file: OffHeapFile) -> None:
        """Append `file` to what is to be written."""
        self._files.append(file)

    def go_on(self, poll: select.poll) -> None:
        """Write what the pipe takes now, and have `poll` report when it takes more."""
        try:
            self._write()
        except BrokenPipeError:  # the child is dead or wants no more: its end will be seen
            self._order = b""
            self._files.clear()
        has_more = bool(self._order or self._files)
        if has_more is not self._is_polled:
            self._is_polled = has_more
            if has_more:
                _widen(self._pipe)
                poll.register(self._pipe, select.POLLOUT)
            else:
                poll.unregister(self._pipe)

    def _write(self) -> None:
        with suppress(BlockingIOError):
            while self._order:
                self._order = self._order[os.write(self._pipe, self._order) :]
            while self._files:
                file = self._files[0]
                while self._offset < file.size:
                    self._offset += file.send(self._pipe, self._offset)
                self._files.pop(0)
                self._offset = 0


def _widen(pipe: int) -> None:
    """Let `pipe` hold a mebibyte if the system allows it; large instances then take fewer turns."""
    if sys.platform == "linux":
        import fcntl

        try:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:  # the user's pipes hold too much already
            return


def _cpu_s(pid: int) -> float:
    """Return the processor time of a process, dead or alive, that has not been reaped."""
    if sys.platform != "linux":
        return 0.0
    return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)


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
