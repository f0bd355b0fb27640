"""How an agent gets an answer from a language model: reserve, call, settle, judge; at most once each.

A call is charged when its reservation is in the log, before anything is sent. A process that dies between
reservation and answer leaves an open call; whoever resumes abandons it (it stays spent) and asks again as
the next attempt. With the call goes the most it can use of tokens and money; settling gives the rest back.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import anyio

from dga2d.agents.agent import Decision, Duty, open_basis, open_generation
from dga2d.agents.model_choice import ranked_models
from dga2d.agents.ports import BlobSource, EventAppender
from dga2d.agents.proposing.errors import ModelError, ModelUnavailableError, ProposalError
from dga2d.agents.proposing.models import Completion, CompletionRequest, LanguageModel, ModelPool, Models
from dga2d.agents.proposing.prompts import Prompt, render
from dga2d.agents.proposing.tasks import PastAttempts, Task
from dga2d.events import AgentName, Draft, Payload, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.state.ledger import Call
from dga2d.replay.state.run_state import RunState
from dga2d.replay.streams import spawn_key
from dga2d.store import LLM_CALLS, LLM_TOKENS, DuplicateOperationError, QuotaExceededError

AnyTask = TypeVar("AnyTask")
CALLERS: Mapping[p.CallPurpose, AgentName] = {
    "initialize": "initializer",
    "implement": "implementation_evolver",
    "connect": "edge_evolver",
    "operator": "operator_evolver",
    "kernel": "kernel_evolver",
    "program": "method_runner",
    "reflect": "method_runner",
    "describe": "method_runner",
}
"""Who asks a model for what."""
PROPOSAL_STREAMS: Mapping[p.CallPurpose, int] = {
    "initialize": 0,
    "implement": 1,
    "connect": 2,
    "operator": 3,
    "program": 4,
    "reflect": 5,
    "describe": 6,
    "kernel": 7,
}
"""First part of the key of a proposer's random stream; numbers, once in use, never change."""
LIMITS: Mapping[str, p.LimitKind] = {LLM_CALLS: "calls", LLM_TOKENS: "tokens"}
"""What the store's quotas are called; the third is money."""
PATIENCE_S = 30.0
"""Seconds that a call waits for the model chosen for it before another is taken."""
STALE = "stale"
"""Stage of answers that fitted when they were asked for in an earlier generation, and no longer do."""
ABANDONED = "the process ended before an answer was recorded"


# ------------------------------------------------------------ duties


@dataclass(frozen=True)
class AskModel(Duty):
    """Reserve a call, make it, and record how it ended."""

    purpose: p.CallPurpose
    slot: int
    """Of the open generation; 0 for the first graph."""
    attempt: int
    """0, 1, …: calls made for the slot before."""
    ticket: p.Ticket | None = field(default=None, compare=False)
    """What the answer is for, where a later generation takes it."""


@dataclass(frozen=True)
class JudgeAnswer(Duty):
    """Record the verdict on the answer of a settled call."""

    slot: int
    call: int


@dataclass(frozen=True)
class AbandonCall(Duty):
    """Close a call whose process is gone."""

    purpose: p.CallPurpose
    call: int


@dataclass(frozen=True)
class GiveUp:
    """No further call may be made for a slot."""

    caused_by: int
    reason: str


def call_subject(state: RunState, purpose: p.CallPurpose, slot: int) -> str:
    """Return the name by which the ledger knows the calls for a slot of the open generation."""
    if state.generation is None:
        return purpose
    number, asked = call_place(state, purpose, slot)
    return f"{purpose}/{number}/{asked}"


def call_place(state: RunState, purpose: p.CallPurpose, slot: int) -> tuple[int, int]:
    """Return the generation and slot that first asked for what a slot of the open generation is about."""
    generation = open_generation(state)
    taken = None if generation.basis is None else generation.basis.landing_call(purpose, slot)
    return (generation.number, slot) if taken is None else state.ledger.calls[taken].place


def models_for(state: RunState, duty: AskModel) -> tuple[str, ...]:
    """Return the models for a call, the chosen one first; empty where a run has a single one."""
    subject = call_subject(state, duty.purpose, duty.slot)
    return ranked_models(state, duty.purpose, duty.slot, duty.attempt, subject)


def next_call(
    state: RunState, purpose: p.CallPurpose, slot: int, caused_by: int, most: int
) -> AskModel | JudgeAnswer | AbandonCall | GiveUp | None:
    """Return what is owed towards an answer for a slot.

    ``None`` while the present process waits for an answer, or when one was accepted. `caused_by` is the event
    that asks for the edit. At most ``attempts_per_edit`` calls are made, and no more than `most`.
    """
    subject = call_subject(state, purpose, slot)
    calls = state.ledger.calls_for(subject)
    refused = state.ledger.refusals.get(subject)
    if refused is not None:
        return GiveUp(refused.seq, refused.reason)
    if calls:
        last = calls[-1]
        if last.status == "reserved":
            is_ours = last.reserved_seq >= state.process_seq
            return None if is_ours else AbandonCall(state.process_seq, purpose, last.number)
        assert last.ended_seq is not None
        if last.status == "settled" and last.verdict is None:
            return JudgeAnswer(last.ended_seq, slot, last.number)
        if last.verdict == "accepted":
            return None
        caused_by = last.judged_seq or last.ended_seq
    attempts = state.settings.attempts_per_edit
    if len(calls) >= attempts:
        return GiveUp(caused_by, f"no valid answer in {attempts} attempts")
    if not _can_ask_again(state, purpose):
        return GiveUp(caused_by, "no generation is left that would take another answer")
    if len(calls) >= most:
        return GiveUp(caused_by, "no model calls left")
    return AskModel(caused_by, purpose, slot, len(calls))


def _can_ask_again(state: RunState, purpose: p.CallPurpose) -> bool:
    """Return whether an answer asked for in the open generation would be taken in one of the run."""
    is_lagging = purpose in ("implement", "connect") and open_basis(state)[1].lag > 0
    return not is_lagging or open_basis(state)[1].can_ask


def allowance(state: RunState, purpose: p.CallPurpose, slot: int) -> int:
    """Return the most calls for a slot of the open generation, whose credits must have been updated; those
    made for it in earlier ones count."""
    basis, is_edge = open_basis(state)[1], purpose == "connect"
    slots = basis.edge_slots if is_edge else basis.implementation_slots
    attempts = 1 if basis.lag else state.settings.attempts_per_edit
    share = share_of_calls(basis.calls_left, basis.edge_slots, attempts, is_edge)
    return _made_before(state, purpose, slot) + slot_allowance(share, slots, slot)


def _made_before(state: RunState, purpose: p.CallPurpose, slot: int) -> int:
    """Return how many calls were made for a slot in earlier generations."""
    made, since = state.ledger.calls_for(call_subject(state, purpose, slot)), open_basis(state)[1].seq
    return sum(call.reserved_seq < since for call in made)


def is_last_attempt(state: RunState, purpose: p.CallPurpose, slot: int, attempt: int) -> bool:
    """Return whether no further call may be made for a slot of the open generation."""
    most = min(state.settings.attempts_per_edit, allowance(state, purpose, slot))
    return attempt + 1 >= most or not _can_ask_again(state, purpose)


def share_of_calls(calls_left: int, edits: int, attempts: int, is_edge: bool) -> int:
    """Return how many calls an evolver may make in a generation that began its edits with `calls_left`.

    Both get what they can need (edits × attempts) while there is enough; of a scarce rest the edge evolver
    gets half, rounded down. A fixed rule, so that the two never race for the last call.
    """
    edge = min(calls_left // 2, edits * attempts)
    return edge if is_edge else calls_left - edge


def slot_allowance(share: int, slots: int, slot: int) -> int:
    """Return how many calls may be made for one of `slots` slots: the evolver's share, dealt out evenly.

    The first slots get the odd calls. Fixed before any call is made, so that slots treated at once never race
    for the last call either.
    """
    each, rest = divmod(share, slots)
    return each + (slot < rest)


# ------------------------------------------------------------ decisions


class Quoted(NamedTuple):
    """What is known of a call before it is reserved."""

    number: int
    prompt: Prompt
    model: str
    tokens: int
    """The most it can use."""
    microusd: int
    """The most it can cost, in millionths of a US dollar."""


class Judged(NamedTuple, Generic[AnyTask]):
    """An answer, what it was asked for, and how its trial runs went."""

    task: AnyTask
    text: str
    trial: ProposalError | None = None
    """The trial run that failed; ``None`` if none did or none was made."""
    asked: AnyTask | None = None
    """What it was asked for in an earlier generation; ``None`` where that is `task`."""


class NoRoom(NamedTuple):
    """The store did not admit the call."""

    limit: p.LimitKind
    reason: str


class Answered(NamedTuple):
    """A reserved call has an answer."""

    call: int
    reserved_seq: int
    completion: Completion
    elapsed_s: float


class Lost(NamedTuple):
    """A reserved call ended without an answer."""

    call: int
    reserved_seq: int
    reason: str


CallEnding = Answered | Lost


def decide(state: RunState, duty: AskModel | AbandonCall, observed: Quoted | NoRoom | None) -> Decision:
    """Return the reservation of a call, its refusal, or that a call is abandoned (`observed` is ``None``)."""
    if isinstance(duty, AbandonCall):
        payload: Payload = p.LLMCallAbandoned(call=duty.call, reason=ABANDONED)
        return _decision(state, duty.purpose, payload, duty.caused_by)
    subject = call_subject(state, duty.purpose, duty.slot)
    if isinstance(observed, NoRoom):
        payload = p.LLMCallRefused(
            purpose=duty.purpose,
            subject=subject,
            attempt=duty.attempt,
            limit=observed.limit,
            reason=observed.reason,
        )
        return _decision(state, duty.purpose, payload, duty.caused_by)
    assert observed is not None
    text = observed.prompt.text.encode()
    payload = p.LLMCallReserved(
        call=observed.number,
        purpose=duty.purpose,
        subject=subject,
        attempt=duty.attempt,
        prompt=blob_digest(text),
        template=observed.prompt.template,
        model=observed.model,
        reserved_tokens=observed.tokens,
        reserved_microusd=observed.microusd,
        choice=next(iter(models_for(state, duty)), None),
        ticket=duty.ticket,
    )
    return _decision(state, duty.purpose, payload, duty.caused_by, text)


def record_ending(state: RunState, purpose: p.CallPurpose, ending: CallEnding) -> Decision:
    """Return how a reserved call ended: settled with its answer, or abandoned.

    An answer is stored as UTF-8; what has no such form (lone surrogates) is stored as ``?``.
    """
    if isinstance(ending, Lost):
        lost = p.LLMCallAbandoned(call=ending.call, reason=ending.reason)
        return _decision(state, purpose, lost, ending.reserved_seq)
    completion = ending.completion
    text = completion.text.encode("utf-8", errors="replace")
    reasoning = completion.reasoning.encode("utf-8", errors="replace")
    settled = p.LLMCallSettled(
        call=ending.call,
        response=blob_digest(text),
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        is_estimated=completion.is_estimated,
        cost_usd=completion.cost_usd,
        elapsed_s=ending.elapsed_s,
        reasoning=blob_digest(reasoning) if reasoning else None,
        refused_attempts=completion.refused_attempts,
        response_id=completion.response_id,
    )
    blobs = (text, reasoning) if reasoning else (text,)
    return _decision(state, purpose, settled, ending.reserved_seq, *blobs)


def _decision(
    state: RunState, purpose: p.CallPurpose, payload: Payload, caused_by: int, *blobs: bytes
) -> Decision:
    number = None if state.generation is None else state.generation.number
    return Decision((Draft(CALLERS[purpose], payload, number, caused_by),), blobs)


# ------------------------------------------------------------ recorded answers


async def read_answer(call: Call, blobs: BlobSource) -> str:
    """Return the recorded text of a settled call."""
    assert call.response is not None
    return (await blobs.get_blob(call.response)).decode()


async def read_past_attempts(
    state: RunState, purpose: p.CallPurpose, slot: int, attempt: int, blobs: BlobSource
) -> PastAttempts:
    """Return the number of an `attempt` and the latest rejected answer before it, if there is one."""
    rejected = [
        call
        for call in state.ledger.calls_for(call_subject(state, purpose, slot))
        if call.attempt < attempt and call.verdict == "rejected"
    ]
    if not rejected:
        return PastAttempts(attempt=attempt)
    previous = await read_answer(rejected[-1], blobs)
    return PastAttempts(diagnostic=rejected[-1].diagnostic, attempt=attempt, previous=previous)


# ------------------------------------------------------------ live calls


class CallDesk:
    """Makes the calls of one agent and records them."""

    def __init__(self, log: EventAppender, model: Models) -> None:
        self._log = log
        self._models = model

    async def ask(self, state: RunState, duty: AskModel, task: Task) -> None:
        """Wait for the model, reserve, send, and record how it ended; judging the answer is another duty.

        Raises
        ------
        ModelUnavailableError
            No call can succeed until somebody acts; this one, if it was reserved, is abandoned.
        """
        prompt = render(task)
        has_begun = state.generation is not None
        place = call_place(state, duty.purpose, duty.slot) if has_begun else (0, duty.slot)
        seed = (state.header.seed, *spawn_key("proposal", PROPOSAL_STREAMS[duty.purpose], *place))
        request = CompletionRequest(prompt, task, seed, call_subject(state, duty.purpose, duty.slot))
        model = await self._ready_model(state, duty)
        try:
            call, reserved_seq = await self._reserve(state, duty, request, model)
        except QuotaExceededError as error:
            limit = LIMITS.get(error.kind, "money")
            reason = f"the limit of {limit} leaves no room for another model call ({error})"
            await self._log.append(*decide(state, duty, NoRoom(limit, reason)))
            return
        started = time.perf_counter()
        try:
            completion = await model.complete(request)
        except ModelError as error:
            lost = Lost(call, reserved_seq, error.reason)
            await self._log.append(*record_ending(state, duty.purpose, lost))
            if isinstance(error, ModelUnavailableError) and not self._others_answer(state, duty):
                raise
            return
        answered = Answered(call, reserved_seq, completion, time.perf_counter() - started)
        await self._log.append(*record_ending(state, duty.purpose, answered))

    async def _ready_model(self, state: RunState, duty: AskModel) -> LanguageModel:
        """Return the model chosen for a call when it is ready; where it is not within `PATIENCE_S`, the next
        one that is.

        Raises
        ------
        ModelUnavailableError
            None can answer; the reason is that of the one that was chosen.
        """
        if not isinstance(self._models, ModelPool):
            await self._models.ready()
            return self._models
        names = models_for(state, duty)
        for name in names:
            with anyio.move_on_after(PATIENCE_S), contextlib.suppress(ModelUnavailableError):
                await self._models.models[name].ready()
                return self._models.models[name]
        chosen = self._models.models[names[0]]
        await chosen.ready()
        return chosen

    def _others_answer(self, state: RunState, duty: AskModel) -> bool:
        """Return whether another model may be asked for what one could not answer."""
        subject = call_subject(state, duty.purpose, duty.slot)
        lost = [call for call in state.ledger.calls_for(subject) if call.status == "abandoned"]
        return len(lost) + 1 < len(models_for(state, duty))

    async def _reserve(
        self, state: RunState, duty: AskModel, request: CompletionRequest, model: LanguageModel
    ) -> tuple[int, int]:
        """Return the numbers of the call and of the event that charges it."""
        quote = model.quote(request)
        number, name = state.ledger.used + 1, quote.model or model.name
        while True:
            quoted = Quoted(number, request.prompt, name, quote.tokens, p.microusd(quote.cost_usd))
            try:
                (event,) = await self._log.append(*decide(state, duty, quoted))
            except DuplicateOperationError:  # another edit took this number
                number += 1
            else:
                return number, event.seq
