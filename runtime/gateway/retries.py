"""What happens when an endpoint fails, or is asked too fast: the one place where anything is retried.

An attempt that the endpoint refused is repeated with growing waits, on the reservation the call already has,
until it is taken or the outage limit has passed. A lost call is not repeated; after a few in a row the
circuit breaker opens, and the next call is reserved only once the endpoint has answered a free probe, one
call at a time, until one succeeds. What agents see of a failure is in ``dga2d.agents.proposing``.

Dga2dError
└── GatewayError
    ├── AttemptRefusedError   the endpoint did not take the request, which is not charged and can be repeated
    └── EndpointStatusError   it took the request and answered with a status that is no success
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_before_delay

from dga2d.agents.ports import EventAppender
from dga2d.agents.proposing.errors import ModelUnavailableError
from dga2d.events import Dga2dError, Draft
from dga2d.events.payloads import CallsResumed, CallsSuspended
from dga2d.runtime.terminal.diagnostics import logger

Result = TypeVar("Result")
WINDOW_S = 60.0
"""Rates are limited over any window of this length."""


class GatewayError(Dga2dError):
    """Root of the gateway's errors."""


class AttemptRefusedError(GatewayError):
    """The endpoint did not take a request; `retry_after_s` is how long it asks to wait, if it does."""

    def __init__(self, reason: str, retry_after_s: float | None) -> None:
        self.reason = reason
        self.retry_after_s = retry_after_s
        super().__init__(reason)


class EndpointStatusError(GatewayError):
    """The endpoint answered with an HTTP `status` that means neither success nor “later”."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True)
class RetryPolicy:
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
    """Lost calls in a row until the circuit breaker opens."""
    first_pause_s: float = 15.0
    """Before the first call after that; doubled after each further loss."""
    longest_pause_s: float = 3600.0
    """Before a call while calls get lost."""


# ---------------------------------------------------------------- outages


class OutageListener(Protocol):
    """Takes note of outages; a recovery follows only an outage."""

    async def record_outage(self, reason: str) -> None: ...

    async def record_recovery(self) -> None: ...


class OutageRecorder:
    """Records outages as events of the run whose log it is connected to, and as log lines."""

    def __init__(self) -> None:
        self._log: EventAppender | None = None
        self._since: float | None = None

    def connect(self, log: EventAppender) -> None:
        """Append to `log` from now on."""
        self._log = log

    async def record_outage(self, reason: str) -> None:
        """Record that calls wait for the endpoint, once until it works again."""
        if self._since is not None:
            return
        self._since = time.monotonic()
        logger().warning("model calls wait for the endpoint", reason=reason)
        await self._append(CallsSuspended(reason=reason))

    async def record_recovery(self) -> None:
        """Record that the endpoint works again."""
        if self._since is None:
            return
        waited_s, self._since = round(time.monotonic() - self._since, 3), None
        logger().warning("model calls go on", waited_s=waited_s)
        await self._append(CallsResumed(waited_s=waited_s))

    async def _append(self, payload: CallsSuspended | CallsResumed) -> None:
        if self._log is not None:
            await self._log.append([Draft("conductor", payload)])


class CircuitBreaker:
    """Counts what goes wrong at one endpoint and makes callers wait."""

    def __init__(
        self, policy: RetryPolicy, probe: Callable[[], Awaitable[bool]], listener: OutageListener
    ) -> None:
        self._policy = policy
        self._probe = probe
        self._listener = listener
        self._losses = 0
        self._reason = ""
        self._open_since = 0.0
        self._gate = anyio.Lock()

    @property
    def is_open(self) -> bool:
        """Too many calls in a row were lost to make another without a probe."""
        return self._losses >= self._policy.losses

    async def wait_until_callable(self) -> None:
        """Return at once while the breaker is closed, else when the endpoint has answered a probe.

        Raises
        ------
        ModelUnavailableError
            The endpoint was down for the whole outage limit.
        """
        if not self.is_open:
            return
        async with self._gate:
            if not self.is_open:
                return
            await self._listener.record_outage(self._reason)
            end = self._open_since + self._policy.outage_limit_s
            with anyio.move_on_after(max(end - anyio.current_time(), 0.0)):
                await self._wait_for_probe()
                return
            raise self._unavailable(self._reason)

    async def _wait_for_probe(self) -> None:
        excess = min(self._losses - self._policy.losses, 32)
        wait_s = min(self._policy.first_pause_s * 2.0**excess, self._policy.longest_pause_s)
        while True:
            await anyio.sleep(wait_s)
            if await self._probe():
                return
            wait_s = min(2 * wait_s, max(wait_s, self._policy.longest_wait_s))

    async def retry_refused(self, attempt: Callable[[], Awaitable[Result]]) -> tuple[Result, int]:
        """Repeat `attempt` until it is not refused; return its result and how often it was refused.

        Raises
        ------
        ModelUnavailableError
            It was refused for the whole outage limit.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(AttemptRefusedError),
            wait=self._wait_s,
            stop=stop_before_delay(self._policy.outage_limit_s),
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
            raise self._unavailable(error.reason) from None
        return result, refused

    async def record_success(self) -> None:
        """Close the breaker: a call was answered."""
        self._losses = 0
        await self._listener.record_recovery()

    def record_failure(self, reason: str) -> None:
        """Count a lost call."""
        self._losses += 1
        self._reason = reason
        if self._losses == self._policy.losses:
            self._open_since = anyio.current_time()

    def _wait_s(self, attempts: RetryCallState) -> float:
        growing = self._policy.first_wait_s * 2.0 ** min(attempts.attempt_number - 1, 32)
        return max(min(growing, self._policy.longest_wait_s), _refusal(attempts).retry_after_s or 0.0)

    async def _announce(self, attempts: RetryCallState) -> None:
        if attempts.attempt_number >= self._policy.announced_after:
            await self._listener.record_outage(_refusal(attempts).reason)

    def _unavailable(self, reason: str) -> ModelUnavailableError:
        limit = self._policy.outage_limit_s
        return ModelUnavailableError(f"the model's endpoint did not work for {limit:g} s: {reason}")


def _refusal(attempts: RetryCallState) -> AttemptRefusedError:
    error = None if attempts.outcome is None else attempts.outcome.exception()
    assert isinstance(error, AttemptRefusedError)
    return error


# ---------------------------------------------------------------- rates


class RateLimiter:
    """Lets attempts through in the order in which they come: requests and tokens per window, and at a time.

    A single attempt larger than the tokens of a window goes through alone, with an empty window before it.
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
        self._slots = anyio.Semaphore(concurrent)
        self._clock = clock
        self._window_s = window_s
        self._order = anyio.Lock()
        self._recent: deque[tuple[float, int]] = deque()

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        """Hold a slot for one attempt that may use `tokens` for the length of the block."""
        async with self._slots:
            async with self._order:
                while (wait_s := self._wait_s(tokens)) > 0.0:
                    await anyio.sleep(wait_s)
                self._recent.append((self._clock(), tokens))
            yield

    def _wait_s(self, tokens: int) -> float:
        """Return the seconds until the oldest attempt in the way leaves the window; 0 when none is."""
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
