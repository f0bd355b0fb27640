"""Any single change to a chain of events is found."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dga2d.events import (
    GENESIS_HASH,
    CanonicalEncodingError,
    ChainError,
    RecordedEvent,
    RunId,
    canonical_bytes,
    link_hash,
    verify_link,
)
from dga2d.events._envelope import header_bytes

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
optional_number = st.none() | st.integers(0, 2**40)


def chained(payloads: Sequence[bytes], run_id: str = "r") -> list[RecordedEvent]:
    events: list[RecordedEvent] = []
    link = GENESIS_HASH
    for seq, payload in enumerate(payloads, 1):
        rest = (seq, f"id-{seq}", "RunPaused", 1, "conductor", seq % 3 or None, seq - 1 or None, 10**15)
        link_before, link = link, link_hash(link, header_bytes(run_id, *rest), payload)
        events.append(RecordedEvent(RunId(run_id), *rest, payload, link_before, link))
    return events


def check(events: Sequence[RecordedEvent]) -> None:
    link = GENESIS_HASH
    for seq, event in enumerate(events, 1):
        verify_link(event, seq, link)
        link = event.hash


def changed(event: RecordedEvent, fields: dict[str, Any]) -> RecordedEvent:
    return event._replace(**fields)


CHAIN = chained([b'{"reason":"%d"}' % i for i in range(8)])


def test_an_untouched_chain_is_accepted() -> None:
    check(CHAIN)
    check([])


def test_the_hash_is_sha256_over_link_header_newline_payload() -> None:
    event = CHAIN[3]
    header = (
        b'{"agent":"conductor","caused_by":3,"event_id":"id-4","generation":1,"recorded_at":1000000000000000,'
        b'"run_id":"r","seq":4,"type":"RunPaused","version":1}'
    )
    assert event.header_bytes() == header
    assert event.hash == hashlib.sha256(CHAIN[2].hash + header + b"\n" + event.payload_bytes).digest()


@given(
    st.fixed_dictionaries(
        {
            "run_id": text,
            "seq": st.integers(1, 2**63 - 1),
            "event_id": text,
            "type": text,
            "version": st.integers(1, 99),
            "agent": text,
            "generation": optional_number,
            "caused_by": optional_number,
            "recorded_at": st.integers(0, 2**60),
        }
    )
)
def test_header_bytes_are_canonical(fields: dict[str, Any]) -> None:
    data = header_bytes(*[fields[name] for name in RecordedEvent._fields[:9]])
    assert data == canonical_bytes(orjson.loads(data))
    assert orjson.loads(data) == fields


@pytest.mark.parametrize(
    "change", [{"agent": b"x"}, {"seq": 2**63}, {"generation": 1.0j}, {"run_id": "\ud800"}, {"seq": "1"}]
)
def test_headers_of_other_types_are_refused_or_hash_differently(change: dict[str, Any]) -> None:
    event = changed(CHAIN[0], change)
    with pytest.raises((CanonicalEncodingError, ChainError)):
        verify_link(event, event.seq, GENESIS_HASH)


@given(st.integers(0, 7), st.data())
def test_a_flipped_bit_is_found(index: int, data: st.DataObject) -> None:
    event = CHAIN[index]
    field = data.draw(st.sampled_from(["payload_bytes", "prev_hash", "hash"]))
    value = bytearray(getattr(event, field))
    position = data.draw(st.integers(0, len(value) - 1))
    value[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(ChainError) as caught:
        check([*CHAIN[:index], changed(event, {field: bytes(value)}), *CHAIN[index + 1 :]])
    assert caught.value.seq == index + 1


@given(
    st.integers(0, 7),
    st.sampled_from(
        ["run_id", "seq", "event_id", "type", "version", "agent", "generation", "caused_by", "recorded_at"]
    ),
    st.integers(2, 2**40),
)
def test_a_changed_envelope_is_found(index: int, field: str, number: int) -> None:
    event = CHAIN[index]
    old = getattr(event, field)
    new = f"{old}{number}" if isinstance(old, str) else (old or 0) + number
    with pytest.raises(ChainError) as caught:
        check([*CHAIN[:index], changed(event, {field: new}), *CHAIN[index + 1 :]])
    assert caught.value.seq == index + 1


@given(st.integers(0, 7), st.integers(0, 7))
def test_reordered_deleted_and_repeated_events_are_found(first: int, second: int) -> None:
    events = list(CHAIN)
    events[first], events[second] = events[second], events[first]
    if first != second:
        with pytest.raises(ChainError) as caught:
            check(events)
        assert caught.value.seq == min(first, second) + 1
    repeated = [*CHAIN[: first + 1], *CHAIN[first:]]
    with pytest.raises(ChainError):
        check(repeated)
    if first < 7:
        with pytest.raises(ChainError) as caught:
            check([*CHAIN[:first], *CHAIN[first + 1 :]])
        assert caught.value.seq == first + 1


def test_an_event_of_another_log_is_found() -> None:
    other = chained([event.payload_bytes for event in CHAIN], "other")
    with pytest.raises(ChainError):
        check([*CHAIN[:4], *other[4:]])
