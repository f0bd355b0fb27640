"""The rows that events bring with them: themselves, the calls they reserve and what these use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dga2d.events import RecordedEvent
from dga2d.store import _statements
from dga2d.store._draft import EncodedDraft, Row, event_row

Insertion = tuple[str, Sequence[Sequence[Any]]]
"""A statement and its rows."""


def insertions(
    pairs: Sequence[tuple[EncodedDraft, RecordedEvent]], blobs: Sequence[Row], quotas: Mapping[str, int]
) -> list[Insertion]:
    """All rows of some events, in the order in which the database wants them.

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
        statement.of(many)
        for statement, many in (
            (_statements.insert_blobs, blobs),
            (_statements.insert_events, rows),
            (_statements.insert_reservations, claims),
            # One batch may settle calls and reserve others; what was given back counts for the latter.
            (_statements.insert_settlements, settlements),
            (_statements.insert_charges, charges),
        )
        if many
    ]
