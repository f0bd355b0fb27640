"""The recorded answers of an earlier run: the same questions lead to the same run.

Another run asks other questions: its seed, instances or settings differ, and so does what prompts tell. With
``match=task`` it is given what answered a question of the same kind about the same operator.

The run is in the same database, or in a file that ``export`` wrote. Such a file is checked like an import,
in a database of its own that is thrown away; the user's does not change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from dga2d.agents.proposing.errors import CallLostError, ModelUnavailableError
from dga2d.agents.proposing.models import Completion, CompletionRequest, LanguageModel, Quote
from dga2d.agents.proposing.tasks import ImplementTask
from dga2d.agents.work_calibration import NOTHING_KNOWN, KnownRates
from dga2d.events import BlobDigest, Dga2dError, RunId, blob_digest
from dga2d.events import payloads as p
from dga2d.replay.state.ledger import BY_TASK
from dga2d.runtime.errors import SettingsError
from dga2d.runtime.runs.states import is_file, open_file
from dga2d.store import EventStore, ForeignDatabaseError, UnknownRunError, open_store, verify_events

FALLBACK = ",then="
"""Stands in ``recorded:SOURCE,then=BACKEND`` before who answers what the recording does not."""
MATCH = ",match="
"""Stands in ``recorded:SOURCE,match=task`` before how answers are found besides by the prompt."""


Accepting = (
    p.GraphInitialized | p.ImplementationAdded | p.ImplementationReplaced | p.EdgeReplaced | p.OperatorAdded
)
"""Events with which an answer was accepted."""


@dataclass(frozen=True)
class RecordedCall:
    """A call of the recorded run: what was asked, what was held for it, and how it ended."""

    number: int
    prompt: BlobDigest
    quote: Quote
    ending: Completion | str | None
    """The answer, or why it was abandoned; ``None`` if the log does not say."""


CallKey = tuple[str, int]
"""Subject and attempt: calls are found by what they are, not by when they were made."""
TaskKind = tuple[str, str]
"""Purpose of a call and the operator it was for, empty where it was for none."""


@dataclass(frozen=True)
class Recording:
    """What a run was asked and answered, and what else its repetition needs."""

    run: str
    domain: str
    calls: Mapping[CallKey, RecordedCall]
    rates: KnownRates = NOTHING_KNOWN
    """Rates of work units that it measured."""
    accepted: Mapping[TaskKind, tuple[RecordedCall, ...]] = field(default_factory=dict)
    """Calls whose answers were accepted, in their order."""


class _Held(NamedTuple):
    """What a recording holds of a call."""

    call: RecordedCall | None
    missing: str
    """Why it cannot answer; empty where it can."""
    is_by_task: bool = False
    """Whether the recorded prompt was another."""


class RecordedModel:
    """`LanguageModel` that asks no endpoint. What a recording does not answer goes to `fallback`; without one
    the run is paused, with the reason.

    With `matches_tasks` a prompt that is not the recorded one is given an accepted answer to a request of its
    kind for its operator, each once while the process lives; the ledger names the model accordingly.
    """

    def __init__(
        self, recording: Recording, fallback: LanguageModel | None = None, *, matches_tasks: bool = False
    ) -> None:
        self.name = f"recorded:{recording.run}"
        self.recording = replace(recording, rates=NOTHING_KNOWN) if matches_tasks else recording
        self._fallback = fallback
        self._matches_tasks = matches_tasks
        self._given: dict[CallKey, RecordedCall] = {}
        """What was given to which request."""

    async def ready(self) -> None:
        """Return at once, or when the fallback is ready."""
        if self._fallback is not None:
            await self._fallback.ready()

    def quote(self, request: CompletionRequest) -> Quote:
        """Return what was reserved for the recorded call; what the fallback says where there was none."""
        held = self._held(request)
        if held.missing and self._fallback is not None:
            quote = self._fallback.quote(request)
            return Quote(quote.tokens, quote.cost_usd, quote.model or self._fallback.name)
        if held.call is None:
            return Quote(0, 0.0)
        return replace(held.call.quote, model=self.name + BY_TASK) if held.is_by_task else held.call.quote

    async def complete(self, request: CompletionRequest) -> Completion:
        held = self._held(request)
        if held.missing and self._fallback is not None:
            return await self._fallback.complete(request)
        if held.missing or held.call is None or held.call.ending is None:
            raise ModelUnavailableError(held.missing)
        if isinstance(held.call.ending, str):
            raise CallLostError(held.call.ending)
        return held.call.ending

    def _held(self, request: CompletionRequest) -> _Held:
        run, what = self.recording.run, f"{request.subject}, attempt {request.task.attempt}"
        call = self.recording.calls.get((request.subject, request.task.attempt))
        is_same = call is not None and call.prompt == blob_digest(request.prompt.text.encode())
        if call is not None and is_same and call.ending is not None:
            self._given[request.subject, request.task.attempt] = call
            return _Held(call, "")
        if self._matches_tasks:
            kind = task_kind(request)
            if (given := self._take(request, kind)) is not None:
                return _Held(given, "", is_by_task=True)
            asked = f"{kind[0]} {kind[1]}".strip()
            return _Held(None, f"run {run} holds no further answer to a request to {asked} ({what})")
        if call is None or call.ending is None:
            return _Held(call, f"run {run} holds no answer to {what}")
        return _Held(
            call,
            f"run {run} was asked something else in call {call.number} ({what}); the runs "
            "differ in their settings, their instances or the program",
        )

    def _take(self, request: CompletionRequest, kind: TaskKind) -> RecordedCall | None:
        """Return the next accepted answer of a kind that was not given yet; the same one to a request that
        comes again."""
        key = (request.subject, request.task.attempt)
        if key not in self._given:
            gone = {call.number for call in self._given.values()}
            left = [call for call in self.recording.accepted.get(kind, ()) if call.number not in gone]
            if not left:
                return None
            self._given[key] = left[0]
        return self._given[key]


def task_kind(request: CompletionRequest) -> TaskKind:
    """Return what a request asks for, and for which operator."""
    purpose = request.subject.partition("/")[0]
    return purpose, str(request.task.operator.id) if isinstance(request.task, ImplementTask) else ""


async def read_recording(store_url: str, source: str) -> Recording:
    """Return all calls of a run with their answers.

    Parameters
    ----------
    store_url
        Database in which a run is looked up.
    source
        Name of a run, or path of an exported one: a file where it has a ``/`` or ends in ``.zip``.

    Raises
    ------
    SettingsError
        There is no such run, the file is not a run that holds together, or it asked no model.
    CorruptEventError, BlobMissingError, CorruptBlobError
        The log of the database does not hold.
    """
    setting = f"setting llm = 'recorded:{source}'"
    try:
        if is_file(source):
            async with open_file(Path(source).expanduser()) as (store, run):
                recording = await _read(store, run)
        else:
            async with open_store(store_url, create=False, read_only=True) as store:
                recording = await _read(store, RunId(source))
    except (UnknownRunError, ForeignDatabaseError) as error:
        raise SettingsError(f"{setting}: {error}") from None
    except Dga2dError as error:
        if not is_file(source):
            raise
        raise SettingsError(f"{setting}: {error}") from error
    if not recording.calls:
        raise SettingsError(f"{setting}: run {recording.run} asked no model, so it holds no answers")
    return recording


async def _read(store: EventStore, run: RunId) -> Recording:
    calls: dict[CallKey, RecordedCall] = {}
    keys: dict[int, CallKey] = {}
    rates: dict[str, tuple[p.WorkRatePoint, ...]] = {}
    accepted: dict[TaskKind, list[RecordedCall]] = {}
    domain = ""
    async for event in verify_events(store.read(run)):
        payload = event.payload
        if isinstance(payload, p.RunStarted):
            domain = payload.domain
        elif isinstance(payload, p.WorkRateMeasured):
            rates.setdefault(payload.subject, payload.points)
        elif isinstance(payload, p.LLMCallReserved):
            keys[payload.call] = (payload.subject, payload.attempt)
            calls[keys[payload.call]] = _recorded_call(payload)
        elif isinstance(payload, p.LLMCallAbandoned):
            _end(calls, keys[payload.call], payload.reason)
        elif isinstance(payload, p.LLMCallSettled):
            _end(calls, keys[payload.call], await _completion(store, payload))
        elif isinstance(payload, Accepting) and payload.call is not None:
            found = calls[keys[payload.call]]
            operator = ""
            if isinstance(payload, p.ImplementationAdded | p.ImplementationReplaced):
                operator = payload.operator
                found = _whole(found, (await store.get_blob(payload.source)).decode())
            purpose = keys[payload.call][0].partition("/")[0]
            accepted.setdefault((purpose, operator), []).append(found)
    return Recording(
        run,
        domain,
        MappingProxyType(calls),
        KnownRates(run, rates) if rates else NOTHING_KNOWN,
        MappingProxyType({kind: tuple(found) for kind, found in accepted.items()}),
    )


def _whole(call: RecordedCall, source: str) -> RecordedCall:
    """Return a call whose answer holds the whole code: replacements fit no other parent."""
    assert isinstance(call.ending, Completion)
    if source.strip() in call.ending.text:
        return call
    fence = "`" * (3 + max((len(run) for run in re.findall("`+", source)), default=0))
    text = f"{fence}python\n{source}{'' if source.endswith(chr(10)) else chr(10)}{fence}\n"
    return replace(call, ending=replace(call.ending, text=text))


def _recorded_call(payload: p.LLMCallReserved) -> RecordedCall:
    quote = Quote(payload.reserved_tokens, payload.reserved_microusd / 1e6)
    return RecordedCall(payload.call, payload.prompt, quote, None)


def _end(calls: dict[CallKey, RecordedCall], key: CallKey, ending: Completion | str) -> None:
    before = calls[key]
    calls[key] = RecordedCall(before.number, before.prompt, before.quote, ending)


async def _completion(store: EventStore, payload: p.LLMCallSettled) -> Completion:
    reasoning = b"" if payload.reasoning is None else await store.get_blob(payload.reasoning)
    return Completion(
        text=(await store.get_blob(payload.response)).decode(),
        prompt_tokens=payload.prompt_tokens,
        completion_tokens=payload.completion_tokens,
        is_estimated=payload.is_estimated,
        cost_usd=payload.cost_usd,
        reasoning=reasoning.decode(),
        refused_attempts=payload.refused_attempts,
        response_id=payload.response_id,
    )
