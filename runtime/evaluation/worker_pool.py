"""The workers behind the pool: a fixed number of warm zygotes, and the queue of jobs they take from."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, Self

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.errors import (
    PoolClosedError,
    SandboxUnavailableError,
    WireError,
    WorkerStartError,
)
from dga2d.runtime.evaluation.sandbox.probe import ACTIVE
from dga2d.runtime.evaluation.worker import GONE, Worker, ZygoteSettings, build_filter

_PARCELS_HELD = 256
_BYTES_HELD = 128 << 20
"""What a zygote keeps of programs and environments for later requests."""
_HANG_LIMIT_S = 10.0
"""Seconds past a child's last possible end before its zygote counts as hung."""
_MESSAGE_BYTES = 1 << 16
_TRIES = 2
_STARTS = 5


_names = itertools.count(1)


@dataclass(frozen=True, eq=False)
class Parcel:
    """An encoded program or environment as it is sent to zygotes, once to each."""

    data: bytes
    name: str = field(default_factory=lambda: str(next(_names)))
    """A number that tells nothing of the contents."""


@dataclass
class Job:
    """One request to a zygote and who waits for it."""

    programs: Sequence[Parcel]
    world: Parcel
    """The environment of the instance."""
    fields: dict[str, Any]
    last_end_s: float
    """Latest moment at which the child has ended, counted from the request."""
    answer_bytes: int
    """Largest answer."""
    done: anyio.Event = field(default_factory=anyio.Event)
    cancelled: anyio.Event = field(default_factory=anyio.Event)
    ended: wire.Message | None = None
    """The zygote's last message; ``None`` when workers died of it."""
    error: Exception | None = None

    @property
    def parcels(self) -> tuple[Parcel, ...]:
        """All that the zygote must hold, each once."""
        return tuple({parcel.name: parcel for parcel in (*self.programs, self.world)}.values())


class WorkerPool:
    """`n_workers` zygotes that serve jobs, longest expected first.

    Use as an async context manager; on leaving it, by whatever way, no process is left.
    """

    def __init__(self, settings: ZygoteSettings, n_workers: int) -> None:
        self._settings = settings
        self._n_workers = n_workers
        self._queue: list[tuple[float, int, Job]] = []
        self._order = itertools.count()
        self._group: TaskGroup
        self.sandbox_status: dict[str, str] = {}
        """Layer of the sandbox → ``active``, proven by a self-test, or why it is not."""
        self.platform = ""
        """Processor and versions that machine code depends on."""
        self.busy = 0
        """Zygotes that serve a job at this moment."""

    async def __aenter__(self) -> Self:
        """Start the workers.

        Raises
        ------
        SandboxUnavailableError
            The mode is ``strict`` and a layer is missing.
        WorkerStartError
            A worker did not come up.
        """
        if self._settings.mode != "off":
            program, missing = await to_thread.run_sync(build_filter, self._settings.limits)
            self._settings = replace(self._settings, seccomp_filter=program, missing=missing)
        first = await Worker.start(self._settings)
        self.sandbox_status = first.sandbox_status
        self.platform = first.platform
        absent = {layer: state for layer, state in self.sandbox_status.items() if state != ACTIVE}
        if self._settings.mode == "strict" and absent:
            await first.stop()
            raise SandboxUnavailableError(absent)
        self._settings = replace(self._settings, sandbox_status=self.sandbox_status)
        self._send_token, self._tokens = anyio.create_memory_object_stream[None](math.inf)
        self._group = await anyio.create_task_group().__aenter__()
        for index in range(self._n_workers):
            self._group.start_soon(self._work, first if index == 0 else None)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self._group.cancel_scope.cancel()
        is_cancelled = exc is not None and isinstance(exc, anyio.get_cancelled_exc_class())
        try:
            if is_cancelled:
                return await self._group.__aexit__(exc_type, exc, traceback)
            await self._group.__aexit__(None, None, None)  # errors of the caller pass as they are
            return None
        finally:
            for _, _, job in self._queue:
                job.error = PoolClosedError()
                job.done.set()
            self._send_token.close()
            self._tokens.close()

    async def submit(self, job: Job, expected_s: float) -> wire.Message | None:
        """Run `job` and return the zygote's last message, ``None`` if workers died of it.

        Cancelling the call ends the child.

        Raises
        ------
        WorkerStartError
            A dead worker could not be replaced.
        PoolClosedError
            The pool was left while the job waited.
        """
        heapq.heappush(self._queue, (-expected_s, next(self._order), job))
        self._send_token.send_nowait(None)
        try:
            await job.done.wait()
        except BaseException:
            job.cancelled.set()
            raise
        if job.error is not None:
            raise job.error
        return job.ended

    async def _work(self, worker: Worker | None) -> None:
        """Serve jobs with one zygote after another."""
        try:
            while True:
                await self._tokens.receive()
                _, _, job = heapq.heappop(self._queue)
                job.error = PoolClosedError()
                self.busy += 1
                try:
                    worker = await self._serve(worker, job)
                finally:
                    self.busy -= 1
                    job.done.set()
        finally:
            if worker is not None:
                await worker.stop()

    async def _serve(self, worker: Worker | None, job: Job) -> Worker | None:
        """Run `job`, a second time if its zygote dies; return the zygote to go on with."""
        for _ in range(_TRIES):
            if job.cancelled.is_set():
                break
            try:
                worker = worker or await self._replacement()
                if await self._run_safely(worker, job):
                    break
            except (WorkerStartError, SandboxUnavailableError) as error:
                job.error = error
                return None
            worker = None
        job.error = None
        return worker

    async def _replacement(self) -> Worker:
        """Start a new zygote; one that is killed while it starts is no reason to give up."""
        for _ in range(_STARTS - 1):
            with suppress(WorkerStartError):
                return await Worker.start(self._settings)
        return await Worker.start(self._settings)

    async def _run_safely(self, worker: Worker, job: Job) -> bool:
        """Run `job` once; return whether its zygote survived. One that did not is gone by then."""
        is_alive = False
        try:
            is_alive = await self._run(worker, job)
        finally:
            if not is_alive:
                await worker.stop()
        return is_alive

    async def _run(self, worker: Worker, job: Job) -> bool:
        """Run `job` once; return whether the zygote survived it."""
        number = next(self._order)
        job.ended = None
        try:
            with anyio.fail_after(job.last_end_s + _HANG_LIMIT_S):
                await worker.send(self._request(worker, job, number))
                async with anyio.create_task_group() as group:
                    group.start_soon(partial(self._pass_on_cancellation, worker, job))
                    job.ended = await worker.receive(_MESSAGE_BYTES)
                    job.ended["answer"] = await worker.receive_bytes(job.ended["answer_bytes"])
                    group.cancel_scope.cancel()
        except* (*GONE, WireError, TimeoutError):
            job.ended = None
        if job.ended is None or job.ended["id"] != number:
            return False
        if job.ended["is_sealed"] or job.ended["end"] != "died":
            return True
        if job.ended["exit_code"] < 0:  # somebody killed it before the candidate's first line
            job.ended = None
            return False
        raise SandboxUnavailableError({"child": "it could not be sealed"})

    @staticmethod
    async def _pass_on_cancellation(worker: Worker, job: Job) -> None:
        await job.cancelled.wait()
        with anyio.CancelScope(shield=True):
            await worker.send(wire.encode({"op": "cancel"}))

    def _request(self, worker: Worker, job: Job, number: int) -> bytes:
        """Return the message for `job`, followed by the parcels that the zygote does not hold yet."""
        new, forget = [], []
        for parcel in job.parcels:
            if worker.held.pop(parcel.name, None) is None:
                new.append(parcel)
            worker.held[parcel.name] = len(parcel.data)
        needed = {parcel.name for parcel in job.parcels}
        while len(worker.held) > max(_PARCELS_HELD, len(needed)) or sum(worker.held.values()) > _BYTES_HELD:
            oldest = next(iter(worker.held))
            if oldest in needed:
                break
            del worker.held[oldest]
            forget.append(oldest)
        message = wire.encode(
            {
                **job.fields,
                "op": "evaluate",
                "id": number,
                "programs": [parcel.name for parcel in job.programs],
                "world": job.world.name,
                "new": [[parcel.name, len(parcel.data)] for parcel in new],
                "forget": forget,
                "answer_bytes": job.answer_bytes,
            }
        )
        return b"".join([message, *(parcel.data for parcel in new)])
