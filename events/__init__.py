"""The vocabulary of a run: immutable events, canonical bytes, hash chain, ownership.

Public names are re-exported here; ``dga2d.events.payloads`` holds one model per event type.
"""

from dga2d.events.chain import GENESIS_HASH, link_hash, verify_link, verify_links
from dga2d.events.codec import canonical_bytes, decode_payload, encode_payload, upcast
from dga2d.events.envelope import Draft, RecordedEvent, StoredEvent
from dga2d.events.errors import (
    CanonicalEncodingError,
    ChainError,
    Dga2dError,
    EventError,
    OwnershipError,
    PayloadError,
    UnknownEventTypeError,
)
from dga2d.events.ids import BlobDigest, ImplementationId, InstanceKey, OperatorId, RunId, blob_digest
from dga2d.events.ownership import AGENT_NAMES, OWNERS, AgentName, check_owner
from dga2d.events.payloads import PAYLOAD_TYPES, Payload
from dga2d.events.references import referenced_blobs

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.events, not events")

__all__ = [
    "AGENT_NAMES",
    "GENESIS_HASH",
    "OWNERS",
    "PAYLOAD_TYPES",
    "AgentName",
    "BlobDigest",
    "CanonicalEncodingError",
    "ChainError",
    "Dga2dError",
    "Draft",
    "EventError",
    "ImplementationId",
    "InstanceKey",
    "OperatorId",
    "OwnershipError",
    "Payload",
    "PayloadError",
    "RecordedEvent",
    "RunId",
    "StoredEvent",
    "UnknownEventTypeError",
    "blob_digest",
    "canonical_bytes",
    "check_owner",
    "decode_payload",
    "encode_payload",
    "link_hash",
    "referenced_blobs",
    "upcast",
    "verify_link",
    "verify_links",
]
