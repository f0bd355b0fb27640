"""The envelope of a payload: who wrote it, when, because of what, and its place in the hash chain.

``hash = SHA-256(prev_hash ‖ header bytes ‖ 0x0A ‖ payload bytes)``; the first event links to 32 zero bytes.
The chain makes a log tamper-evident.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import orjson

from dga2d.events._codec import decode_payload, fits_64_bits
from dga2d.events._errors import CanonicalEncodingError, ChainError
from dga2d.events._names import AgentName, RunId
from dga2d.events._payload import Payload


@dataclass(frozen=True)
class Draft:
    """An event that an agent asks the log to append."""

    agent: AgentName
    payload: Payload
    generation: int | None = None
    caused_by: int | None = None
    """Sequence number of the event that this one answers; ``None`` only where a person asked for it."""


class Envelope(NamedTuple):
    """An event as it is stored, column by column; `payload_bytes` are the very bytes that were hashed."""

    run_id: RunId
    seq: int
    event_id: str
    type: str
    version: int
    agent: str
    generation: int | None
    caused_by: int | None
    recorded_at: int
    """Microseconds since 1970-01-01 UTC, for people; no decision reads it."""
    payload_bytes: bytes
    prev_hash: bytes
    hash: bytes


HeaderValues = tuple[str, int, str, str, int, str, int | None, int | None, int]
"""Values of an `Envelope` up to `recorded_at`: what is hashed beside the payload."""

HEADER_FIELDS = tuple(sorted(Envelope._fields[:9]))
"""The fields of an envelope that are hashed beside the payload, in canonical order."""

StoredEvent = tuple[RunId, int, str, str, int, str, int | None, int | None, int, bytes, bytes, bytes]
"""The values of an `Envelope` as a database gives them; a replay reads millions of these."""


class RecordedEvent(Envelope):
    """An event as it stands in the log, with its payload.

    A tuple, because a database gives tuples: making a dataclass of every row takes longer than its hash.
    """

    @property
    def payload(self) -> Payload:
        """The typed payload, upcast to the current version; decoded once.

        Raises
        ------
        UnknownEventTypeError, PayloadError
            The stored bytes are not an event of a known type.
        """
        fields = self.__dict__  # without the lock of ``cached_property``, which costs more than the look-up
        decoded: Payload | None = fields.get("_decoded")
        if decoded is None:
            decoded = fields["_decoded"] = decode_payload(self.type, self.version, self.payload_bytes)
        return decoded

    def header_bytes(self) -> bytes:
        """Return the canonical bytes of everything but the payload and the two hashes.

        Raises
        ------
        CanonicalEncodingError
            A value has no form in JSON, or a number does not fit in 64 bits.
        """
        return dump_header(*self[:9])


def header_bytes(*values: *HeaderValues) -> bytes:
    """Return the canonical bytes of an envelope without payload and hashes, after checking its values.

    Raises
    ------
    CanonicalEncodingError
        A value is not of its type, or a number does not fit in 64 bits.
    """
    _, seq, _, _, version, _, generation, caused_by, recorded_at = values
    check_numbers(generation, caused_by)
    for name, number in (("seq", seq), ("version", version), ("recorded_at", recorded_at)):
        _refuse_unless_whole(name, number)
    return dump_header(*values)


def dump_header(*values: *HeaderValues) -> bytes:
    """Return the same for values that were checked before, or whose hash will be compared. Raises as
    `RecordedEvent.header_bytes`."""
    run_id, seq, event_id, type_name, version, agent, generation, caused_by, recorded_at = values
    return dump_line(
        {
            "agent": agent,
            "caused_by": caused_by,
            "event_id": event_id,
            "generation": generation,
            "recorded_at": recorded_at,
            "run_id": run_id,
            "seq": seq,
            "type": type_name,
            "version": version,
        }
    )[:-1]


def dump_line(header: dict[str, object]) -> bytes:
    """Return the canonical bytes of an envelope, whose names stand in canonical order in `header`, and a line
    feed: what is hashed before the payload.

    Raises
    ------
    CanonicalEncodingError
        As `RecordedEvent.header_bytes`.
    """
    try:
        return orjson.dumps(header, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        raise CanonicalEncodingError("event", str(error)) from error


def check_numbers(generation: int | None, caused_by: int | None) -> None:
    """Refuse what cannot stand in an envelope. Raises CanonicalEncodingError."""
    for number in (generation, caused_by):  # without a call each: every append comes here
        if number is not None and not (type(number) is int and -(2**63) <= number < 2**63):
            _refuse_unless_whole("generation" if number is generation else "caused_by", number)


def _refuse_unless_whole(name: str, number: object) -> None:
    if type(number) is not int:
        raise CanonicalEncodingError(f"event.{name}", f"{number!r} is not a whole number")
    if not fits_64_bits(number):
        raise CanonicalEncodingError(f"event.{name}", f"{number} does not fit in 64 bits")


GENESIS_HASH = bytes(32)


def link_hash(prev_hash: bytes, header: bytes, payload: bytes) -> bytes:
    """Return the hash of an event given the hash before it, 32 bytes."""
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
        linked.update(dump_line(header))
        linked.update(payload)
        link = linked.digest()
        if link != stored or link_before != prev_hash or event[1] != seq:
            verify_link(RecordedEvent._make(event), seq, prev_hash)
        prev_hash = link
    return seq, prev_hash
