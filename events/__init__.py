"""The vocabulary of a run: immutable events, canonical bytes, hash chain, ownership.

Public names are re-exported here; ``dga2d.events.payloads`` holds one model per event type.
"""

from dga2d.events._codec import canonical_bytes, decode_payload, fits_64_bits, upcast
from dga2d.events._envelope import (
    GENESIS_HASH,
    Draft,
    RecordedEvent,
    StoredEvent,
    link_hash,
    verify_link,
    verify_links,
)
from dga2d.events._errors import (
    CanonicalEncodingError,
    ChainError,
    DeclarationError,
    Dga2dError,
    EventError,
    OwnershipError,
    PayloadError,
    UnknownEventTypeError,
)
from dga2d.events._frequent import decoder_of, encode_payload
from dga2d.events._names import (
    AGENT_NAMES,
    AgentName,
    BlobDigest,
    ImplementationId,
    InstanceKey,
    OperatorId,
    RunId,
    blob_digest,
    copy_of,
    instance_and_copy,
)
from dga2d.events._payload import Payload
from dga2d.events._registry import check_owner, referenced_blobs
from dga2d.events.payloads import PAYLOAD_TYPES

if not __name__.startswith("dga2d."):
    raise ImportError("import dga2d.events, not events")

__all__ = [
    "AGENT_NAMES",
    "GENESIS_HASH",
    "PAYLOAD_TYPES",
    "AgentName",
    "BlobDigest",
    "CanonicalEncodingError",
    "ChainError",
    "DeclarationError",
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
    "copy_of",
    "decode_payload",
    "decoder_of",
    "encode_payload",
    "fits_64_bits",
    "instance_and_copy",
    "link_hash",
    "referenced_blobs",
    "upcast",
    "verify_link",
    "verify_links",
]
