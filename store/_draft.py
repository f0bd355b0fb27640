"""From a draft to a stamped, linked event and its rows."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dga2d.events import BlobDigest, Draft, RecordedEvent, RunId, check_owner, encode_payload, link_hash
from dga2d.events.envelope import header_bytes
from dga2d.events.payloads import LLMCallReserved
from dga2d.store.contract import Head

LLM_CALLS = "llm-call"
"""Kind under which ``LLMCallReserved`` is counted."""

Row = dict[str, Any]


class EncodedDraft(NamedTuple):
    """A draft that its agent may write, in canonical bytes; only its place in the log is missing."""

    draft: Draft
    type: str
    payload_bytes: bytes
    operation: str | None
    reservation: tuple[str, int] | None
    """Kind and number claimed."""


def encode(draft: Draft) -> EncodedDraft:
    """Check and encode a draft. Raises OwnershipError, UnknownEventTypeError, CanonicalEncodingError."""
    payload = draft.payload
    type_name = type(payload).__name__
    check_owner(draft.agent, type_name)
    reservation = (LLM_CALLS, payload.call) if isinstance(payload, LLMCallReserved) else None
    return EncodedDraft(draft, type_name, encode_payload(payload), payload.operation(), reservation)


def blob_digest(data: bytes) -> BlobDigest:
    """Address of a blob."""
    return BlobDigest(hashlib.sha256(data).hexdigest())


def blob_rows(many: Iterable[bytes]) -> list[Row]:
    """Rows of the table of blobs."""
    return [{"digest": blob_digest(data), "data": data, "size": len(data)} for data in many]


def stamp(encoded: Sequence[EncodedDraft], run_id: RunId, head: Head, now: int) -> list[RecordedEvent]:
    """Events that continue the log behind `head`, recorded at `now` (µs since 1970 UTC)."""
    seq, prev_hash = head
    events = []
    for draft, type_name, payload_bytes, _, _ in encoded:
        seq += 1
        event_id = new_event_id(now)
        version = draft.payload.version
        header = header_bytes(
            run_id, seq, event_id, type_name, version, draft.agent, draft.generation, draft.caused_by, now
        )
        event = RecordedEvent(
            run_id,
            seq,
            event_id,
            type_name,
            version,
            draft.agent,
            draft.generation,
            draft.caused_by,
            now,
            payload_bytes,
            prev_hash,
            link_hash(prev_hash, header, payload_bytes),
        )
        prev_hash = event.hash
        events.append(event)
    return events


def new_event_id(now: int) -> str:
    """UUID version 7 (RFC 9562): ordered by time in milliseconds, so that its index grows at the end."""
    bits = (now // 1000 & (2**48 - 1)) << 80 | 0x7 << 76 | 0b10 << 62
    bits |= secrets.randbits(12) << 64 | secrets.randbits(62)
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def event_row(event: RecordedEvent, operation: str | None) -> Row:
    """Row of the table of events."""
    return {
        "run_id": event.run_id,
        "seq": event.seq,
        "event_id": event.event_id,
        "type": event.type,
        "version": event.version,
        "agent": event.agent,
        "generation": event.generation,
        "caused_by": event.caused_by,
        "recorded_at": event.recorded_at,
        "operation": operation,
        "payload": event.payload_bytes,
        "prev_hash": event.prev_hash,
        "hash": event.hash,
    }
