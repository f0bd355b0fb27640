"""Edits: of implementations, of edges, and of which operators there are."""

from __future__ import annotations

from typing import ClassVar, Literal

from dga2d.events._names import BlobDigest, ImplementationId, InstanceKey, OperatorId
from dga2d.events._payload import Payload
from dga2d.events.payloads._generations import TransitionCredit
from dga2d.events.payloads._shared import Edge, Gains, Step


class ImplementationEdit(
    Payload, owner="implementation_evolver", operation="implementation-verdict/{generation}/{slot}"
):
    """Common to all verdicts on implementations: one per generation and slot."""

    generation: int
    slot: int
    """0 for the lowest-credit operator, 1 for the next, … (``edits_per_generation``)."""


class ImplementationAdded(ImplementationEdit):
    """c⁺ joined the pool of O*."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    operator: OperatorId
    implementation: ImplementationId
    source: BlobDigest
    call: int | None
    """``None`` where no model was asked for it."""
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class ImplementationReplaced(ImplementationEdit):
    """c⁺ took the place of c⁻ in a full pool, or of the member that it configures."""

    version: ClassVar[int] = 2
    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    operator: OperatorId
    removed: ImplementationId
    implementation: ImplementationId
    source: BlobDigest
    call: int | None
    """``None`` where no model was asked for it."""
    inherits_credits: bool
    """It differs from the removed one in constants alone, and goes on with its credits."""
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class ImplementationProposed(
    Payload, owner="implementation_evolver", operation="implementation-proposed/{generation}/{slot}"
):
    """New code runs; it is to be measured against its parent before it joins the pool."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    generation: int
    slot: int
    operator: OperatorId
    implementation: ImplementationId
    source: BlobDigest
    call: int | None
    """``None`` where no model was asked for it."""
    parent: ImplementationId
    """What it is to be better than."""
    is_configuration: bool
    """Whether it differs from its parent in constants alone."""
    idea: str
    """In one sentence, as the proposer put it; may be empty."""
    program: tuple[Step, ...]
    """The algorithm in which it is measured, with its parent."""
    control: int
    """Candidate number of that algorithm; the slot is that of the algorithm with the new code."""
    instances: tuple[InstanceKey, ...]
    """Training instances; the second half only where it is not behind on the first, or not clearly
    (`gate_patience`)."""
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class ImplementationMeasured(
    Payload, owner="implementation_evolver", operation="implementation-measured/{generation}/{slot}"
):
    """What new code gains over its parent, and with which credits it begins."""

    generation: int
    slot: int
    gains: tuple[float | None, ...]
    """Gap of the parent less that of the new code (fractions), on the first of the instances; ``None`` where
    the new code failed."""
    is_accepted: bool
    """Whether it joins: it does not lose, and no rival (`gate_rivals`) gained more."""
    credits: tuple[TransitionCredit, ...]
    """Of its transitions; empty where it does not join or inherits those of what it configures."""


class ImplementationDeleted(ImplementationEdit):
    """c⁻ left the pool of O* (credit not negative, more than one implementation)."""

    operator: OperatorId
    implementation: ImplementationId


class ImplementationRejected(ImplementationEdit, completes_if="is_final"):
    """A proposal failed validation; `is_final` when no attempt is left and the pool stays as it is."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    operator: OperatorId
    call: int | None
    """``None`` where no model was asked for it."""
    attempt: int
    """0 for what the bank offers."""
    stage: str
    diagnostic: str
    is_final: bool
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class ImplementationsKept(ImplementationEdit):
    """Nothing to do for this slot."""

    reason: str


class EdgeReplaced(Payload, owner="edge_evolver", operation="edge-verdict/{generation}/{slot}"):
    """Edges removed and added in one valid edit."""

    generation: int
    slot: int
    removed: tuple[Edge, ...]
    added: tuple[Edge, ...]
    call: int


class EdgeRejected(
    Payload, owner="edge_evolver", operation="edge-verdict/{generation}/{slot}", completes_if="is_final"
):
    """A proposed edge edit was not valid; `is_final` when no attempt is left."""

    generation: int
    slot: int
    call: int
    attempt: int
    reason: str
    is_final: bool


class EdgesKept(Payload, owner="edge_evolver", operation="edge-verdict/{generation}/{slot}"):
    """No edge has negative credit, or none could be exchanged."""

    generation: int
    slot: int
    reason: str


class OperatorProposed(Payload, owner="operator_evolver", operation="operator-proposed/{generation}"):
    """An operator that the graph lacks runs; it is to be measured inside the incumbent before it joins."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    generation: int
    operator: OperatorId
    """No operator had this id before."""
    title: str
    """Its name for people."""
    category: str
    """Its role."""
    requires: Literal["none", "partial", "complete"]
    """The kind of solution it accepts."""
    provides: Literal["partial", "complete"]
    """The kind of solution it leaves."""
    summary: str
    """What it does, in one sentence of the proposer's."""
    edges: tuple[Edge, ...]
    """Into the graph, each with the operator at one end."""
    implementation: ImplementationId
    source: BlobDigest
    call: int | None
    """``None`` where no model was asked for it."""
    program: tuple[Step, ...]
    """The algorithm it is measured against: the incumbent."""
    extended: tuple[Step, ...]
    """That algorithm with the operator."""
    control: int
    """Candidate number of the algorithm without it; that with it has the number before."""
    instances: tuple[InstanceKey, ...]
    """Training instances; the second half only where it is not behind on the first, or not clearly
    (`gate_patience`)."""
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class OperatorAdded(Payload, owner="operator_evolver", operation="operator-verdict/{generation}"):
    """A proposed operator joined the graph with its edges and its first implementation."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    generation: int
    operator: OperatorId
    implementation: ImplementationId
    call: int | None
    """``None`` where no model was asked for it."""
    gains: Gains
    """Gap of the incumbent less that of the incumbent with the operator, by instance."""
    credits: tuple[TransitionCredit, ...]
    """Of its transitions in that algorithm."""
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class OperatorRetired(Payload, owner="operator_evolver", operation="operator-retired/{generation}"):
    """The operator used least left the graph to make room, with its edges, pool and credits."""

    generation: int
    operator: OperatorId
    uses: int
    """Candidates that used it so far."""


class OperatorRejected(
    Payload, owner="operator_evolver", operation="operator-verdict/{generation}", completes_if="is_final"
):
    """A proposed operator does not join; `is_final` when no further answer is asked for."""

    left_out: ClassVar[frozenset[str]] = frozenset({"offer"})

    generation: int
    call: int | None
    """``None`` where no model was asked for it."""
    attempt: int
    """0 for what the bank offers."""
    stage: str
    diagnostic: str
    gains: Gains
    """As measured; empty where nothing was."""
    is_final: bool
    offer: int | None = None
    """Entry of the run's bank that it is, by its place; ``None`` for the answer to a call."""


class OperatorsKept(Payload, owner="operator_evolver", operation="operator-verdict/{generation}"):
    """No operator was asked for, or no answer could be had."""

    generation: int
    reason: str
