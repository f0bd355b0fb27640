"""The recorded answers of an earlier run: the same questions lead to the same run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dga2d.agents.proposing import CallLostError, Completion, CompletionRequest, ModelUnavailableError, Quote
from dga2d.events import BlobDigest, RunId, blob_digest
from dga2d.events.payloads import LLMCallAbandoned, LLMCallReserved, LLMCallSettled
from dga2d.runtime.errors import SettingsError
from dga2d.store import EventStore, ForeignDatabaseError, UnknownRunError, open_store, verified


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


class RecordedModel:
    """`LanguageModel` that asks no endpoint; where a run departs from the recording it cannot answer."""

    def __init__(self, run: str, calls: Mapping[CallKey, RecordedCall]) -> None:
        self.name = f"recorded:{run}"
        self._run = run
        self._calls = calls

    async def ready(self) -> None:
        """Return at once."""

    def quote(self, request: CompletionRequest) -> Quote:
        """Return what was reserved for the recorded call; nothing where there was none."""
        call = self._calls.get((request.subject, request.task.attempt))
        return Quote(0, 0.0) if call is None else call.quote

    async def complete(self, request: CompletionRequest) -> Completion:
        what = f"{request.subject}, attempt {request.task.attempt}"
        call = self._calls.get((request.subject, request.task.attempt))
        if call is None or call.ending is None:
            raise ModelUnavailableError(f"run {self._run} holds no answer to {what}")
        if call.prompt != blob_digest(request.prompt.text.encode()):
            raise ModelUnavailableError(
                f"run {self._run} was asked something else in call {call.number} ({what}); the runs "
                "differ in their settings, their instances or the program"
            )
        if isinstance(call.ending, str):
            raise CallLostError(call.ending)
        return call.ending


async def read_recording(store_url: str, run: str) -> RecordedModel:
    """Return all calls of a run with their answers.

    Raises
    ------
    SettingsError
        There is no such run in the database.
    CorruptEventError, BlobMissingError, CorruptBlobError
        Its log does not hold.
    """
    calls: dict[CallKey, RecordedCall] = {}
    keys: dict[int, CallKey] = {}
    try:
        async with open_store(store_url, create=False, read_only=True) as store:
            async for event in verified(store.read(RunId(run))):
                payload = event.payload
                if isinstance(payload, LLMCallReserved):
                    keys[payload.call] = (payload.subject, payload.attempt)
                    calls[keys[payload.call]] = _asked(payload)
                elif isinstance(payload, LLMCallAbandoned):
                    _end(calls, keys[payload.call], payload.reason)
                elif isinstance(payload, LLMCallSettled):
                    _end(calls, keys[payload.call], await _completion(store, payload))
    except (UnknownRunError, ForeignDatabaseError) as error:
        raise SettingsError(f"setting llm = 'recorded:{run}': {error}") from None
    return RecordedModel(run, calls)


def _asked(payload: LLMCallReserved) -> RecordedCall:
    quote = Quote(payload.reserved_tokens, payload.reserved_microusd / 1e6)
    return RecordedCall(payload.call, payload.prompt, quote, None)


def _end(calls: dict[CallKey, RecordedCall], key: CallKey, ending: Completion | str) -> None:
    before = calls[key]
    calls[key] = RecordedCall(before.number, before.prompt, before.quote, ending)


async def _completion(store: EventStore, payload: LLMCallSettled) -> Completion:
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
