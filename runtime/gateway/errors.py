"""How an attempt at an endpoint fails. What agents see of it is in ``dga2d.agents.proposing``.

Dga2dError
└── GatewayError
    ├── AttemptRefusedError   not taken, not charged: the same call is tried again
    └── EndpointStatusError   taken and answered with a status that is no success
"""

from __future__ import annotations

from dga2d.events import Dga2dError


class GatewayError(Dga2dError):
    """Root of the gateway's errors."""


class AttemptRefusedError(GatewayError):
    """The endpoint did not take a request; `retry_after_s` is what it asks to wait, if it does."""

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
