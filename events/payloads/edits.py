"""Evolution of implementations and edges: the verdict on every slot of a generation."""

from __future__ import annotations

from dga2d.events.ids import BlobDigest, ImplementationId, OperatorId
from dga2d.events.payloads.base import Edge, Payload


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
