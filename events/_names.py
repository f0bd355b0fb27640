"""The names that occur in events: typed identifiers, agents, addresses of blobs."""

from __future__ import annotations

import hashlib
from typing import Literal, NewType, get_args

RunId = NewType("RunId", str)
OperatorId = NewType("OperatorId", str)
ImplementationId = NewType("ImplementationId", str)
InstanceKey = NewType("InstanceKey", str)
"""``group/name`` of a benchmark instance."""
BlobDigest = NewType("BlobDigest", str)
"""SHA-256 of a blob's bytes, 64 lower-case hex digits."""


def blob_digest(data: bytes) -> BlobDigest:
    """Return the address of a blob: the SHA-256 of its bytes."""
    return BlobDigest(hashlib.sha256(data).hexdigest())


AgentName = Literal[
    "conductor",
    "initializer",
    "pipeline_sampler",
    "evaluator_pool",
    "credit_keeper",
    "implementation_evolver",
    "edge_evolver",
    "validator",
]
AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)
