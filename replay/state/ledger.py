"""The ledger of language-model calls: reserved before they are sent, settled or abandoned after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from immutables import Map

from dga2d.events import BlobDigest
from dga2d.events.payloads import CallPurpose, LimitKind, microusd

CallStatus = Literal["reserved", "settled", "abandoned"]


@dataclass(frozen=True)
class Call:
    """One call, from its reservation to the verdict on its answer."""

    number: int
    purpose: CallPurpose
    agent: str
    generation: int | None
    subject: str
    attempt: int
    model: str
    reserved_seq: int
    prompt: BlobDigest
    reserved_tokens: int = 0
    """Most tokens it could use."""
    reserved_microusd: int = 0
    """Most it could cost, in millionths of a US dollar."""
    status: CallStatus = "reserved"
    ended_seq: int | None = None
    response: BlobDigest | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_estimated: bool = False
    """The provider did not report its token counts, or reported impossible ones."""
    cost_usd: float = 0.0
    elapsed_s: float | None = None
    """From reservation to answer; ``None`` while there is none."""
    refused_attempts: int = 0
    response_id: str | None = None
    reason: str | None = None
    """Why it was abandoned."""
    verdict: Literal["accepted", "rejected"] | None = None
    """The asking agent's verdict on the answer; ``None`` until there is one."""
    judged_seq: int | None = None
    diagnostic: str | None = None
    """Why the answer was rejected."""

    @property
    def charged_tokens(self) -> int:
        """What counts against the limit: what was used or, while that is unknown, all that was reserved."""
        return (
            self.prompt_tokens + self.completion_tokens if self.status == "settled" else self.reserved_tokens
        )

    @property
    def charged_microusd(self) -> int:
        """What counts against the limit, in millionths of a US dollar."""
        return microusd(self.cost_usd) if self.status == "settled" else self.reserved_microusd


@dataclass(frozen=True)
class RefusedCall:
    """A reservation that the store did not take."""

    seq: int
    purpose: CallPurpose
    agent: str
    generation: int | None
    subject: str
    attempt: int
    limit: LimitKind
    reason: str


@dataclass(frozen=True)
class Ledger:
    """All calls of a run by number, with totals."""

    limit: int = 0
    token_limit: int | None = None
    """Most tokens; ``None`` for no limit."""
    microusd_limit: int | None = None
    """Most money in millionths of a US dollar; ``None`` for no limit."""
    calls: Map[int, Call] = Map()
    by_subject: Map[str, tuple[int, ...]] = Map()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    charged_tokens: int = 0
    """Counted against the limit: used by settled calls, reserved for all others."""
    charged_microusd: int = 0
    refusals: Map[str, RefusedCall] = Map()
    """Subject → the reservation for it that was not taken."""

    @property
    def used(self) -> int:
        """Number of calls charged so far, answered or not."""
        return len(self.calls)

    @property
    def left(self) -> int:
        return self.limit - self.used

    @property
    def spent_reason(self) -> str | None:
        """Why no further call can be made; ``None`` while one can."""
        if self.left <= 0:
            return f"all {self.limit} model calls spent"
        if self.refusals:
            return min(self.refusals.values(), key=lambda refused: refused.seq).reason
        return None

    def calls_for(self, subject: str) -> tuple[Call, ...]:
        """Return the calls made for one edit, in order."""
        return tuple(self.calls[number] for number in self.by_subject.get(subject, ()))

    def reserve(self, call: Call) -> Ledger:
        """Return the ledger after a reservation."""
        numbers = self.by_subject.get(call.subject, ())
        return replace(
            self,
            calls=self.calls.set(call.number, call),
            by_subject=self.by_subject.set(call.subject, (*numbers, call.number)),
            charged_tokens=self.charged_tokens + call.charged_tokens,
            charged_microusd=self.charged_microusd + call.charged_microusd,
        )

    def end(self, call: Call) -> Ledger:
        """Return the ledger after a call was settled or abandoned."""
        return replace(
            self,
            calls=self.calls.set(call.number, call),
            prompt_tokens=self.prompt_tokens + call.prompt_tokens,
            completion_tokens=self.completion_tokens + call.completion_tokens,
            cost_usd=self.cost_usd + call.cost_usd,
            charged_tokens=self.charged_tokens + call.charged_tokens - call.reserved_tokens,
            charged_microusd=self.charged_microusd + call.charged_microusd - call.reserved_microusd,
        )

    def refuse(self, refused: RefusedCall) -> Ledger:
        """Return the ledger after the store did not take a reservation."""
        return replace(self, refusals=self.refusals.set(refused.subject, refused))

    def judge(
        self, number: int, seq: int, verdict: Literal["accepted", "rejected"], diagnostic: str | None = None
    ) -> Ledger:
        """Return the ledger after event `seq`, with which the asking agent judged an answer."""
        call = replace(self.calls[number], verdict=verdict, judged_seq=seq, diagnostic=diagnostic)
        return replace(self, calls=self.calls.set(number, call))
