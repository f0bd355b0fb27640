"""Rows of events: from a draft to a stamped, linked event and its rows."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, cast

from dga2d.events import AgentName, Draft, RecordedEvent, RunId, blob_digest, check_owner, encode_payload
from dga2d.events._envelope import HEADER_FIELDS, check_numbers, dump_line
from dga2d.events.payloads import LLMCallReserved, LLMCallSettled
from dga2d.store import _statements
from dga2d.store._contract import LLM_CALLS, LLM_MICROUSD, LLM_TOKENS, Head
from dga2d.store._statements import Insertion, SqlRow


class Amount(NamedTuple):
    """An amount of one kind for one call."""

    kind: str
    number: int
    amount: int


class EncodedDraft(NamedTuple):
    """A checked draft in canonical bytes; only its place in the log is missing."""

    draft: Draft
    type: str
    payload_bytes: bytes
    operation: str | None
    reservation: tuple[str, int] | None
    """Kind and number claimed."""
    charges: tuple[Amount, ...] = ()
    """The most the call may use."""
    settlements: tuple[Amount, ...] = ()
    """What the call did use."""


def encode(draft: Draft) -> EncodedDraft:
    """Check and encode a draft. Raises OwnershipError, UnknownEventTypeError, CanonicalEncodingError."""
    payload = draft.payload
    type_name = type(payload).__name__
    check_owner(draft.agent, type_name)
    check_numbers(draft.generation, draft.caused_by)
    return _with_amounts(EncodedDraft(draft, type_name, encode_payload(payload), payload.operation(), None))


def encode_recorded(event: RecordedEvent) -> EncodedDraft:
    """Return the draft that became `event`. Raises OwnershipError, UnknownEventTypeError, PayloadError."""
    check_owner(event.agent, event.type)
    draft = Draft(cast("AgentName", event.agent), event.payload, event.generation, event.caused_by)
    return _with_amounts(
        EncodedDraft(draft, event.type, event.payload_bytes, event.payload.operation(), None)
    )


def _with_amounts(encoded: EncodedDraft) -> EncodedDraft:
    """Add what a draft reserves and settles."""
    if encoded.type not in _TYPES_WITH_AMOUNTS:
        return encoded
    payload = encoded.draft.payload
    if isinstance(payload, LLMCallReserved):
        charges = _amounts(payload.call, payload.reserved_tokens, payload.reserved_microusd)
        return encoded._replace(reservation=(LLM_CALLS, payload.call), charges=charges)
    if isinstance(payload, LLMCallSettled):
        return encoded._replace(settlements=_amounts(payload.call, payload.tokens, payload.microusd))
    return encoded


_TYPES_WITH_AMOUNTS = frozenset({LLMCallReserved.__name__, LLMCallSettled.__name__})


def _amounts(call: int, tokens: int, microusd: int) -> tuple[Amount, ...]:
    return Amount(LLM_TOKENS, call, tokens), Amount(LLM_MICROUSD, call, microusd)


def blob_rows(many: Iterable[bytes]) -> list[SqlRow]:
    """Return rows of the table of blobs."""
    return [(blob_digest(data), data, len(data)) for data in many]


def stamp(encoded: Sequence[EncodedDraft], run_id: RunId, head: Head, now: int) -> list[RecordedEvent]:
    """Return events that continue the log behind `head`, recorded at `now` (µs since 1970 UTC)."""
    seq, prev_hash = head
    header = dict[str, object].fromkeys(HEADER_FIELDS)  # one for all events: a new one each takes longer
    header["run_id"], header["recorded_at"] = run_id, now
    events = []
    for (draft, type_name, payload_bytes, *_), event_id in zip(encoded, _event_ids(now), strict=False):
        seq += 1
        agent, generation, caused_by, version = (
            draft.agent,
            draft.generation,
            draft.caused_by,
            draft.payload.version,
        )
        header["seq"] = seq
        header["event_id"] = event_id
        header["type"] = type_name
        header["version"] = version
        header["agent"] = agent
        header["generation"] = generation  # numbers: checked in `encode`
        header["caused_by"] = caused_by
        link = sha256(prev_hash + dump_line(header) + payload_bytes).digest()
        events.append(
            RecordedEvent._make(
                (
                    run_id,
                    seq,
                    event_id,
                    type_name,
                    version,
                    agent,
                    generation,
                    caused_by,
                    now,
                    payload_bytes,
                    prev_hash,
                    link,
                )
            )
        )
        prev_hash = link
    return events


def _event_ids(now: int) -> Iterator[str]:
    """Yield UUIDs of version 7 (RFC 9562): time in milliseconds, so that their index grows at its end, and 73
    random bits, the last 47 counted up from the first."""
    milliseconds = f"{now // 1000 & (2**48 - 1):012x}"
    variant = 1 << 15 | secrets.randbits(14)
    start = f"{milliseconds[:8]}-{milliseconds[8:]}-7{secrets.randbits(12):03x}-{variant:04x}-"
    for number in itertools.count(secrets.randbits(47)):  # of 48 bits: room to count
        yield f"{start}{number:012x}"


def event_row(event: RecordedEvent, operation: str | None) -> SqlRow:
    """Return the row of an event."""
    return (*event[:9], operation, *event[9:])


def insertions(
    pairs: Sequence[tuple[EncodedDraft, RecordedEvent]], blobs: Sequence[SqlRow], quotas: Mapping[str, int]
) -> list[Insertion]:
    """Return all rows that some events bring, in the order in which the database wants them.

    `quotas` are the amounts the events' run was granted, by kind.
    """
    rows = [event_row(event, encoded.operation) for encoded, event in pairs]
    pairs = [pair for pair in pairs if pair[0].reservation is not None or pair[0].settlements]
    claims = [
        (event.run_id, kind, number, quotas.get(kind, 0), event.seq)
        for encoded, event in pairs
        if encoded.reservation is not None
        for kind, number in [encoded.reservation]
    ]
    charges = [
        (event.run_id, kind, number, amount, quotas.get(kind), event.seq)
        for encoded, event in pairs
        for kind, number, amount in encoded.charges
    ]
    settlements = [
        (event.run_id, *amount, event.seq) for encoded, event in pairs for amount in encoded.settlements
    ]
    return [
        (insertion, many)
        for insertion, many in (
            (_statements.insert_blobs, blobs),
            (_statements.insert_events, rows),
            (_statements.insert_reservations, claims),
            # One batch may settle calls and reserve others; what was given back counts for the latter.
            (_statements.insert_settlements, settlements),
            (_statements.insert_charges, charges),
        )
        if many
    ]
