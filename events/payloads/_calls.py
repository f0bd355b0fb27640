"""Calls of a language model, and when they are suspended."""

from __future__ import annotations

from typing import ClassVar

from dga2d.events._names import BlobDigest, ImplementationId, OperatorId
from dga2d.events._payload import Model, Payload
from dga2d.events.payloads._shared import CALLERS, CallPurpose, Edge, LimitKind, microusd


class Ticket(Model):
    """What an answer is for that is taken in a later generation than the one that asks for it."""

    slot: int
    """Of the generation that asks."""
    lands: int
    """Generation that takes the answer, and waits for it if it is late."""
    operator: OperatorId | None
    """Whose pool is edited; ``None`` for an edit of edges."""
    parent: ImplementationId | None
    """The implementation to improve on; ``None`` for an edit of edges."""
    edge: Edge | None
    """The edge to be exchanged; ``None`` for an edit of a pool."""


class LLMCallReserved(Payload, owner=CALLERS, operation="llm-call/{call}"):
    """A call is charged before it is sent; the store refuses a number twice or over the limit."""

    left_out: ClassVar[frozenset[str]] = frozenset({"choice", "ticket"})

    call: int
    """1, 2, … up to the limit."""
    purpose: CallPurpose
    subject: str
    """What the call is for, e.g. ``implement/3/0``."""
    attempt: int
    prompt: BlobDigest
    template: str
    model: str
    reserved_tokens: int = 0
    """Most tokens the call can use, prompt and answer together; held until it is settled."""
    reserved_microusd: int = 0
    """Most it can cost, in millionths of a US dollar."""
    choice: str | None = None
    """Of several models the one chosen for this call, as the settings name it; `model` is another where it
    was down. ``None`` where a run has a single one."""
    ticket: Ticket | None = None
    """Where edits are made in a later generation (``edit_lag``); ``None`` where the answer is waited for."""


class LLMCallSettled(Payload, owner=CALLERS, operation="llm-call-end/{call}"):
    """The provider answered."""

    call: int
    response: BlobDigest
    prompt_tokens: int
    completion_tokens: int
    is_estimated: bool
    """Token counts were not reported by the provider."""
    cost_usd: float
    elapsed_s: float
    reasoning: BlobDigest | None = None
    """What the model wrote before its answer; kept, never parsed. ``None`` when there was nothing."""
    refused_attempts: int = 0
    """Attempts the endpoint did not accept (no connection, 429, 503) before this one."""
    response_id: str | None = None
    """The provider's own name of the answer; ``None`` when it gave none."""

    @property
    def tokens(self) -> int:
        """Tokens used, prompt and answer together."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def microusd(self) -> int:
        """Cost in millionths of a US dollar, rounded up."""
        return microusd(self.cost_usd)


class LLMCallAbandoned(Payload, owner=CALLERS, operation="llm-call-end/{call}"):
    """No answer will come; the call and all that was reserved for it stay spent."""

    call: int
    reason: str


class LLMCallRefused(Payload, owner=CALLERS, operation="llm-call-refused/{subject}/{attempt}"):
    """The store did not take a reservation: what the call could use is more than what is left."""

    purpose: CallPurpose
    subject: str
    attempt: int
    limit: LimitKind
    reason: str


class CallsSuspended(Payload, owner="conductor"):
    """The model's endpoint does not work; calls wait until it does, and cost nothing meanwhile."""

    reason: str


class CallsResumed(Payload, owner="conductor"):
    """The model's endpoint works again."""

    waited_s: float
