"""The parent's side of one zygote: start it, send it requests, end it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio

from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.errors import WireError, WorkerStartError
from dga2d.runtime.evaluation.launch import Zygote, dismiss, launch, zygote_command, zygote_environment
from dga2d.runtime.evaluation.limits import EvaluationLimits, SandboxMode
from dga2d.runtime.evaluation.sandbox import seccomp

GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
"""What reading from or writing to a dead zygote raises."""
_START_S = 120.0
_END_S = 10.0


@dataclass(frozen=True)
class ZygoteSettings:
    """What a zygote is told when it starts."""

    mode: SandboxMode
    limits: EvaluationLimits
    cache: Path
    """Folder for compiled code of the program's own decoders, where the package itself is read-only. No
    candidate can write there."""
    decoder: Mapping[str, Any] = field(default_factory=dict)
    """Where the domain's decoder is (:func:`~dga2d.runtime.evaluation.decoders.decoder_address`)."""
    smoke: bytes = b""
    """Environment of the domain's smoke instance, encoded."""
    smoke_oracle: bytes = b""
    """What the oracle of that instance is made of, encoded; empty where the domain has no oracle."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Layers that cannot be closed, and why."""
    seccomp_filter: bytes = b""
    sandbox_status: Mapping[str, str] | None = None
    """Outcome of another zygote's self-test; ``None``: make it."""

    def message(self) -> bytes:
        """Return the first message to a zygote."""
        return wire.encode(
            {
                "decoder": dict(self.decoder),
                "smoke": self.smoke,
                "smoke_oracle": self.smoke_oracle,
                "mode": self.mode,
                "limits": asdict(self.limits),
                "missing": dict(self.missing),
                "sandbox_status": None if self.sandbox_status is None else dict(self.sandbox_status),
                "filter": self.seccomp_filter,
            }
        )


class Worker:
    """A running zygote. One request at a time."""

    def __init__(self, process: Zygote) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._requests = process.stdin.fileno()
        self._answers = process.stdout.fileno()
        self._errors = process.stderr.fileno()
        self._received = bytearray()
        self._is_stopped = False
        self.is_sending = False
        """Whether a message is under way; where that was cancelled, the zygote has but a part of it."""
        self.sandbox_status: dict[str, str] = {}
        self.platform = ""
        """Processor and versions that its machine code depends on."""
        self.held: dict[str, int] = {}
        """Sizes of the parcels that the zygote holds by their names, oldest first."""

    @classmethod
    async def start(cls, settings: ZygoteSettings) -> Worker:
        """Start a zygote and wait until it is warm; raises as `configure`."""
        worker = cls(launch(settings.mode, settings.cache))
        await worker.configure(settings)
        return worker

    async def configure(self, settings: ZygoteSettings) -> None:
        """Tell the zygote its settings and wait until it is warm; stop it where that fails.

        Raises
        ------
        WorkerStartError
            It ended or was silent for two minutes.
        """
        try:
            with anyio.fail_after(_START_S):
                await self.send(settings.message())
                ready = await self.receive(1 << 20)
            self.sandbox_status = dict(ready["sandbox_status"])
            self.platform = str(ready["platform"])
        except (*GONE, WireError) as error:
            reason = await self._last_words() or str(error) or type(error).__name__
            await self.stop()
            raise WorkerStartError(reason) from error
        except BaseException:
            await self.stop()
            raise

    async def _last_words(self) -> str:
        """Return the last line on the zygote's stderr."""
        text = bytearray()
        with anyio.move_on_after(1.0), suppress(anyio.EndOfStream):
            while len(text) < 1 << 16:
                text += await self._read(self._errors)
        lines = text.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    async def send(self, message: bytes) -> None:
        """Send an encoded message; raise one of `GONE` if the zygote is gone."""
        self.is_sending = True
        left = memoryview(message)
        while left:
            try:
                left = left[os.write(self._requests, left) :]
            except BlockingIOError:
                await anyio.wait_writable(self._requests)
        self.is_sending = False

    async def receive(self, max_bytes: int) -> wire.Message:
        """Return the next message; the answer and the oracle's record that it announces are its fields
        ``answer`` and ``record``.

        A call that is cancelled loses nothing.

        Raises
        ------
        WireError
            It is malformed or longer than `max_bytes`, its answer and record aside.
        anyio.EndOfStream
            The zygote is gone.
        """
        await self._receive_up_to(wire.PREFIX.size)
        size = wire.PREFIX.size + sum(wire.PREFIX.unpack_from(self._received))
        if size > max_bytes:
            raise WireError(f"message of {size} bytes exceeds {max_bytes}")
        await self._receive_up_to(size)
        message = wire.decode(bytes(self._received[:size]))
        middle = size + int(message.get("answer_bytes", 0))
        end = middle + int(message.get("record_bytes", 0))
        await self._receive_up_to(end)
        message["answer"] = bytes(self._received[size:middle])
        message["record"] = bytes(self._received[middle:end])
        del self._received[:end]
        return message

    async def _receive_up_to(self, size: int) -> None:
        while len(self._received) < size:
            self._received += await self._read(self._answers)

    async def _read(self, pipe: int) -> bytes:
        """Return the bytes that come next; raise `anyio.EndOfStream` where none will come."""
        if self._is_stopped:
            raise anyio.EndOfStream
        await anyio.wait_readable(pipe)
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            raise anyio.EndOfStream
        return chunk

    async def stop(self) -> None:
        """Kill the zygote and everything it started, and collect it; safe to call twice."""
        if self._is_stopped:
            return
        with anyio.CancelScope(shield=True):
            self._process.kill()
            with anyio.move_on_after(_END_S), suppress(anyio.EndOfStream):
                while True:  # until the last process that holds the pipe, PID 1 of the namespace, is gone
                    await self._read(self._answers)
            self._is_stopped = True
            dismiss(self._process)


def build_filter(limits: EvaluationLimits) -> tuple[bytes, dict[str, str]]:
    """Return the seccomp program, or an empty one and the reason by layer why there is none."""
    try:
        return seccomp.build(starts_processes=limits.processes > 0), {}
    except (ImportError, OSError, RuntimeError) as error:
        return b"", {"seccomp": str(error)}


def probe_sandbox() -> dict[str, str]:
    """Return, by layer of the sandbox, ``active`` or the reason why it is not, as a self-test found.

    Blocks for about a second.

    Raises
    ------
    WorkerStartError
        No evaluation worker comes up at all.
    """
    mode: SandboxMode = "best-effort"
    limits = EvaluationLimits()
    seccomp_filter, missing = build_filter(limits)
    with tempfile.TemporaryDirectory(prefix="dga2d-doctor-") as folder:
        settings = ZygoteSettings(mode, limits, Path(folder), missing=missing, seccomp_filter=seccomp_filter)
        try:
            run = subprocess.run(
                zygote_command(mode),
                env=zygote_environment(settings.cache),
                cwd=folder,
                input=settings.message(),
                capture_output=True,
                timeout=_START_S,
                check=False,
                start_new_session=True,
            )
            sandbox_status = wire.decode(run.stdout)["sandbox_status"]
        except (subprocess.TimeoutExpired, WireError) as error:
            raise WorkerStartError(str(error)) from error
    return dict(sandbox_status)
