"""Evolution of implementations and edges, and the language-model calls that pay for it."""

from __future__ import annotations

from dga2d.events._names import BlobDigest, ImplementationId, OperatorId
from dga2d.events.payloads.base import CallPurpose, Edge, LimitKind, Payload, microusd


class ImplementationEdit(Payload):
    """Common to all verdicts on implementations: one per generation and slot."""

    generation: int
    slot: int
    """0 for the lowest-credit operator, 1 for the next, … (``edits_per_generation``)."""


class ImplementationAdded(ImplementationEdit):
    """c⁺ joined the pool of O*."""

    operator: OperatorId
    implementation: ImplementationId
    source: BlobDigest
    call: int

    def operation(self) -> str:
        return f"implementation-verdict/{self.generation}/{self.slot}"


class ImplementationReplaced(ImplementationEdit):
    """c⁺ took the place of c⁻ in a full pool."""

    operator: OperatorId
    removed: ImplementationId
    implementation: ImplementationId
    source: BlobDigest
    call: int

    def operation(self) -> str:
        return f"implementation-verdict/{self.generation}/{self.slot}"


class ImplementationDeleted(ImplementationEdit):
    """c⁻ left the pool of O* (credit not negative, more than one implementation)."""

    operator: OperatorId
    implementation: ImplementationId

    def operation(self) -> str:
        return f"implementation-verdict/{self.generation}/{self.slot}"


class ImplementationRejected(ImplementationEdit):
    """A proposal failed validation; `is_final` when no attempt is left and the pool stays as it is."""

    operator: OperatorId
    call: int
    attempt: int
    stage: str
    diagnostic: str
    is_final: bool

    def operation(self) -> str | None:
        return f"implementation-verdict/{self.generation}/{self.slot}" if self.is_final else None


class ImplementationsKept(ImplementationEdit):
    """Nothing to do for this slot."""

    reason: str

    def operation(self) -> str:
        return f"implementation-verdict/{self.generation}/{self.slot}"


class EdgeReplaced(Payload):
    """Edges removed and added in one valid edit."""

    generation: int
    slot: int
    removed: tuple[Edge, ...]
    added: tuple[Edge, ...]
    call: int

    def operation(self) -> str:
        return f"edge-verdict/{self.generation}/{self.slot}"


class EdgeRejected(Payload):
    """A proposed edge edit was not valid; `is_final` when no attempt is left."""

    generation: int
    slot: int
    call: int
    attempt: int
    reason: str
    is_final: bool

    def operation(self) -> str | None:
        return f"edge-verdict/{self.generation}/{self.slot}" if self.is_final else None


class EdgesKept(Payload):
    """No edge has negative credit, or none could be exchanged."""

    generation: int
    slot: int
    reason: str

    def operation(self) -> str:
        return f"edge-verdict/{self.generation}/{self.slot}"


class LLMCallReserved(Payload):
    """A call is charged before it is sent; the store refuses a number twice or over the limit."""

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

    def operation(self) -> str:
        return f"llm-call/{self.call}"


class LLMCallSettled(Payload):
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

    def operation(self) -> str:
        return f"llm-call-end/{self.call}"


class LLMCallAbandoned(Payload):
    """No answer will come; the call stays spent, and all that was reserved for it."""

    call: int
    reason: str

    def operation(self) -> str:
        return f"llm-call-end/{self.call}"


class LLMCallRefused(Payload):
    """The store did not take a reservation: what the call could use is more than what is left."""

    purpose: CallPurpose
    subject: str
    attempt: int
    limit: LimitKind
    reason: str

    def operation(self) -> str:
        return f"llm-call-refused/{self.subject}/{self.attempt}"


class CallsSuspended(Payload):
    """The model's endpoint does not work; calls wait until it does, and cost nothing meanwhile."""

    reason: str


class CallsResumed(Payload):
    """The model's endpoint works again."""

    waited_s: float
