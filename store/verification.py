"""Checks that events read from anywhere form one unbroken chain."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

from dga2d.events import CanonicalEncodingError, ChainError, RecordedEvent, verify_link
from dga2d.store.contract import EMPTY_LOG, Head
from dga2d.store.errors import CorruptEventError


async def verified(
    events: AsyncIterable[RecordedEvent], start: Head = EMPTY_LOG
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
        except (CanonicalEncodingError, TypeError) as error:  # a column holds a value of another type
            raise CorruptEventError(event.run_id, seq, f"holds a value of a wrong type ({error})") from error
        prev_hash = event.hash
        yield event
