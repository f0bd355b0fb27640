"""The names that occur in events: typed identifiers, agents, addresses of blobs."""

from __future__ import annotations

import hashlib
from typing import Literal, NewType, get_args

RunId = NewType("RunId", str)
OperatorId = NewType("OperatorId", str)
ImplementationId = NewType("ImplementationId", str)
InstanceKey = NewType("InstanceKey", str)
"""``group/name`` of a benchmark instance; in a validation also ``group/name #2`` and so on, the same instance
under another random stream."""
BlobDigest = NewType("BlobDigest", str)
"""SHA-256 of a blob's bytes, 64 lower-case hex digits."""


def copy_of(key: InstanceKey, number: int) -> InstanceKey:
    """Return what an instance is called under its second (`number` = 2), third, … random stream."""
    return InstanceKey(f"{key} #{number}")


def instance_and_copy(key: InstanceKey) -> tuple[InstanceKey, int]:
    """Return the instance that a key names, and under which of its random streams, 1 for the first."""
    name, mark, number = key.rpartition(" #")
    return (InstanceKey(name), int(number)) if mark and number.isdecimal() else (key, 1)


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
    "operator_evolver",
    "kernel_evolver",
    "validator",
    "racer",
    "method_runner",
    "trainer",
]
AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)
