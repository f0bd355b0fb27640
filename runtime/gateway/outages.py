"""Who is told that an endpoint is down or back: the log, and whoever reads the diagnostics."""

from __future__ import annotations

import time
from typing import Protocol

from dga2d.agents.ports import EventAppender
from dga2d.events import Draft
from dga2d.events.payloads import CallsResumed, CallsSuspended
from dga2d.runtime.diagnostics import logger


class OutageListener(Protocol):
    """Hears of outages; `resumed` follows a `suspended`, or nothing does."""

    async def suspended(self, reason: str) -> None: ...

    async def resumed(self) -> None: ...


class OutageBoard:
    """Records outages as events of the run whose log it is connected to; before that it only keeps them."""

    def __init__(self) -> None:
        self._log: EventAppender | None = None
        self._since: float | None = None

    def connect(self, log: EventAppender) -> None:
        """Write to `log` from now on."""
        self._log = log

    async def suspended(self, reason: str) -> None:
        """The endpoint does not work; said once until it does again."""
        if self._since is not None:
            return
        self._since = time.monotonic()
        logger().warning("model calls wait for the endpoint", reason=reason)
        await self._append(CallsSuspended(reason=reason))

    async def resumed(self) -> None:
        """The endpoint works again."""
        if self._since is None:
            return
        waited_s, self._since = round(time.monotonic() - self._since, 3), None
        logger().warning("model calls go on", waited_s=waited_s)
        await self._append(CallsResumed(waited_s=waited_s))

    async def _append(self, payload: CallsSuspended | CallsResumed) -> None:
        if self._log is not None:
            await self._log.append([Draft("conductor", payload)])
