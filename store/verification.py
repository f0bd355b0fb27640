"""Checks that events read from anywhere form one unbroken chain."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

from dga2d.events import GENESIS_HASH, ChainError, RecordedEvent, verify_link
from dga2d.store.contract import Head
from dga2d.store.errors import CorruptEventError


async def verified(
    events: AsyncIterable[RecordedEvent], start: Head = Head(0, GENESIS_HASH)
) -> AsyncIterator[RecordedEvent]:
    """Pass `events` on, each after its number, link and hash were checked.

    Parameters
    ----------
    start
        Head of the part that was checked before; the beginning of the log by default.

    Raises
    ------
    CorruptEventError
        Names the first event that is missing, altered, repeated or out of order. That the end of a log was
        cut off shows only against a head that was kept elsewhere.
    """
    seq, prev_hash = start
    async for event in events:
        seq += 1
        try:
            verify_link(event, seq, prev_hash)
        except ChainError as error:
            raise CorruptEventError(event.run_id, seq, error.reason) from error
        prev_hash = event.hash
        yield event
