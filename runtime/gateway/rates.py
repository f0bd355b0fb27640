"""Limits on how fast an endpoint is asked: requests and tokens in any minute, requests at a time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

WINDOW_S = 60.0


class RateLimiter:
    """Lets attempts through in the order of their coming.

    A single attempt larger than the tokens of a minute is let through alone, with an empty minute before it.
    """

    def __init__(
        self,
        requests: int | None,
        tokens: int | None,
        concurrent: int,
        clock: Callable[[], float] = time.monotonic,
        window_s: float = WINDOW_S,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._places = anyio.Semaphore(concurrent)
        self._clock = clock
        self._window_s = window_s
        self._order = anyio.Lock()
        self._recent: deque[tuple[float, int]] = deque()

    @asynccontextmanager
    async def place(self, tokens: int) -> AsyncIterator[None]:
        """A place for one attempt that may use `tokens`; kept until the block ends."""
        async with self._places:
            async with self._order:
                while (wait_s := self._wait_s(tokens)) > 0.0:
                    await anyio.sleep(wait_s)
                self._recent.append((self._clock(), tokens))
            yield

    def _wait_s(self, tokens: int) -> float:
        """Seconds until the oldest attempt that is in the way leaves the window; 0 when none is."""
        now = self._clock()
        while self._recent and self._recent[0][0] <= now - self._window_s:
            self._recent.popleft()
        if not self._recent:
            return 0.0
        is_full = self._requests is not None and len(self._recent) >= self._requests
        used = sum(spent for _, spent in self._recent)
        if is_full or (self._tokens is not None and used + tokens > self._tokens):
            return max(self._recent[0][0] + self._window_s - now, 0.001)
        return 0.0
