"""What surrounds a payload: who wrote it, when, because of what, and its place in the chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import orjson

from dga2d.events.codec import decode_payload, fits_64_bits
from dga2d.events.errors import CanonicalEncodingError
from dga2d.events.ids import RunId
from dga2d.events.ownership import AgentName
from dga2d.events.payloads import Payload


@dataclass(frozen=True)
class Draft:
    """An event that an agent asks the log to append."""

    agent: AgentName
    payload: Payload
    generation: int | None = None
    caused_by: int | None = None
    """Sequence number of the event this one answers; ``None`` only for what a person asked for."""


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


HEADER_FIELDS = tuple(sorted(Envelope._fields[:9]))
"""What is hashed of an envelope besides its payload, in canonical order."""

StoredEvent = tuple[RunId, int, str, str, int, str, int | None, int | None, int, bytes, bytes, bytes]
"""The values of an `Envelope`, as a database gives them: what a replay goes through by the million."""


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
        """Canonical bytes of everything but the payload and the two hashes.

        Raises
        ------
        CanonicalEncodingError
            A value has no form in JSON, or a number does not fit in 64 bits.
        """
        return dumped_header(*self[:9])


def header_bytes(
    run_id: str,
    seq: int,
    event_id: str,
    type_name: str,
    version: int,
    agent: str,
    generation: int | None,
    caused_by: int | None,
    recorded_at: int,
) -> bytes:
    """Canonical bytes of an envelope without payload and hashes.

    Raises
    ------
    CanonicalEncodingError
        A value is not of its type, or a number does not fit in 64 bits.
    """
    check_numbers(generation, caused_by)
    _refuse_unless_whole("seq", seq)
    _refuse_unless_whole("version", version)
    _refuse_unless_whole("recorded_at", recorded_at)
    return dumped_header(run_id, seq, event_id, type_name, version, agent, generation, caused_by, recorded_at)


def dumped_header(
    run_id: str,
    seq: int,
    event_id: str,
    type_name: str,
    version: int,
    agent: str,
    generation: int | None,
    caused_by: int | None,
    recorded_at: int,
) -> bytes:
    """The same of values that were checked before, or that a hash will tell from others.

    Raises
    ------
    CanonicalEncodingError
        As `RecordedEvent.header_bytes`.
    """
    return dumped_line(
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


def dumped_line(header: dict[str, object]) -> bytes:
    """The same of values by their names, which stand in canonical order; with a line feed behind it, as it is
    hashed.

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
    if generation is not None:
        _refuse_unless_whole("generation", generation)
    if caused_by is not None:
        _refuse_unless_whole("caused_by", caused_by)


def _refuse_unless_whole(name: str, number: object) -> None:
    if type(number) is not int:
        raise CanonicalEncodingError(f"event.{name}", f"{number!r} is not a whole number")
    if not fits_64_bits(number):
        raise CanonicalEncodingError(f"event.{name}", f"{number} does not fit in 64 bits")
