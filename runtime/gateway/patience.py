"""The one retry layer, and the breaker that lets calls wait while an endpoint is down.

Nothing above or below repeats anything. Attempts that were refused are repeated with growing waits, on the
reservation the call already has, until they are taken or the outage limit has passed. Lost calls are not
repeated; after a few in a row the breaker opens, and the next call is reserved only when the endpoint answers
a free probe, one call at a time, until one succeeds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_before_delay

from dga2d.agents.proposing import ModelUnavailableError
from dga2d.runtime.gateway.errors import AttemptRefusedError
from dga2d.runtime.gateway.outages import OutageListener

Result = TypeVar("Result")


@dataclass(frozen=True)
class Patience:
    """How long to wait for what; seconds."""

    outage_limit_s: float
    """Longest outage; after it the run is paused."""
    first_wait_s: float = 1.0
    """After the first refused attempt; doubled after each further one."""
    longest_wait_s: float = 300.0
    """Between two attempts or probes, unless the endpoint asks for more."""
    announced_after: int = 4
    """Refused attempts in a row until calls count as suspended."""
    losses: int = 3
    """Lost calls in a row until calls count as suspended."""
    first_pause_s: float = 15.0
    """Before the first call after that; doubled after each further loss."""
    longest_pause_s: float = 3600.0
    """Before a call while calls get lost."""


class Taken(NamedTuple):
    """How often a call was refused before it was taken."""

    refused_attempts: int


class Breaker:
    """Counts what goes wrong at one endpoint and makes callers wait."""

    def __init__(
        self, patience: Patience, probe: Callable[[], Awaitable[bool]], listener: OutageListener
    ) -> None:
        self._patience = patience
        self._probe = probe
        self._listener = listener
        self._losses = 0
        self._reason = ""
        self._broken_since = 0.0
        self._gate = anyio.Lock()

    async def ready(self) -> None:
        """Return when a call has a chance.

        Raises
        ------
        ModelUnavailableError
            The endpoint was down for the whole outage limit.
        """
        if self._losses < self._patience.losses:
            return
        async with self._gate:
            if self._losses < self._patience.losses:
                return
            await self._listener.suspended(self._reason)
            end = self._broken_since + self._patience.outage_limit_s
            with anyio.move_on_after(max(end - anyio.current_time(), 0.0)):
                await self._wait_for_probe()
                return
            raise self._given_up(self._reason)

    async def _wait_for_probe(self) -> None:
        excess = min(self._losses - self._patience.losses, 32)
        wait_s = min(self._patience.first_pause_s * 2.0**excess, self._patience.longest_pause_s)
        while True:
            await anyio.sleep(wait_s)
            if await self._probe():
                return
            wait_s = min(2 * wait_s, max(wait_s, self._patience.longest_wait_s))

    async def taken(self, attempt: Callable[[], Awaitable[Result]]) -> tuple[Result, Taken]:
        """Repeat `attempt` until it is not refused, and return its result.

        Raises
        ------
        ModelUnavailableError
            It was refused for the whole outage limit.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(AttemptRefusedError),
            wait=self._wait_s,
            stop=stop_before_delay(self._patience.outage_limit_s),
            before_sleep=self._announce,
            sleep=anyio.sleep,
            reraise=True,
        )
        refused = -1

        async def counted() -> Result:
            nonlocal refused
            refused += 1
            return await attempt()

        try:
            result: Result = await retrying(counted)
        except AttemptRefusedError as error:
            raise self._given_up(error.reason) from None
        return result, Taken(refused)

    async def worked(self) -> None:
        """A call was answered."""
        self._losses = 0
        await self._listener.resumed()

    def lost(self, reason: str) -> None:
        """A call was lost."""
        self._losses += 1
        self._reason = reason
        if self._losses == self._patience.losses:
            self._broken_since = anyio.current_time()

    def _wait_s(self, attempts: RetryCallState) -> float:
        growing = self._patience.first_wait_s * 2.0 ** min(attempts.attempt_number - 1, 32)
        return max(min(growing, self._patience.longest_wait_s), _refusal(attempts).retry_after_s or 0.0)

    async def _announce(self, attempts: RetryCallState) -> None:
        if attempts.attempt_number >= self._patience.announced_after:
            await self._listener.suspended(_refusal(attempts).reason)

    def _given_up(self, reason: str) -> ModelUnavailableError:
        limit = self._patience.outage_limit_s
        return ModelUnavailableError(f"the model's endpoint did not work for {limit:g} s: {reason}")


def _refusal(attempts: RetryCallState) -> AttemptRefusedError:
    error = None if attempts.outcome is None else attempts.outcome.exception()
    assert isinstance(error, AttemptRefusedError)
    return error
