"""Events stored by any released version are read for ever, and today's bytes are those of yesterday."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from dga2d.events import GENESIS_HASH, PAYLOAD_TYPES, RecordedEvent, RunId, encode_payload, verify_link

LINES = [
    orjson.loads(line)
    for line in (Path(__file__).parent / "golden" / "events.jsonl").read_bytes().splitlines()
]


def test_every_type_in_its_current_version_has_a_sample() -> None:
    """If this fails for a new type or version: run ``tests/events/golden/record.py``."""
    recorded = {(line["type"], line["version"]) for line in LINES}
    assert {(name, model.version) for name, model in PAYLOAD_TYPES.items()} <= recorded
    assert len(recorded) == len(LINES)


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['type']}@{line['version']}")
def test_a_stored_event_is_read_and_written_back_unchanged(line: dict[str, Any]) -> None:
    data = line["payload"].encode()
    event = RecordedEvent(
        run_id=RunId(line["run_id"]),
        seq=line["seq"],
        event_id=line["event_id"],
        type=line["type"],
        version=line["version"],
        agent=line["agent"],
        generation=line["generation"],
        caused_by=line["caused_by"],
        recorded_at=line["recorded_at"],
        payload_bytes=data,
        prev_hash=GENESIS_HASH,
        hash=bytes.fromhex(line["hash"]),
    )
    verify_link(event, 1, GENESIS_HASH)
    assert type(event.payload) is PAYLOAD_TYPES[line["type"]]
    if line["version"] == event.payload.version:
        assert encode_payload(event.payload) == data
