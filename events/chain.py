"""The hash chain that makes a log tamper-evident.

``hash = SHA-256(prev_hash ‖ header bytes ‖ 0x0A ‖ payload bytes)``; the first event links to 32 zero bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from dga2d.events.envelope import HEADER_FIELDS, RecordedEvent, StoredEvent, dumped_line
from dga2d.events.errors import ChainError

GENESIS_HASH = bytes(32)


def link_hash(prev_hash: bytes, header: bytes, payload: bytes) -> bytes:
    """Hash of an event given the hash before it, 32 bytes."""
    return sha256(prev_hash + header + b"\n" + payload).digest()


def verify_link(event: RecordedEvent, expected_seq: int, prev_hash: bytes) -> None:
    """Check that `event` follows an event with `prev_hash` at number ``expected_seq − 1``.

    Raises
    ------
    ChainError
        The number has a gap, the link points elsewhere, or the content does not hash to `event.hash`.
    """
    if event.seq != expected_seq:
        raise ChainError(event.run_id, expected_seq, f"is missing; the log goes on with event {event.seq}")
    if event.prev_hash != prev_hash:
        raise ChainError(event.run_id, event.seq, "does not link to the event before it")
    if link_hash(prev_hash, event.header_bytes(), event.payload_bytes) != event.hash:
        raise ChainError(event.run_id, event.seq, f"its content ({event.type}) does not match its hash")


def verify_links(events: Iterable[StoredEvent], seq: int, prev_hash: bytes) -> tuple[int, bytes]:
    """Check that `events` follow event number `seq` with `prev_hash`; returns number and hash of the last.

    Raises
    ------
    ChainError
        Names the first event that is missing, altered, or out of order.
    CanonicalEncodingError
        An envelope holds what has no canonical form.
    """
    header = dict[str, object].fromkeys(HEADER_FIELDS)  # one for all events: a new one each takes longer
    for event in events:
        seq += 1
        (
            header["run_id"],
            header["seq"],
            header["event_id"],
            header["type"],
            header["version"],
            header["agent"],
            header["generation"],
            header["caused_by"],
            header["recorded_at"],
            payload,
            link_before,
            stored,
        ) = event
        linked = sha256(prev_hash)  # piece by piece: no copy of the payload
        linked.update(dumped_line(header))
        linked.update(payload)
        link = linked.digest()
        if link != stored or link_before != prev_hash or event[1] != seq:
            verify_link(RecordedEvent._make(event), seq, prev_hash)
        prev_hash = link
    return seq, prev_hash
