"""The process that answers a candidate's questions and counts them: a domain's oracle, out of its reach.

A zygote forks it for one evaluation, when the candidate has started. It alone reads the instance's own data,
from a file that no other process holds in memory, and seals itself like a candidate. Questions and answers go
through a socket; when the zygote says so, or the candidate is gone, the record goes to the zygote through
another.

Question: rows (u32, little endian) · columns (u32) · rows × columns float64. Answer: the same; `REFUSED`
instead of the rows is followed by the length of a text and the text.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dga2d.domains.core.errors import OracleRefusedError
from dga2d.domains.core.oracle import Oracle
from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.off_heap import OffHeapFile
from dga2d.runtime.evaluation.sandbox import rlimits
from dga2d.runtime.evaluation.sandbox.seal import ANSWER_FD, QUESTION_FD, Seal

MakeOracle = Callable[[Mapping[str, Any]], Oracle]
MOST_NUMBERS = 1 << 20
"""In a question, and in an answer."""
MOST_RECORD_BYTES = 4 << 20
REFUSED = 0xFFFFFFFF
_SHAPE = struct.Struct("<II")
_END_S = 5.0
"""Seconds an oracle may take for the answer under way and its record."""


class OracleClient:
    """The oracle as a candidate's process sees it; asks through :data:`QUESTION_FD`."""

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the answers to questions, one a row.

        Raises
        ------
        OracleRefusedError
            There are no answers to these questions.
        """
        asked = np.ascontiguousarray(rows, dtype=np.float64)
        if asked.ndim != 2 or asked.size > MOST_NUMBERS:
            raise OracleRefusedError(
                f"questions are rows of numbers, {MOST_NUMBERS} at most, not an array of shape {asked.shape}"
            )
        _send(_SHAPE.pack(*asked.shape) + asked.tobytes())
        n_rows, n_columns = _SHAPE.unpack(_receive(_SHAPE.size))
        if n_rows == REFUSED:
            raise OracleRefusedError(_receive(n_columns).decode("utf-8", "replace"))
        return np.frombuffer(_receive(8 * n_rows * n_columns)).reshape(n_rows, n_columns).copy()


def _send(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(QUESTION_FD, view) :]


def _receive(size: int) -> bytes:
    data = os.read(QUESTION_FD, size) if size else b""
    while len(data) < size:
        more = os.read(QUESTION_FD, size - len(data))
        if not more:
            raise OracleRefusedError("the oracle is gone")
        data += more
    return data


class OracleProcess:
    """A zygote's side of an oracle."""

    def __init__(self, pid: int, control: socket.socket) -> None:
        self._pid = pid
        self._control = control

    @classmethod
    def fork(
        cls, make_oracle: MakeOracle, data: OffHeapFile, questions: socket.socket, seal: Seal, cpu_s: float
    ) -> OracleProcess:
        """Fork the oracle of the instance that `data` is the encoding of; it answers on `questions`."""
        own, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                rlimits.limit_cpu(cpu_s)
                encoded = data.read()
                seal.close(theirs.fileno(), theirs.fileno(), questions.fileno())
                _Server(make_oracle(wire.decode(encoded))).serve()
                code = 0
            finally:
                os._exit(code)
        theirs.close()
        return cls(pid, own)

    def finish(self, record: OffHeapFile) -> None:
        """Have it write its record to `record`, which stays empty where it fails, and see it end."""
        self._control.shutdown(socket.SHUT_WR)
        self._control.settimeout(_END_S)
        try:
            while chunk := self._control.recv(1 << 16):
                record.write(chunk)
                if record.size > MOST_RECORD_BYTES:
                    record.clear()
                    break
        except OSError:  # it hangs
            record.clear()
        finally:
            self._control.close()
            os.kill(self._pid, signal.SIGKILL)  # it has said all; a zombie does not mind
            os.waitpid(self._pid, 0)


class _EndedError(Exception):
    """No more questions will come."""


class _Server:
    """The loop of the forked process: control on :data:`ANSWER_FD`, questions on :data:`QUESTION_FD`."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        os.set_blocking(QUESTION_FD, False)
        self._poll = select.poll()
        self._poll.register(ANSWER_FD, select.POLLIN)

    def serve(self) -> None:
        try:
            while True:
                self._write(self._answer())
        except _EndedError:
            pass
        view = memoryview(wire.encode(self._oracle.record()))
        while view:
            view = view[os.write(ANSWER_FD, view) :]

    def _answer(self) -> bytes:
        n_rows, n_columns = _SHAPE.unpack(self._read(_SHAPE.size))
        if n_rows * n_columns > MOST_NUMBERS or n_rows > MOST_NUMBERS:
            raise _EndedError  # whoever wrote that is no client
        rows = np.frombuffer(self._read(8 * n_rows * n_columns)).reshape(n_rows, n_columns)
        try:
            answers = np.ascontiguousarray(self._oracle.answer(rows), dtype=np.float64)
        except OracleRefusedError as error:
            reason = str(error).encode()
            return _SHAPE.pack(REFUSED, len(reason)) + reason
        return _SHAPE.pack(*answers.shape) + answers.tobytes()

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            self._wait(select.POLLIN)
            chunk = os.read(QUESTION_FD, size - len(data))
            if not chunk:
                raise _EndedError
            data += chunk
        return data

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(QUESTION_FD, view) :]
            except BlockingIOError:
                self._wait(select.POLLOUT)
            except (BrokenPipeError, ConnectionResetError) as error:
                raise _EndedError from error

    def _wait(self, event: int) -> None:
        """Wait until the candidate has written, or reads; the end comes first."""
        self._poll.register(QUESTION_FD, event)
        ready = dict(self._poll.poll())
        if ANSWER_FD in ready or ready.get(QUESTION_FD, 0) & select.POLLERR:
            raise _EndedError
