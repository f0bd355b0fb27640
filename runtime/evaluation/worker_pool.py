"""The workers behind the pool: a fixed number of warm zygotes, the queue of jobs they take from, and that for
free slots.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Self, TypeVar

import anyio
from anyio import to_thread

from dga2d.runtime.evaluation import wire
from dga2d.runtime.evaluation.errors import (
    PoolClosedError,
    SandboxUnavailableError,
    WireError,
    WorkerStartError,
)
from dga2d.runtime.evaluation.sandbox.probe import ACTIVE
from dga2d.runtime.evaluation.worker import GONE, Worker, ZygoteSettings, build_filter

Slot = TypeVar("Slot")


class Urgency(NamedTuple):
    """Rank of a waiting request; the lowest is served first."""

    turn: int
    minus_s: float
    """Expected seconds, negative: the longest begin first."""


class _Turn(Generic[Slot]):
    """A wait for a slot."""

    def __init__(self) -> None:
        self.come = anyio.Event()
        self.slot: Slot | None = None
        self.is_given_up = False


class SlotQueue(Generic[Slot]):
    """Slots that are taken and given back, and those that wait for one."""

    def __init__(self, slots: Iterable[Slot] = ()) -> None:
        self._idle = list(slots)
        self._waiting: list[tuple[Urgency, int, _Turn[Slot]]] = []
        self._numbers = itertools.count()

    async def take(self, urgency: Urgency) -> Slot:
        """Return a slot as soon as there is one; it belongs to the caller until it is given back."""
        if self._idle:
            return self._idle.pop()
        turn = _Turn[Slot]()
        heapq.heappush(self._waiting, (urgency, next(self._numbers), turn))
        try:
            await turn.come.wait()
        except BaseException:
            turn.is_given_up = True
            if turn.slot is not None:
                self.give(turn.slot)
            raise
        assert turn.slot is not None
        return turn.slot

    def give(self, slot: Slot) -> None:
        """Hand a slot to the next that waits; also one that nobody has had before."""
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.is_given_up:
                turn.slot = slot
                turn.come.set()
                return
        self._idle.append(slot)


_PARCELS_HELD = 256
_BYTES_HELD = 128 << 20
"""What a zygote keeps of programs and environments for later requests."""
_HANG_LIMIT_S = 10.0
"""Seconds past a child's last possible end before its zygote counts as hung."""
_CANCEL_S = 2.0
"""Seconds in which a zygote must end the child of a cancelled evaluation."""
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
    """One request to a zygote."""

    programs: Sequence[Parcel]
    world: Parcel
    """The environment of the instance."""
    fields: dict[str, Any]
    last_end_s: float
    """Latest moment at which the child has ended, counted from the request."""
    answer_bytes: int
    """Largest answer."""
    oracle: Parcel | None = None
    """What the instance's oracle is made of."""

    @property
    def parcels(self) -> tuple[Parcel, ...]:
        """All that the zygote must hold, each once."""
        parcels = (*self.programs, self.world, *([] if self.oracle is None else [self.oracle]))
        return tuple({parcel.name: parcel for parcel in parcels}.values())


@dataclass(eq=False)
class _Slot:
    """The place of one worker, which starts with the first job."""

    worker: Worker | None = None


class WorkerPool:
    """`n_workers` zygotes that serve jobs; those that wait, longest expected first.

    Use as an async context manager; on leaving it, by whatever way, no process is left.
    """

    def __init__(self, settings: ZygoteSettings, n_workers: int, first: Worker) -> None:
        self._settings = settings
        self._first = first
        self._all = [_Slot() for _ in range(n_workers)]
        self._slots = SlotQueue(self._all)
        self._numbers = itertools.count()
        self._running: set[anyio.CancelScope] = set()
        self._is_closed = False
        self._all_left = anyio.Event()
        self.sandbox_status: dict[str, str] = {}
        """Layer of the sandbox → ``active``, proven by a self-test, or why it is not."""
        self.platform = ""
        """Processor and versions that machine code depends on."""
        self.busy = 0
        """Zygotes that serve a job at this moment."""

    async def __aenter__(self) -> Self:
        """Configure the first worker, which is launched; others start when they are needed.

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
        first = self._first
        await first.configure(self._settings)
        self.sandbox_status = first.sandbox_status
        self.platform = first.platform
        absent = {layer: state for layer, state in self.sandbox_status.items() if state != ACTIVE}
        if self._settings.mode == "strict" and absent:
            await first.stop()
            raise SandboxUnavailableError(absent)
        self._settings = replace(self._settings, sandbox_status=self.sandbox_status)
        self._all[-1].worker = first
        return self

    async def __aexit__(self, *_: object) -> None:
        self._is_closed = True
        with anyio.CancelScope(shield=True):
            for scope in self._running:
                scope.cancel()
            if self._running:
                await self._all_left.wait()
            async with anyio.create_task_group() as group:
                for slot in self._all:
                    if slot.worker is not None:
                        group.start_soon(slot.worker.stop)

    async def submit(self, job: Job, urgency: Urgency) -> wire.Message | None:
        """Run `job` and return the zygote's last message, ``None`` if workers died of it.

        Cancelling the call ends the child.

        Raises
        ------
        WorkerStartError
            A dead worker could not be replaced.
        PoolClosedError
            The pool was left before the job ended.
        """
        with anyio.CancelScope() as scope:
            self._running.add(scope)
            try:
                if not self._is_closed:
                    return await self._run_in_turn(job, urgency)
            finally:
                self._running.discard(scope)
                if self._is_closed and not self._running:
                    self._all_left.set()
        raise PoolClosedError

    async def _run_in_turn(self, job: Job, urgency: Urgency) -> wire.Message | None:
        slot = await self._slots.take(urgency)
        self.busy += 1
        try:
            return await self._serve(slot, job)
        finally:
            self.busy -= 1
            self._slots.give(slot)

    async def _serve(self, slot: _Slot, job: Job) -> wire.Message | None:
        """Run `job`, a second time if its zygote dies."""
        for _ in range(_TRIES):
            worker, slot.worker = slot.worker or await self._replacement(), None
            is_alive = False
            try:
                ended = await self._exchange(worker, job)
                is_alive = ended is not None
            except anyio.get_cancelled_exc_class():
                is_alive = not self._is_closed and await self._end_child(worker)
                raise
            finally:
                if is_alive:
                    slot.worker = worker
                else:
                    await worker.stop()
            if ended is not None:
                return ended
        return None

    async def _replacement(self) -> Worker:
        """Start a new zygote; one that is killed while it starts is no reason to give up."""
        for _ in range(_STARTS - 1):
            with suppress(WorkerStartError):
                return await Worker.start(self._settings)
        return await Worker.start(self._settings)

    async def _exchange(self, worker: Worker, job: Job) -> wire.Message | None:
        """Run `job` once; return the zygote's last message, ``None`` if the zygote did not survive it."""
        number = next(self._numbers)
        try:
            with anyio.fail_after(job.last_end_s + _HANG_LIMIT_S):
                await worker.send(self._request(worker, job, number))
                ended = await worker.receive(_MESSAGE_BYTES)
        except (*GONE, WireError, TimeoutError):
            return None
        if ended["id"] != number:
            return None
        if ended["is_sealed"] or ended["end"] != "died":
            return ended
        if ended["exit_code"] < 0:  # somebody killed it before the candidate's first line
            return None
        raise SandboxUnavailableError({"child": "it could not be sealed"})

    @staticmethod
    async def _end_child(worker: Worker) -> bool:
        """Have the zygote end its child; return whether it did."""
        if worker.is_sending:
            return False
        with anyio.move_on_after(_CANCEL_S, shield=True), suppress(*GONE, WireError):
            await worker.send(wire.encode({"op": "cancel"}))
            await worker.receive(_MESSAGE_BYTES)
            return True
        return False

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
                "oracle": None if job.oracle is None else job.oracle.name,
                "new": [[parcel.name, len(parcel.data)] for parcel in new],
                "forget": forget,
                "answer_bytes": job.answer_bytes,
            }
        )
        return b"".join([message, *(parcel.data for parcel in new)])
