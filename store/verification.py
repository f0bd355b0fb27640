"""Checks that events read from anywhere form one unbroken chain."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence

from dga2d.events import CanonicalEncodingError, ChainError, RecordedEvent, StoredEvent, verify_links
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
    head = start
    async for event in events:
        head = check_page([event], head)
        yield event


def check_page(page: Sequence[StoredEvent], start: Head) -> Head:
    """Check the events that follow `start`; returns the head after them. Raises CorruptEventError."""
    try:
        return Head(*verify_links(page, *start))
    except ChainError as error:
        raise CorruptEventError(error.run_id, error.seq, error.reason) from error
    except (CanonicalEncodingError, TypeError) as error:  # a column holds a value of another type
        if len(page) > 1:  # find the first one
            for event in page:
                start = check_page([event], start)
        run_id, seq = page[0][0], start.seq + 1
        raise CorruptEventError(run_id, seq, f"holds a value of a wrong type ({error})") from error
