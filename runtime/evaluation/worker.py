"""The parent's side of one zygote: start it, send it requests, end it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

import dga2d
from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.errors import WireError, WorkerStartError
from dga2d.runtime.evaluation.limits import EvaluationLimits, SandboxMode
from dga2d.runtime.evaluation.sandbox import seccomp

GONE = (
    anyio.EndOfStream,
    anyio.IncompleteRead,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    OSError,
)
"""What reading from or writing to a dead zygote raises."""
_START_S = 120.0
_END_S = 10.0
_LOCATORS = (
    "dga2d.runtime.evaluation.numba_cache.ImplementationCacheLocator,InTreeCacheLocator,UserWideCacheLocator"
)
"""Value of ``NUMBA_CACHE_LOCATOR_CLASSES``; to import the class here would load numba."""
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM", "BLIS")


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
                "mode": self.mode,
                "limits": asdict(self.limits),
                "missing": dict(self.missing),
                "sandbox_status": None if self.sandbox_status is None else dict(self.sandbox_status),
                "filter": self.seccomp_filter,
            }
        )


def zygote_command(mode: SandboxMode) -> list[str]:
    """Return the command of a zygote: safe path and no user site, so that nothing shadows our modules."""
    return [sys.executable, "-P", "-s", "-m", "dga2d.runtime.evaluation.zygote", mode]


def zygote_environment(cache: Path) -> dict[str, str]:
    """Return a clean environment: what the interpreter needs and nothing of the caller's, such as keys."""
    return {
        "PYTHONPATH": str(Path(dga2d.__file__).parent.parent),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        "PATH": os.defpath,
        "HOME": str(cache),
        "XDG_CACHE_HOME": str(cache),
        "NUMBA_CACHE_LOCATOR_CLASSES": _LOCATORS,
        **{f"{library}_NUM_THREADS": "1" for library in _THREADS},
    }


class Worker:
    """A running zygote. One request at a time."""

    def __init__(self, process: Process, sandbox_status: dict[str, str]) -> None:
        self._process = process
        assert process.stdout is not None
        self._answers = BufferedByteReceiveStream(process.stdout)
        self.sandbox_status = sandbox_status
        self.platform = ""
        """Processor and versions that its machine code depends on."""
        self.held: dict[str, int] = {}
        """Sizes of the parcels that the zygote holds by their names, oldest first."""

    @classmethod
    async def start(cls, settings: ZygoteSettings) -> Worker:
        """Start a zygote and wait until it is warm.

        Raises
        ------
        WorkerStartError
            It ended or was silent for two minutes.
        """
        with anyio.CancelScope(shield=True):  # a start that is given up half-way would leave a process behind
            process = await anyio.open_process(
                zygote_command(settings.mode),
                env=zygote_environment(settings.cache),
                cwd=settings.cache,
                start_new_session=True,
            )
        worker = cls(process, {})
        try:
            with anyio.fail_after(_START_S):
                await worker.send(settings.message())
                ready = await worker.receive(1 << 20)
            worker.sandbox_status = dict(ready["sandbox_status"])
            worker.platform = str(ready["platform"])
        except (*GONE, WireError) as error:
            reason = await worker._last_words() or str(error) or type(error).__name__
            await worker.stop()
            raise WorkerStartError(reason) from error
        except BaseException:
            await worker.stop()
            raise
        return worker

    async def _last_words(self) -> str:
        """Return the last line on the zygote's stderr."""
        assert self._process.stderr is not None
        text = bytearray()
        with anyio.move_on_after(1.0), suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while len(text) < 1 << 16:
                text += await self._process.stderr.receive()
        lines = text.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    async def send(self, message: bytes) -> None:
        """Send an encoded message; raise one of `GONE` if the zygote is gone."""
        assert self._process.stdin is not None
        await self._process.stdin.send(message)

    async def receive(self, max_bytes: int) -> wire.Message:
        """Return the next message.

        Raises
        ------
        WireError
            It is malformed or longer than `max_bytes`.
        anyio.EndOfStream, anyio.IncompleteRead
            The zygote is gone.
        """
        prefix = await self._answers.receive_exactly(wire.PREFIX.size)
        size = sum(wire.PREFIX.unpack(prefix))
        if size > max_bytes:
            raise WireError(f"message of {size} bytes exceeds {max_bytes}")
        return wire.decode(prefix + await self._answers.receive_exactly(size))

    async def receive_bytes(self, size: int) -> bytes:
        """Return the next `size` bytes; raise one of `GONE` if the zygote is gone."""
        return await self._answers.receive_exactly(size) if size else b""

    async def stop(self) -> None:
        """Kill the zygote and everything it started, and collect it; safe to call twice."""
        with anyio.CancelScope(shield=True):
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGKILL)
            with anyio.move_on_after(_END_S):
                await self._process.wait()
                await self._drain()
            await self._process.aclose()

    async def _drain(self) -> None:
        """Read until the last process that holds the pipe, PID 1 of the namespace, is gone."""
        assert self._process.stdout is not None
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                await self._process.stdout.receive()


def build_filter(limits: EvaluationLimits) -> tuple[bytes, dict[str, str]]:
    """Return the seccomp program, or an empty one and the reason by layer why there is none."""
    try:
        return seccomp.build(starts_processes=limits.processes > 0), {}
    except (ImportError, OSError, RuntimeError) as error:
        return b"", {"seccomp": str(error)}


def probe_sandbox(
    mode: SandboxMode = "best-effort", limits: EvaluationLimits | None = None
) -> dict[str, str]:
    """Return, by layer of the sandbox, ``active`` or the reason why it is not, as a self-test found.

    Blocks for about a second.

    Raises
    ------
    WorkerStartError
        No evaluation worker comes up at all.
    """
    limits = limits or EvaluationLimits()
    seccomp_filter, missing = build_filter(limits) if mode != "off" else (b"", {})
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
