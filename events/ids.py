"""Typed identifiers that occur in events."""

from __future__ import annotations

import hashlib
from typing import NewType

RunId = NewType("RunId", str)
OperatorId = NewType("OperatorId", str)
ImplementationId = NewType("ImplementationId", str)
InstanceKey = NewType("InstanceKey", str)
"""``group/name`` of a benchmark instance."""
BlobDigest = NewType("BlobDigest", str)
"""SHA-256 of a blob's bytes, 64 lower-case hex digits."""


def blob_digest(data: bytes) -> BlobDigest:
    """The address of a blob."""
    return BlobDigest(hashlib.sha256(data).hexdigest())
