"""What surrounds a payload: who wrote it, when, because of what, and its place in the chain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dga2d.events.codec import canonical_bytes, decode_payload
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


@dataclass(frozen=True)
class RecordedEvent:
    """An event as it stands in the log; `payload_bytes` are the very bytes that were hashed."""

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

    @cached_property
    def payload(self) -> Payload:
        """The typed payload, upcast to the current version.

        Raises
        ------
        UnknownEventTypeError, PayloadError
            The stored bytes are not an event of a known type.
        """
        return decode_payload(self.type, self.version, self.payload_bytes)

    def header_bytes(self) -> bytes:
        """Canonical bytes of everything but the payload and the two hashes."""
        return header_bytes(
            self.run_id,
            self.seq,
            self.event_id,
            self.type,
            self.version,
            self.agent,
            self.generation,
            self.caused_by,
            self.recorded_at,
        )


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
    """Canonical bytes of an envelope without payload and hashes."""
    return canonical_bytes(
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
    )
