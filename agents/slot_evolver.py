"""What both evolvers do for a slot of a generation: ask the model, judge its answer, or close the slot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from dga2d.agents.agent import Duty
from dga2d.agents.briefing import DomainBriefing
from dga2d.agents.calls import CallDesk, Refusal, last_refusal
from dga2d.agents.implementation_edits import open_basis
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing import ConnectTask, ImplementTask, render
from dga2d.events import AgentName, Draft
from dga2d.events.payloads import Payload
from dga2d.replay.state.run_state import RunState

SlotTask = TypeVar("SlotTask", ImplementTask, ConnectTask)


class SlotEvolver(ABC, Generic[SlotTask]):
    """Performs duties whose subject is a kind, a slot and a detail.

    Of the kinds, ``ask`` has the attempt for its detail, ``judge`` and ``abandon`` the number of the call;
    all others close the slot without the model.
    """

    name: AgentName

    def __init__(
        self, log: EventAppender, source: BlobSource, desk: CallDesk, briefing: DomainBriefing
    ) -> None:
        self._log = log
        self._source = source
        self._desk = desk
        self._briefing = briefing

    async def perform(self, duty: Duty, state: RunState) -> None:
        kind, slot, *detail = duty.subject
        if kind == "ask":
            await self._ask(state, int(slot), int(detail[0]), duty.caused_by)
        elif kind == "judge":
            await self._judge(state, int(slot), int(detail[0]), duty.caused_by)
        elif kind == "abandon":
            await self._desk.abandon(state, int(detail[0]), duty.caused_by)
        else:
            closing = self._closing(state, str(kind), int(slot), *map(str, detail))
            await self._append(state, closing, duty.caused_by)

    async def _ask(self, state: RunState, slot: int, attempt: int, caused_by: int) -> None:
        number = open_basis(state)[0].number
        task = await self._task(state, slot, attempt)
        subject = self._subject(number, slot)
        await self._desk.ask(state, subject, attempt, render(task), task, (number, slot), caused_by)

    async def _last_refusal(self, state: RunState, slot: int, attempt: int) -> Refusal:
        """What was wrong with the answer before this attempt."""
        subject = self._subject(open_basis(state)[0].number, slot)
        return await last_refusal(state, subject, attempt, self._source)

    async def _append(
        self, state: RunState, payload: Payload, caused_by: int, blobs: Sequence[bytes] = ()
    ) -> None:
        number = open_basis(state)[0].number
        await self._log.append([Draft(self.name, payload, number, caused_by)], blobs)

    @abstractmethod
    def _subject(self, number: int, slot: int) -> str:
        """Name of the slot in calls."""

    @abstractmethod
    async def _task(self, state: RunState, slot: int, attempt: int) -> SlotTask:
        """What the model is asked for."""

    @abstractmethod
    async def _judge(self, state: RunState, slot: int, number: int, caused_by: int) -> None:
        """Append the verdict on the answer of call `number`."""

    @abstractmethod
    def _closing(self, state: RunState, kind: str, slot: int, reason: str = "") -> Payload:
        """The event that closes the slot without the model."""
