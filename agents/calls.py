"""How an agent gets an answer from a language model: reserve, call, settle, judge; at most once each.

A call is charged when its reservation is in the log, before anything is sent. A process that dies between
reservation and answer leaves an open call; whoever resumes abandons it (it stays spent) and asks again as
the next attempt. With the call goes the most it can use of tokens and money; settling gives the rest back.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dga2d.agents.agent import Duty
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing import (
    Completion,
    CompletionRequest,
    ConnectTask,
    ImplementTask,
    LanguageModel,
    ModelError,
    ModelUnavailableError,
    Prompt,
    PromptContext,
    Quote,
    Task,
    render,
)
from dga2d.events import AgentName, Draft, RecordedEvent, blob_digest
from dga2d.events.payloads import (
    CallPurpose,
    LimitKind,
    LLMCallAbandoned,
    LLMCallRefused,
    LLMCallReserved,
    LLMCallSettled,
    Payload,
    microusd,
)
from dga2d.replay.state.ledger import Call
from dga2d.replay.state.run_state import EvolutionBasis, GenerationState, RunState
from dga2d.replay.streams import spawn_key
from dga2d.store import LLM_CALLS, LLM_TOKENS, DuplicateOperationError, QuotaExceededError

ABANDONED = "the process ended before an answer was recorded"


@dataclass(frozen=True)
class GiveUp:
    """No further call may be made for the subject."""

    reason: str
    caused_by: int


@dataclass(frozen=True)
class Refusal:
    """The latest rejected answer for a subject: what the next prompt says of it."""

    diagnostic: str | None = None
    previous: str | None = None


def next_call(
    state: RunState, subject: str, caused_by: int, attempts: int, allowance: int
) -> Duty | GiveUp | None:
    """What is owed towards an answer for `subject`: a duty ``ask``, ``judge`` or ``abandon``, or giving up.

    ``None`` while the present process waits for an answer, or when an answer was accepted. `caused_by` is
    the event that asks for the edit; at most `attempts` calls are made, and no more than the `allowance`
    for the subject.
    """
    calls = state.ledger.calls_for(subject)
    refused = state.ledger.refusals.get(subject)
    if refused is not None:
        return GiveUp(refused.reason, refused.seq)
    if not calls:
        return _ask_or_give_up(subject, 0, caused_by, attempts, allowance)
    last = calls[-1]
    if last.status == "reserved":
        if last.reserved_seq >= state.process_seq:
            return None
        return Duty(f"abandon/{last.number}", state.process_seq, ("abandon", last.number))
    assert last.ended_seq is not None
    if last.status == "settled" and last.verdict is None:
        return Duty(f"judge/{last.number}", last.ended_seq, ("judge", last.number))
    if last.verdict == "accepted":
        return None
    return _ask_or_give_up(subject, len(calls), last.judged_seq or last.ended_seq, attempts, allowance)


def _ask_or_give_up(
    subject: str, attempt: int, caused_by: int, attempts: int, allowance: int
) -> Duty | GiveUp:
    if attempt >= attempts:
        return GiveUp(f"no valid answer in {attempts} attempts", caused_by)
    if attempt >= allowance:
        return GiveUp("no model calls left", caused_by)
    return Duty(f"ask/{subject}/{attempt}", caused_by, ("ask", attempt))


async def answer_of(call: Call, blobs: BlobSource) -> str:
    """The recorded text of a settled call."""
    assert call.response is not None
    return (await blobs.get_blob(call.response)).decode()


async def last_refusal(state: RunState, subject: str, attempt: int, blobs: BlobSource) -> Refusal:
    """The latest rejected answer before `attempt`; empty at the first, and when all were abandoned."""
    rejected = [
        call
        for call in state.ledger.calls_for(subject)
        if call.attempt < attempt and call.verdict == "rejected"
    ]
    if not rejected:
        return Refusal()
    return Refusal(rejected[-1].diagnostic, await answer_of(rejected[-1], blobs))


PROPOSAL_STREAMS: Mapping[CallPurpose, int] = {"initialize": 0, "implement": 1, "connect": 2}
"""First part of the key of a proposer's random stream; numbers, once in use, never change."""


class CallDesk:
    """Books one agent's calls and makes them."""

    def __init__(self, agent: AgentName, purpose: CallPurpose, log: EventAppender, model: LanguageModel):
        self._agent: AgentName = agent
        self._purpose: CallPurpose = purpose
        self._log = log
        self._model = model

    async def ask(
        self,
        state: RunState,
        subject: str,
        attempt: int,
        prompt: Prompt,
        task: Task,
        place: tuple[int, int],
        caused_by: int,
    ) -> None:
        """Wait for the model, reserve, send, and settle; the answer is judged by a duty of its own.

        `place` is the generation and the slot that the call is for, (0, 0) for the first graph; it names the
        random stream of the proposer.

        A call that the store does not admit is recorded as refused, one without an answer as abandoned. An
        answer is stored as UTF-8; what has no such form (lone surrogates) is stored as ``?``.

        Raises
        ------
        ModelUnavailableError
            No call can succeed until somebody acts; this one, if it was reserved, is abandoned.
        """
        seed = (state.header.seed, *spawn_key("proposal", PROPOSAL_STREAMS[self._purpose], *place))
        request = CompletionRequest(prompt, task, seed, subject)
        await self._model.ready()
        quote = self._model.quote(request)
        try:
            number, reserved_seq = await self._reserve(state, subject, attempt, prompt, quote, caused_by)
        except QuotaExceededError as error:
            await self._append(state, self._refused(subject, attempt, error), caused_by)
            return
        started = time.perf_counter()
        try:
            completion = await self._model.complete(request)
        except ModelError as error:
            await self._append(state, LLMCallAbandoned(call=number, reason=error.reason), reserved_seq)
            if isinstance(error, ModelUnavailableError):
                raise
            return
        await self._settle(state, number, completion, time.perf_counter() - started, reserved_seq)

    async def _settle(
        self, state: RunState, number: int, completion: Completion, elapsed_s: float, reserved_seq: int
    ) -> None:
        text = completion.text.encode("utf-8", errors="replace")
        reasoning = completion.reasoning.encode("utf-8", errors="replace")
        settled = LLMCallSettled(
            call=number,
            response=blob_digest(text),
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            is_estimated=completion.is_estimated,
            cost_usd=completion.cost_usd,
            elapsed_s=elapsed_s,
            reasoning=blob_digest(reasoning) if reasoning else None,
            refused_attempts=completion.refused_attempts,
            response_id=completion.response_id,
        )
        await self._append(state, settled, reserved_seq, [text, reasoning] if reasoning else [text])

    def _refused(self, subject: str, attempt: int, error: QuotaExceededError) -> LLMCallRefused:
        kinds: dict[str, LimitKind] = {LLM_CALLS: "calls", LLM_TOKENS: "tokens"}
        limit = kinds.get(error.kind, "money")
        reason = f"the limit of {limit} leaves no room for another model call ({error})"
        return LLMCallRefused(
            purpose=self._purpose, subject=subject, attempt=attempt, limit=limit, reason=reason
        )

    async def abandon(self, state: RunState, number: int, caused_by: int) -> None:
        """Close a call whose process is gone."""
        await self._append(state, LLMCallAbandoned(call=number, reason=ABANDONED), caused_by)

    async def _reserve(
        self, state: RunState, subject: str, attempt: int, prompt: Prompt, quote: Quote, caused_by: int
    ) -> tuple[int, int]:
        """Number of the call and of the event that charges it."""
        text = prompt.text.encode()
        number = state.ledger.used + 1
        while True:
            reserved = LLMCallReserved(
                call=number,
                purpose=self._purpose,
                subject=subject,
                attempt=attempt,
                prompt=blob_digest(text),
                template=prompt.template,
                model=self._model.name,
                reserved_tokens=quote.tokens,
                reserved_microusd=microusd(quote.cost_usd),
            )
            try:
                event = await self._append(state, reserved, caused_by, [text])
            except DuplicateOperationError:  # another edit took this number
                number += 1
            else:
                return number, event.seq

    async def _append(
        self,
        state: RunState,
        payload: LLMCallReserved | LLMCallSettled | LLMCallAbandoned | LLMCallRefused,
        caused_by: int,
        blobs: Sequence[bytes] = (),
    ) -> RecordedEvent:
        number = None if state.generation is None else state.generation.number
        return (await self._log.append([Draft(self._agent, payload, number, caused_by)], blobs))[0]


def open_basis(state: RunState) -> tuple[GenerationState, EvolutionBasis]:
    """The open generation and what its edits are decided on."""
    assert state.generation is not None
    assert state.generation.basis is not None
    return state.generation, state.generation.basis


def share_of_calls(calls_left: int, edits: int, attempts: int, is_edge: bool) -> int:
    """Calls an evolver may make in a generation that began its edits with `calls_left`.

    Both get what they can need (edits × attempts) while there is enough; of a scarce rest the edge evolver
    gets half, rounded down. A fixed rule, so that the two never race for the last call.
    """
    edge = min(calls_left // 2, edits * attempts)
    return edge if is_edge else calls_left - edge


def slot_allowance(calls_left: int, edits: int, attempts: int, slot: int, is_edge: bool) -> int:
    """Calls that may be made for one slot: the evolver's share, dealt out evenly, the first slots first.

    Fixed before any call is made, so that slots treated at once never race for the last call either.
    """
    share, rest = divmod(share_of_calls(calls_left, edits, attempts, is_edge), edits)
    return share + (slot < rest)


SlotTask = TypeVar("SlotTask", ImplementTask, ConnectTask)


class SlotEvolver(ABC, Generic[SlotTask]):
    """Performs duties whose subject is a kind, a slot and a detail.

    Of the kinds, ``ask`` has the attempt for its detail, ``judge`` and ``abandon`` the number of the call;
    all others close the slot without the model.
    """

    name: AgentName

    def __init__(
        self, log: EventAppender, source: BlobSource, desk: CallDesk, context: PromptContext
    ) -> None:
        self._log = log
        self._source = source
        self._desk = desk
        self._context = context

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
